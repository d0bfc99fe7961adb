"""Many waiting threads: the idle server's memory, and the time to resume one of them."""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from agent_core.thread.events import Millis
from bench.gateway.contender_parley import opened
from bench.gateway.disk import fsyncs_per_second
from bench.gateway.servers import Server, parley, usage
from bench.gateway.stopwatch import ANSWER, DONE, REQUEST
from bench.gateway.tables import at_most, table, verdict
from gateway.control.keys import new_key
from gateway.control.views import Launch
from storage.urls import open_store

_SIZES = (0, 100, 100_000)
_RESUMED = 80
_TARGET_MB = 20
_TARGET_RATIO = 1.2
"""Issue 3."""
_IDLE_SECONDS = 3.0

_COPIES = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count),
copies (thread, question, tag) AS (
    SELECT replace(:thread, substr(:thread, -8), printf('%08d', n)),
           replace(:question, substr(:question, -8), printf('%08d', n)), printf('%08d', n)
    FROM numbers
)
"""
_RENAMED = "replace(replace(o.{0}, :thread, c.thread), :question, c.question)"


@dataclass(frozen=True, kw_only=True)
class Idle:
    """A server over so many waiting threads."""

    waiting: int
    rss_mb: float
    resume_ms: float
    resume_cpu_ms: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be chosen."""
    parser.add_argument("--sizes", type=int, nargs="+", default=list(_SIZES))


def measure(asked: argparse.Namespace) -> str:
    """Run a real server on a database of each size, and resume in turns: one disk for all."""
    with ExitStack() as stack:
        houses = [_open(size, stack) for size in asked.sizes]
        time.sleep(_IDLE_SECONDS)
        idle = [usage(house.server.pid) for house in houses]
        for house in houses:
            house.ask()
        for _ in range(_RESUMED):
            for house in houses:
                house.resume()
        found = [
            house.summary(rss_mb=used.rss_mb) for house, used in zip(houses, idle, strict=True)
        ]
    return "\n".join([f"fsync/s {fsyncs_per_second():,.0f}", _report(found)])


def _report(found: Sequence[Idle]) -> str:
    rows = [
        [
            f"{one.waiting:,} waiting",
            f"{one.rss_mb:.1f}",
            f"{one.resume_ms:.2f}" if one.resume_ms else "-",
            f"{one.resume_cpu_ms:.2f}" if one.resume_ms else "-",
        ]
        for one in found
    ]
    heads = ("", "RSS MB", "resume ms", "server CPU ms")
    return "\n".join([table(heads, rows), *_verdicts(found[0], found[1:])])


def _verdicts(none: Idle, some: Sequence[Idle]) -> Iterator[str]:
    for one in some:
        more = one.rss_mb - none.rss_mb
        told = f"{more:+.1f} MB with {one.waiting:,} waiting against {none.waiting:,}"
        yield verdict(told, f"at most {_TARGET_MB} MB", met=more <= _TARGET_MB)
    for one in some[1:]:
        few = some[0]
        told = f"the time to resume one of {one.waiting:,} against one of {few.waiting:,}"
        yield at_most(told, one.resume_ms / few.resume_ms, _TARGET_RATIO)
        yield at_most(f"{told}, by CPU", one.resume_cpu_ms / few.resume_cpu_ms, _TARGET_RATIO)


# A database with many waiting threads


async def _fill(folder: Path, size: int) -> str:
    """Let one thread wait, and copy its rows: each copy is a thread like any other."""
    async with opened(folder) as ours:
        for _ in range(min(size, 1)):
            launched, _ = await ours.gateway.launch(Launch(agent="desk", text=REQUEST), by="ann")
            waiting = await ours.gateway.wait(launched.id, seconds=30)
            await _until_sent(ours.database)
            _copy(ours.database, waiting.id, waiting.questions[0].id, size - 1)
    text, row = new_key("bench", ["admin"], now=Millis(time.time_ns() // 1_000_000))
    store = open_store(f"sqlite:///{folder / 'parley.db'}")
    await store.open()
    await store.add_key(row)
    await store.close()
    return text


async def _until_sent(database: Path) -> None:
    pending = "SELECT count(*) FROM deliveries WHERE status = 'pending'"
    with closing(sqlite3.connect(database)) as connection:
        while connection.execute(pending).fetchone()[0]:  # noqa: ASYNC110 (nobody sets an event)
            await asyncio.sleep(0.01)


def _copy(database: Path, thread: str, question: str, count: int) -> None:
    values = {"thread": thread, "question": question, "count": count}
    with closing(sqlite3.connect(database, timeout=30)) as connection:
        for name, keys in _columns(connection).items():
            renamed = ", ".join(
                _RENAMED.format(key) if kind == "TEXT" else f"o.{key}" for key, kind in keys
            )
            columns = ", ".join(key for key, _ in keys)
            of_thread = "id" if name == "threads" else "thread"
            connection.execute(
                f"INSERT INTO {name} ({columns}) {_COPIES} SELECT {renamed} "  # noqa: S608 (our own)
                f"FROM copies AS c JOIN {name} AS o ON o.{of_thread} = :thread",
                values,
            )
        connection.commit()


def _columns(connection: sqlite3.Connection) -> dict[str, list[tuple[str, str]]]:
    names = ("threads", "events", "questions", "deliveries")
    return {
        name: [
            (row[1], row[2])
            for row in connection.execute(f"PRAGMA table_info({name})")
            if row[1] != "n"  # SQLite numbers them
        ]
        for name in names
    }


# A server over it


class House:
    """A server, and the questions that wait in it."""

    def __init__(self, server: Server, key: str, waiting: int) -> None:
        self.server = server
        self._key = key
        self._waiting = waiting
        self._asked: list[dict[str, Any]] = []
        self._times: list[float] = []
        self._cpu = 0.0

    def ask(self) -> None:
        """Find out what can be answered."""
        path = f"/v1/questions?status=open&limit={_RESUMED}"
        self._asked = _call(self.server, self._key, path)["items"]
        self._cpu = usage(self.server.pid).cpu_seconds

    def resume(self) -> None:
        """Answer a question, and see its thread finished."""
        if not self._asked:
            return
        question = self._asked.pop()
        began = time.perf_counter()
        path = f"/v1/questions/{question['id']}/answer"
        _call(self.server, self._key, path, {"value": ANSWER})
        path = f"/v1/threads/{question['thread_id']}?wait=30"
        done = _call(self.server, self._key, path)
        self._times.append(time.perf_counter() - began)
        assert done["status"] == "finished"
        assert done["result"] == DONE

    def summary(self, *, rss_mb: float) -> Idle:
        """Sum up what was seen."""
        spent = usage(self.server.pid).cpu_seconds - self._cpu
        return Idle(
            waiting=self._waiting,
            rss_mb=rss_mb,
            resume_ms=1000 * median(self._times) if self._times else 0.0,
            resume_cpu_ms=1000 * spent / max(len(self._times), 1),
        )


def _open(size: int, stack: ExitStack) -> House:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    key = asyncio.run(_fill(folder, size))
    return House(stack.enter_context(parley(folder)), key, size)


def _call(server: Server, key: str, path: str, body: object = None) -> dict[str, Any]:
    request = urllib.request.Request(  # noqa: S310 (our own server)
        server.url + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 (our own server)
        read: dict[str, Any] = json.load(response)
    return read
