"""Our control API on a SQLite file, as the role `web` serves it: nobody runs what is launched.

Limits that protect a server from one client (requests a second, a full queue) are out of the way.
The log is as quiet as the bare server's, or (`info`) has a line for each request, as by default.
With `layer` the gateway does nothing: what remains is HTTP, the key, the checks and the response.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from agent_core.thread.events import Millis
from bench.gateway.desk import desk
from gateway.audit.key import audit_seal
from gateway.control.keys import key_hash
from gateway.control.local import LocalGateway
from gateway.control.views import ThreadView
from gateway.http.app import make_app, run_app
from gateway.http.options import HttpOptions
from gateway.shortcuts.hints import Hints
from gateway.telemetry import logs
from storage.urls import open_store
from storage.values import ApiKey, KeyId

_NO_LIMIT = 1_000_000_000


class CommitsNothing(LocalGateway):
    """A gateway that does nothing with what is launched, to measure what stands before it."""

    _shown = ThreadView(
        id="th_0123456789abcdef0123",
        agent="desk",
        status="queued",
        origin="web:th_0123456789abcdef0123",
        requester="bench",
        created_at=datetime.now(UTC),
        updated_at=datetime.now(UTC),
    )

    async def launch(self, *_args: object, **_named: object) -> tuple[ThreadView, bool]:
        """Show the same thread each time."""
        return self._shown, True


async def main(folder: Path, port: int, key: str, way: str) -> None:
    """Serve until killed."""
    store = open_store(f"sqlite:///{folder / 'parley.db'}", seal=audit_seal(b"as it is served"))
    await store.open()
    now = Millis(time.time_ns() // 1_000_000)
    row = ApiKey(
        id=KeyId("key_1"), name="bench", hash=key_hash(key), scopes=("launch",), created_at=now
    )
    await store.add_key(row)
    hints = Hints(store)
    kind = CommitsNothing if way == "layer" else LocalGateway
    gateway = kind(store, {desk.name: desk}, hints, most_queued=_NO_LIMIT)
    options = HttpOptions(requests_per_second=float(_NO_LIMIT), burst=_NO_LIMIT)
    await run_app(make_app(gateway, store, options), "127.0.0.1", port)
    await hints.run()


if __name__ == "__main__":
    chosen = sys.argv[3]
    logs.configure("info" if chosen == "info" else "warning", "json")
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), os.environ["BENCH_KEY"], chosen))
