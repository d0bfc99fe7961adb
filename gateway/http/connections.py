"""Connections: what must be watched before there is a request, and after one has gone wrong.

aiohttp leaves a connection open that never finishes its headers, and one whose reader never reads
(measured: past 90 s). The subclass here closes both. It leans on private attributes of aiohttp's
RequestHandler (`_waiter`, `_request_count`, `_lingering_time`); tests/unit/gateway/http pins that
they still mean what they meant.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import structlog
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from gateway.http.options import HttpOptions
from gateway.http.problems import INTERNAL, MALFORMED_REQUEST, Problem
from gateway.http.responses import new_request_id, problem_response

log = structlog.get_logger(__name__)

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
Straight: TypeAlias = Mapping[tuple[str, str], Handler]
_Answer: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class DeadlineHandler(RequestHandler):
    """One connection, with a deadline on its headers and one on its reader."""

    __slots__ = ("_head_timer", "_options", "_reader_timer", "when_lost")

    def __init__(self, manager: web.Server, *, options: HttpOptions, **kwargs: Any) -> None:  # noqa: ANN401 (aiohttp's own)
        super().__init__(manager, **kwargs)
        self._options = options
        self._head_timer: asyncio.TimerHandle | None = None
        self._reader_timer: asyncio.TimerHandle | None = None
        self.when_lost: set[Callable[[], None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with the deadline of the first headers."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Watch headers from their first byte to their last."""
        before = self._request_count
        super().data_received(data)
        if self._request_count > before:
            self._stop(self._head_timer)
            self._head_timer = None
        elif self._is_between_requests() and self._head_timer is None:
            self._expect_head()

    def pause_writing(self) -> None:
        """Give the reader a while: our output is standing."""
        super().pause_writing()
        self._reader_timer = self._loop.call_later(self._options.write_deadline, self._cut_off)

    def resume_writing(self) -> None:
        """Go on: the reader reads."""
        super().resume_writing()
        self._stop(self._reader_timer)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Tell whoever waits on behalf of this connection."""
        self._stop(self._head_timer)
        self._stop(self._reader_timer)
        super().connection_lost(exc)
        for tell in tuple(self.when_lost):
            tell()

    def stop_reading_body(self) -> None:
        """Close right after the response: the rest of this body is not worth waiting for."""
        self._lingering_time = 0.0

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 (aiohttp's; it may hold what was sent)
    ) -> web.StreamResponse:
        """Answer what never became a request, or broke outside of our own code; no traceback."""
        name = type(exc).__name__
        if request.writer.output_size > 0:
            raise ConnectionError("the response has begun: nothing else can be said")
        if status < 500:  # noqa: PLR2004 (RFC 9110: the sender's)
            log.info("malformed request", error=name)
            return _last_words(Problem(MALFORMED_REQUEST))
        log.error("request failed", error=name, exc_info=exc)
        return _last_words(Problem(INTERNAL))

    def _is_between_requests(self) -> bool:
        return self._waiter is not None and not self._waiter.done()

    def _expect_head(self) -> None:
        self._head_timer = self._loop.call_later(
            self._options.header_deadline, self._give_up_on_head
        )

    def _give_up_on_head(self) -> None:
        self._head_timer = None
        if self._is_between_requests():
            self.force_close()

    def _cut_off(self) -> None:
        if self.transport is not None:
            self.transport.abort()  # a plain close would wait for the reader, too

    @staticmethod
    def _stop(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()


def _last_words(problem: Problem) -> web.Response:
    response = problem_response(problem, new_request_id())
    response.force_close()
    return response


class DeadlineServer(web.Server):
    """Makes a DeadlineHandler of each connection."""

    options = HttpOptions()

    def __call__(self) -> RequestHandler:
        """Take a connection."""
        return DeadlineHandler(self, loop=self._loop, options=self.options, **self._kwargs)


class DeadlineRunner(web.AppRunner):
    """Runs an application on a DeadlineServer; `cleanup` ends it gracefully.

    `straight` are handlers by method and path, for requests that need no router to find them.
    """

    def __init__(self, app: web.Application, options: HttpOptions, straight: Straight) -> None:
        super().__init__(app, shutdown_timeout=options.shutdown_grace)
        self._options = options
        self._straight = straight

    async def _make_server(self) -> web.Server:
        plain = await super()._make_server()
        server = DeadlineServer(
            self._straight_or(plain.request_handler),
            request_factory=plain.request_factory,
            access_log=None,
            auto_decompress=False,  # bodies are read as they were sent, or refused
            keepalive_timeout=self._options.keep_alive,
            lingering_time=self._options.body_deadline,
        )
        server.options = self._options
        return server

    def _straight_or(self, otherwise: _Answer) -> _Answer:
        straight = self._straight

        def answer(request: web.BaseRequest) -> Awaitable[web.StreamResponse]:
            found: Any = straight.get((request.method, request.raw_path), otherwise)
            return found(request)  # type: ignore[no-any-return]  # each gives the same

        return answer
