"""Many who look at one thread live: from the commit until each has it, and what they cost."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urlsplit

from bench.gateway.tables import table
from bench.inbox.subject import Subject


class Viewer:
    """One open window."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.at: dict[int, float] = {}
        self.last = 0
        self._came = asyncio.Event()

    @classmethod
    async def open(cls, subject: Subject, cookies: dict[str, str], after: int) -> Viewer:
        """Begin to look."""
        host = urlsplit(subject.url)
        reader, writer = await asyncio.open_connection(host.hostname, host.port)
        cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        writer.write(
            f"GET /live/threads/{subject.thread}?after={after} HTTP/1.1\r\n"
            f"Host: {host.netloc}\r\nCookie: {cookie}\r\n\r\n".encode()
        )
        found = await reader.readline()
        assert b" 200 " in found, found
        return cls(reader, writer)

    async def look(self) -> None:
        """Note when each event comes."""
        while line := await self._reader.readline():
            if line.startswith(b"id: "):
                self.last = int(line[4:])
                self.at[self.last] = time.monotonic()
                self._came.set()

    async def until(self, seq: int) -> None:
        """Wait until an event has come."""
        while self.last < seq:
            self._came.clear()
            await self._came.wait()

    def close(self) -> None:
        """Close the window."""
        self._writer.close()


async def measure(subject: Subject, *, viewers: int, commits: int, after: int) -> str:
    """Open so many windows, commit some events, and tell how long they took to arrive."""
    before = subject.memory()
    windows = [
        await Viewer.open(subject, subject.cookies[at % len(subject.cookies)], after)
        for at in range(viewers)
    ]
    tasks = [asyncio.create_task(one.look()) for one in windows]
    grown = subject.memory() - before
    waits: list[float] = []
    for number in range(1, commits + 1):
        at = await subject.commit()
        for one in windows:
            await one.until(after + number)
        waits += [one.at[after + number] - at for one in windows]
    for one, task in zip(windows, tasks, strict=True):
        assert sorted(one.at) == list(range(after + 1, after + commits + 1)), "an event was lost"
        task.cancel()
        one.close()
    waits.sort()
    rows = [
        [
            str(viewers),
            *(f"{_at(waits, part) * 1000:.1f}" for part in (0.5, 0.99, 1)),
            f"{grown / max(1, viewers):.0f}",
        ]
    ]
    return table(["viewers", "median ms", "p99 ms", "last ms", "KB each"], rows)


def _at(waits: list[float], part: float) -> float:
    return waits[min(len(waits) - 1, int(len(waits) * part))]
