"""Our webhook channel on a SQLite file, as the role `web` serves it: nobody runs what comes in.

A signed source with a condition, a message and (`keyed`) a thread for each delivery's key. The
limit of a full queue is out of the way, and the log is as quiet as the bare server's.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from bench.gateway.desk import desk
from channels.webhook.channel import WebhookChannel
from channels.webhook.declaration import Declaration, make_source
from gateway.audit.key import audit_seal
from gateway.channel_wiring import open_channels
from gateway.control.local import LocalGateway
from gateway.http.app import make_app, run_app
from gateway.http.channel_routes import mount
from gateway.http.options import HttpOptions
from gateway.people.directory import Directory
from gateway.shortcuts.hints import Hints
from gateway.telemetry import logs
from storage.urls import open_store

_NO_LIMIT = 1_000_000_000


async def main(folder: Path, port: int, key: bytes, way: str) -> None:
    """Serve until killed."""
    store = open_store(f"sqlite:///{folder / 'parley.db'}", seal=audit_seal(b"as it is served"))
    await store.open()
    hints = Hints(store)
    gateway = LocalGateway(store, {desk.name: desk}, hints, most_queued=_NO_LIMIT)
    channels = {"webhook": WebhookChannel([make_source(_declared(key, way))])}
    options = HttpOptions()
    opened = open_channels(
        channels, gateway, store, Directory(), {}, secret=b"s" * 32, receives=True
    )
    async with opened:
        app = make_app(gateway, store, options)
        mount(app, channels.values(), options)
        await run_app(app, "127.0.0.1", port)
        await hints.run()


def _declared(key: bytes, way: str) -> Declaration:
    return Declaration(
        name="bench",
        secrets=(key,),
        scheme="github",
        agent="desk",
        when="payload.agent == 'desk'",
        message="{{ payload.text }}",
        thread_key="{{ headers['x-github-delivery'] }}" if way == "keyed" else "",
    )


if __name__ == "__main__":
    logs.configure("warning", "json")
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), os.environb[b"BENCH_KEY"], sys.argv[3]))
