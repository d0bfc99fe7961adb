"""Slack over a WebSocket that we open: no public address is needed.

The SDK connects and reconnects; it does not notice when its address has gone stale, and it leaves
tasks behind. So a task of ours watches over it, begins anew when it stays broken, and cleans up.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from channels.slack.parsing.payloads import is_readable

_log = logging.getLogger("parley.slack")
_PING_SECONDS: Final = 10.0
_PATIENCE_PINGS: Final = 6
_CLOSING_SECONDS: Final = 5.0


class SocketMode:
    """Keeps a line to Slack open."""

    def __init__(
        self, app: AsyncApp, app_token: str, *, ping_seconds: float = _PING_SECONDS
    ) -> None:
        self._app = app
        self._token = app_token
        self._ping_seconds = ping_seconds
        self._line: _Line | None = None
        self._watch: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to connect; Slack may be down, and then it takes as long as it takes."""
        self._watch = asyncio.create_task(self._keep_open(), name="slack socket mode")

    async def stop(self) -> None:
        """Hang up, and leave nothing behind."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])
            self._watch = None

    async def is_connected(self) -> bool:
        """Say whether Slack can reach us at this moment."""
        return self._line is not None and await self._line.client.is_connected()

    async def _keep_open(self) -> None:
        while True:
            self._line = _Line(
                self._app, self._token, logger=_log, ping_interval=self._ping_seconds
            )
            try:
                await self._until_broken(self._line)
            finally:
                line, self._line = self._line, None
                await line.hang_up()
            _log.warning("slack socket mode begins anew")

    async def _until_broken(self, line: _Line) -> None:
        """Return when the SDK has not been connected for a while, in spite of its own trying."""
        connecting = asyncio.create_task(line.connect_async())  # type: ignore[no-untyped-call]
        try:
            missed = 0
            while missed < _PATIENCE_PINGS:
                await asyncio.sleep(self._ping_seconds)
                missed = 0 if await line.client.is_connected() else missed + 1
        finally:
            connecting.cancel()
            await asyncio.wait([connecting])


class _Line(AsyncSocketModeHandler):
    """One client of the SDK, with the envelopes that are being taken."""

    def __init__(
        self, app: AsyncApp, app_token: str, *, logger: logging.Logger, ping_interval: float
    ) -> None:
        super().__init__(app, app_token, logger=logger, ping_interval=ping_interval)
        self.client.proxy = app.client.proxy  # the SDK would ask the environment again
        self._taking: set[asyncio.Task[object]] = set()

    async def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]
        """Take an envelope: Bolt acknowledges it only if we answered with 200."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 (the SDK makes one for each)
        self._taking.add(task)
        try:
            if is_readable(req.payload):
                await super().handle(client, req)
            else:  # Bolt never answers it, and Slack would send it for ever
                _log.warning("slack envelope unreadable")
                done = SocketModeResponse(envelope_id=req.envelope_id)
                await client.send_socket_mode_response(done)
        finally:
            self._taking.discard(task)

    async def hang_up(self) -> None:
        """Let what is being taken be acknowledged, then close, and wait for the SDK's tasks."""
        if self._taking:
            await asyncio.wait(set(self._taking), timeout=_CLOSING_SECONDS)
        await self.close_async()  # type: ignore[no-untyped-call]
        tasks = [self.client.message_processor, self.client.current_session_monitor]
        tasks += [self.client.message_receiver, *self._taking]
        left = [task for task in tasks if task is not None and not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
