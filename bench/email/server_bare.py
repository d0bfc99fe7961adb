"""The least that a receiver of mail does: aiosmtpd, and one durable row for each mail.

The row goes through one writer thread that commits together what has queued up, `FULL`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from aiohttp import web
from aiosmtpd.smtp import SMTP, Envelope, Session

from bench.gateway.server_bare import Inbox


class _Handler:
    """What aiosmtpd calls."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 (its name there)
        """Say yes when it lasts."""
        assert isinstance(envelope.content, bytes)
        await self._inbox.keep(envelope.content)
        return "250 OK"


async def main(folder: Path, port: int, door: int) -> None:
    """Serve until killed; over HTTP only whether we are ready."""
    inbox = Inbox(folder / "bare.db")
    loop = asyncio.get_running_loop()
    await loop.create_server(
        lambda: SMTP(_Handler(inbox), hostname="bench.example"), "127.0.0.1", door
    )
    await ready_on(port)
    await asyncio.Event().wait()


async def ready_on(port: int) -> None:
    """Tell over HTTP that we are ready."""

    async def ready(_request: web.Request) -> web.Response:
        return web.Response()

    app = web.Application()
    app.add_routes([web.get("/readyz", ready)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
