"""Socket Mode: the app's open sockets, the envelopes sent through them, and their acks."""

from __future__ import annotations

import asyncio
import itertools
import json
import uuid
from typing import Any

from aiohttp import WSMsgType, web

from channels.slack.double.changes import Changes
from channels.slack.double.delivery import Kind
from channels.slack.double.records import Payload


class Sockets:
    """Every connection that is open now. Slack sends each envelope through one of them."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._tickets: dict[str, str] = {}
        self._open: list[web.WebSocketResponse] = []
        self._turn = itertools.count()
        self._acks: dict[str, asyncio.Future[Payload]] = {}
        self._sent_through: dict[str, web.WebSocketResponse] = {}
        self.was_connected = False
        self.frames: list[Payload] = []
        """Everything that apps have sent, acks first of all."""

    @property
    def is_connected(self) -> bool:
        """Say whether an app listens."""
        return bool(self._open)

    @property
    def count(self) -> int:
        """Say how many connections are open."""
        return len(self._open)

    def ticket(self, app_id: str) -> str:
        """Make the secret of a URL that opens one connection."""
        ticket = uuid.uuid4().hex
        self._tickets[ticket] = app_id
        return ticket

    async def accept(self, request: web.Request) -> web.StreamResponse:
        """Open a connection for a ticket, say hello, and take acks until it closes."""
        app_id = self._tickets.pop(request.query.get("ticket", ""), None)
        if app_id is None:
            return web.Response(status=403, text="invalid ticket")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._open.append(socket)
        self.was_connected = True
        await socket.send_json(_hello(app_id, len(self._open)))
        self._changes.notify()
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._take(frame.data)
        finally:
            self._lost(socket)
        return socket

    def _take(self, data: str) -> None:
        try:
            frame: Any = json.loads(data)
        except ValueError:
            return
        self.frames.append(frame)
        ack = self._acks.get(frame.get("envelope_id", ""))
        if ack is not None and not ack.done():
            ack.set_result(frame.get("payload") or {})
        self._changes.notify()

    def _lost(self, socket: web.WebSocketResponse) -> None:
        if socket in self._open:
            self._open.remove(socket)
        for envelope_id, carrier in self._sent_through.items():
            if carrier is socket and not self._acks[envelope_id].done():
                self._acks[envelope_id].set_exception(ConnectionError("the socket closed"))
        self._changes.notify()

    async def ask(self, kind: Kind, payload: Payload, *, retry: int, reason: str | None) -> Payload:
        """Send an envelope through one of the sockets, and wait for its ack."""
        if not self._open:
            raise ConnectionError("no socket is open")
        socket = self._open[next(self._turn) % len(self._open)]
        envelope: Payload = {
            "envelope_id": str(uuid.uuid4()),
            "type": kind,
            "accepts_response_payload": kind != "events_api",
            "payload": payload,
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": retry, "retry_reason": reason or ""}
        ack: asyncio.Future[Payload] = asyncio.get_running_loop().create_future()
        self._acks[envelope["envelope_id"]] = ack
        self._sent_through[envelope["envelope_id"]] = socket
        try:
            await socket.send_json(envelope)
            return await ack
        finally:
            del self._acks[envelope["envelope_id"]], self._sent_through[envelope["envelope_id"]]

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask every app to connect anew, as Slack does every few hours.

        Nothing more is sent through the old sockets; what was sent may still be acked there.
        """
        for socket in list(self._open):
            self._open.remove(socket)
            frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}}
            await socket.send_json(frame)

    def cut(self) -> None:
        """Lose every connection without a word."""
        for socket in list(self._open):
            self._lost(socket)
            transport = socket._req.transport if socket._req else None  # noqa: SLF001 (no public way to a torn connection)
            if transport is not None:
                transport.abort()

    async def close(self) -> None:
        """Close every connection in order."""
        for socket in list(self._open):
            await socket.close()


def _hello(app_id: str, connections: int) -> Payload:
    return {
        "type": "hello",
        "num_connections": connections,
        "connection_info": {"app_id": app_id},
        "debug_info": {
            "host": "applink-1",
            "build_number": 118,
            "approximate_connection_time": 18060,
        },
    }
