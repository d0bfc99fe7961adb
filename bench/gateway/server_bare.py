"""The least that a webhook's receiver does: aiohttp, an HMAC, JSON; with `commit`, one durable row.

The row goes through one writer thread that commits together what has queued up, `FULL`.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeAlias

from aiohttp import web

_TABLE = "CREATE TABLE inbox (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"
_ROW = "INSERT INTO inbox (body) VALUES (?)"

_Order: TypeAlias = tuple[bytes, "asyncio.Future[None]"]


class Inbox:
    """A writer thread and its queue."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._queue: SimpleQueue[_Order] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._write_for_ever, daemon=True).start()

    async def keep(self, body: bytes) -> None:
        """Write a body; it lasts when this returns."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((body, future))
        await future

    def _write_for_ever(self) -> None:
        connection = sqlite3.connect(self._database, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(_TABLE)
        while True:
            batch = self._take()
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_ROW, [(body,) for body, _ in batch])
            connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(_settle, batch)

    def _take(self) -> list[_Order]:
        batch = [self._queue.get()]
        try:
            while True:
                batch.append(self._queue.get_nowait())
        except Empty:
            return batch


def _settle(batch: Sequence[_Order]) -> None:
    for _, future in batch:
        future.set_result(None)


async def main(folder: Path, port: int, key: bytes, way: str) -> None:
    """Serve until killed."""
    inbox = Inbox(folder / "bare.db") if way == "commit" else None

    async def receive(request: web.Request) -> web.Response:
        body = await request.read()
        expected = hmac.new(key, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, request.headers.get("X-Signature", "")):
            return web.Response(status=401)
        launch = json.loads(body)
        if inbox is not None:
            await inbox.keep(body)
        return web.json_response({"agent": launch["agent"], "status": "queued"}, status=201)

    async def ready(_request: web.Request) -> web.Response:
        return web.Response()

    app = web.Application()
    app.add_routes([web.post("/v1/threads", receive), web.get("/readyz", ready)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), os.environb[b"BENCH_KEY"], sys.argv[3]))
