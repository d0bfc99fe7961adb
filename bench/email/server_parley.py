"""Our email channel on a SQLite file, as the role `web` serves it: nobody runs what comes in.

Each mail is read in a child process, kept, and begins a thread, before it is acknowledged. The
limit of a full queue is out of the way, and the log is as quiet as the bare server's.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bench.email.server_bare import ready_on
from bench.gateway.desk import desk
from channels.email.channel import EmailChannel
from channels.email.options import EmailOptions
from gateway.channel_wiring import open_channels
from gateway.control.local import LocalGateway
from gateway.people.directory import Directory
from gateway.shortcuts.hints import Hints
from gateway.telemetry import logs
from storage.urls import open_store

_NO_LIMIT = 1_000_000_000
_SECRET = b"s" * 32


async def main(folder: Path, port: int, door: int) -> None:
    """Serve until killed."""
    store = open_store(f"sqlite:///{folder / 'parley.db'}")
    await store.open()
    hints = Hints(store)
    gateway = LocalGateway(store, {desk.name: desk}, hints, most_queued=_NO_LIMIT)
    options = EmailOptions(
        address="agent@example.com",
        smtp_url="smtp+plain://127.0.0.1:9",
        listen=f"smtp://127.0.0.1:{door}",
        authserv_id="mx.example.com",
        secret_key=_SECRET,
        threads_per_hour=_NO_LIMIT,
    )
    opened = open_channels(
        {"email": EmailChannel(options)},
        gateway,
        store,
        Directory(),
        {"email": desk.name},
        secret=_SECRET,
        receives=True,
    )
    async with opened:
        await ready_on(port)
        await hints.run()


if __name__ == "__main__":
    logs.configure("error", "json")
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
