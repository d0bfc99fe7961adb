"""A client of the HTTP API, as the command line uses it.

Knows addresses, keys and errors, and no terminal. Every way in which a call can fail becomes one
`ApiError` whose text a person understands and can act on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import aiohttp

from agent_core.errors import ParleyError
from gateway.http.event_stream import read_events

_CONNECT_SECONDS = 10
_ANSWER_SECONDS = 30
_SILENCE_SECONDS = 60.0
"""Of a stream, which has a heartbeat: after that the connection is dead, though nobody says so."""
_PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
_SURELY = 10.0
_NOT_NOW = frozenset({408, 429, 500, 502, 503, 504})
_OVER = frozenset({"finished", "failed", "cancelled"})


class ApiError(ParleyError):
    """The server refused, failed or did not answer; the text says which, and what to do."""

    def __init__(self, message: str, *, status: int = 0, retry_after: float = 0) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after

    @property
    def may_pass(self) -> bool:
        """Tell whether the same may be answered later: no server, none ready, or too much."""
        return isinstance(self, NoServer) or self.status in _NOT_NOW


class NoServer(ApiError):
    """Nobody answered."""


class BrokenOff(NoServer):
    """The connection ended before the answer: nobody knows what became of the request."""


@dataclass(frozen=True)
class Reply:
    """What the server said: its own text, and what that stands for."""

    text: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Any:  # noqa: ANN401 - any JSON
        """Read the JSON."""
        try:
            return json.loads(self.text)
        except ValueError as exc:
            raise ApiError("what answered is no Parley server: look at PARLEY_URL") from exc


@dataclass(frozen=True)
class Lost:
    """The stream broke off; it is being taken up again."""

    why: str


class Client:
    """One connection to one server; used as `async with`."""

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        patience: float = _ANSWER_SECONDS,
        silence: float = _SILENCE_SECONDS,
    ) -> None:
        self._url = url
        self._key = key
        self._patience = patience
        self._silence = silence
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Get ready; nothing is sent yet."""
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        timeout = aiohttp.ClientTimeout(
            sock_connect=_CONNECT_SECONDS, sock_read=self._silence, total=None
        )
        self._session = aiohttp.ClientSession(headers=headers, timeout=timeout)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go."""
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, query: Mapping[str, object] | None = None) -> Reply:
        """Read something."""
        return await self.send("GET", path, query=query)

    async def post(
        self, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Ask for something to be done."""
        content = None if body is None else json.dumps(body)
        return await self.send("POST", path, content=content, headers=headers)

    async def post_surely(
        self, path: str, body: object, headers: Mapping[str, str], *, seconds: float = _SURELY
    ) -> Reply:
        """Ask again and again while nobody answers, or the server can't now, for so long.

        The headers must hold an Idempotency-Key: that makes asking again harmless.
        """
        return await self._surely(lambda: self.post(path, body, headers), seconds)

    async def get_surely(
        self, path: str, query: Mapping[str, object] | None = None, *, seconds: float = _SURELY
    ) -> Reply:
        """Read something, again and again while nobody answers, for so long."""
        return await self._surely(lambda: self.get(path, query), seconds)

    async def _surely(self, ask: Callable[[], Awaitable[Reply]], seconds: float) -> Reply:
        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        for tries in count():
            try:
                return await ask()
            except ApiError as exc:
                pause = _PAUSES[min(tries, len(_PAUSES) - 1)]
                if not exc.may_pass or clock() + pause > end:
                    raise
                await asyncio.sleep(max(pause, min(exc.retry_after, end - clock())))
        raise AssertionError("unreachable: counting has no end")

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        content: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Make one call, or raise an ApiError."""
        kept = {
            name: str(value) for name, value in (query or {}).items() if value not in ("", None)
        }
        seconds = self._patience + float(kept.get("wait", 0))
        try:
            async with asyncio.timeout(seconds):
                response = await self._open(method, path, kept, content, headers)
                async with response:
                    return await self._read(response)
        except TimeoutError as exc:
            raise BrokenOff(f"{self._url} gave no answer within {seconds:.0f} seconds") from exc
        except (aiohttp.ClientError, OSError, UnicodeError) as exc:
            raise self._unreachable(exc) from exc

    async def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        content: str | None,
        headers: Mapping[str, str] | None,
    ) -> aiohttp.ClientResponse:
        assert self._session is not None, "use it as `async with Client(…)`"  # noqa: S101
        kind = {} if content is None else {"Content-Type": "application/json"}
        return await self._session.request(
            method,
            f"{self._url}{path}",
            params=query,
            data=None if content is None else content.encode(),
            headers={**kind, **(headers or {})},
            allow_redirects=False,
        )

    async def _read(self, response: aiohttp.ClientResponse) -> Reply:
        text = (await response.read()).decode(errors="replace")
        if response.status >= 300:  # noqa: PLR2004 - what HTTP calls success ends here
            raise self._refusal(response, text)
        return Reply(text, response.headers)

    # Following

    async def follow(self, thread: str, *, after: int = 0) -> AsyncIterator[dict[str, Any] | Lost]:
        """Give the events after `after`, live and without an end; broken streams are taken up."""
        tries = 0
        while True:
            why = "the server ended the stream"
            try:
                async for event in self._stream(thread, after):
                    after, tries = event["seq"], 0
                    yield event
            except ApiError as exc:
                if not exc.may_pass:
                    raise
                why = str(exc)
            yield Lost(why)
            await asyncio.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
            tries += 1

    async def _stream(self, thread: str, after: int) -> AsyncIterator[dict[str, Any]]:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": str(after)} if after else {})
        path = f"{thread_path(thread)}/events"
        try:
            async with await self._open("GET", path, {}, None, headers) as response:
                if response.status != 200 or response.content_type != "text/event-stream":  # noqa: PLR2004
                    await self._read(response)
                    raise ApiError("what answered is no Parley server: look at PARLEY_URL")
                async for event in read_events(response.content):
                    yield event
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise self._unreachable(exc) from exc

    # Errors, in words

    def _unreachable(self, exc: Exception) -> NoServer:
        if isinstance(exc, aiohttp.ClientConnectorError):
            return NoServer(
                f"no server answers at {self._url}: start one with `parley serve`, "
                "or set PARLEY_URL to where it is"
            )
        return BrokenOff(f"the connection to {self._url} broke off: {type(exc).__name__}")

    def _refusal(self, response: aiohttp.ClientResponse, text: str) -> ApiError:
        said = _detail(text) or f"{response.status} {response.reason}"
        words = _sentence(response, said, has_key=bool(self._key))
        later = response.headers.get("Retry-After", "")
        seconds = float(later) if later.isdecimal() else 0.0
        return ApiError(words, status=response.status, retry_after=seconds)


def thread_path(thread: str) -> str:
    """Give the address of a thread; whatever was typed stays one segment."""
    return f"/v1/threads/{_segment(thread)}"


def question_path(question: str) -> str:
    """Give the address of a question."""
    return f"/v1/questions/{_segment(question)}"


def outcome(reply: Reply) -> str:
    """Give a thread's outcome: its status, or `denied` where it finished without leave."""
    return reply.headers.get("Parley-Outcome") or str(reply.data["status"])


def is_over(thread: Mapping[str, Any]) -> bool:
    """Tell whether a thread goes on only if somebody says so."""
    return thread["status"] in _OVER


def _segment(text: str) -> str:
    if not text.strip("."):  # `..` would be another address
        raise ApiError(f"there can be no id {text!r}", status=404)
    return quote(text, safe="", errors="replace")


def _detail(text: str) -> str:
    try:
        problem = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(problem, dict):
        return ""
    return str(problem.get("detail") or problem.get("title") or "")


def _sentence(response: aiohttp.ClientResponse, said: str, *, has_key: bool) -> str:
    match response.status:
        case 401 if not has_key:
            return (
                "the server wants a key: set PARLEY_API_KEY to one that "
                "`parley keys create NAME --scope admin` prints"
            )
        case 401:
            return f"the server doesn't accept this PARLEY_API_KEY: {said}"
        case 429 | 503 if "Retry-After" in response.headers:
            return f"{said} (try again in {response.headers['Retry-After']} seconds)"
        case status if status >= 500:  # noqa: PLR2004 - the server's own faults begin here
            return f"the server failed ({status}): {said}; its log says more"
        case _:
            return said
