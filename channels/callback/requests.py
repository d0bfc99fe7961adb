"""One POST to a callback, and what came of it. No redirects, no proxies, no pool: see `guard`.

Each request has a connector of its own: what the guard has let through for one host is never used
for another.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from channels.callback.addresses import Target
from channels.callback.guard import Guard, Inside
from channels.callback.hanging import Hanging

_MOST_READ = 64 * 1024
_PIECE = 8 * 1024
_SAY_WHEN = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request."""

    status: int = 0
    """0 where nobody answered."""
    why: str = ""
    wished: float | None = None
    """How many seconds the receiver wants us to wait."""

    @property
    def is_taken(self) -> bool:
        """Tell whether the receiver has it."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def is_unwanted(self) -> bool:
        """Tell whether the receiver never wants anything again."""
        return self.status == HTTPStatus.GONE


class Requests:
    """Makes requests through a guard."""

    def __init__(
        self,
        guard: Guard,
        timeout_seconds: float,
        *,
        make_resolver: Callable[[], AbstractResolver] = aiohttp.ThreadedResolver,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._guard = guard
        self._timeout = timeout_seconds
        self._make_resolver = make_resolver
        self._hanging = Hanging(clock)

    async def post(self, target: Target, headers: Mapping[str, str], body: bytes) -> Outcome:
        """Send it, and tell what came of it; never raises for what the other side does."""
        host = f"{target.host}:{target.port}"
        with self._hanging.trying(host) as is_tried:
            if not is_tried:
                return Outcome(why="the host hangs: another message is tried first")
            try:
                async with asyncio.timeout(self._timeout):
                    outcome = await self._post(target, headers, body)
            except TimeoutError:
                self._hanging.note(host, timed_out=True)
                return Outcome(why=f"no answer within {self._timeout:.0f} seconds")
            except (aiohttp.ClientError, OSError, ValueError) as exc:
                outcome = Outcome(why=_words(exc))
            self._hanging.note(host, timed_out=False)
            return outcome

    async def _post(self, target: Target, headers: Mapping[str, str], body: bytes) -> Outcome:
        connector = aiohttp.TCPConnector(
            resolver=self._make_resolver(),
            socket_factory=self._guard.sockets_for(target),
            use_dns_cache=False,
            force_close=True,
            limit=1,
        )
        async with (
            aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
            ) as session,
            session.post(
                URL(target.url, encoded=True), data=body, headers=headers, allow_redirects=False
            ) as response,
        ):
            await _read_some(response)
            why = "" if response.status < HTTPStatus.MULTIPLE_CHOICES else "answered "
            return Outcome(response.status, why and f"{why}{response.status}", _wish(response))


async def _read_some(response: aiohttp.ClientResponse) -> None:
    """Let the receiver finish what it says, if that is little: nothing of it is used."""
    left = _MOST_READ
    while left > 0 and (piece := await response.content.read(min(_PIECE, left))):
        left -= len(piece)
    if left <= 0:
        response.close()


def _wish(response: aiohttp.ClientResponse) -> float | None:
    """Read Retry-After (RFC 9110, section 10.2.3): seconds, or a date."""
    text = response.headers.get("Retry-After", "").strip()
    if response.status not in _SAY_WHEN or not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None


def _words(exc: Exception) -> str:
    """Say what kind of failure it was, without addresses."""
    cause = exc.os_error if isinstance(exc, aiohttp.ClientConnectorError) else exc
    if isinstance(cause, Inside):
        return str(cause)
    return f"no connection: {type(cause).__name__}"
