"""How fast pages open, and what they weigh, beside an empty page of the same server."""

from __future__ import annotations

import gzip
import time
from dataclasses import dataclass
from statistics import median

import aiohttp

from bench.gateway.tables import table
from bench.inbox.subject import Subject


@dataclass(frozen=True)
class Opened:
    """A page, as its reader saw it."""

    name: str
    milliseconds: float
    weight: int
    packed: int


async def measure(subject: Subject, rounds: int) -> str:
    """Open every page so many times, one after the other, and give the table."""
    pages = {
        "an empty page, bare aiohttp": f"{subject.bare}/",
        "/": f"{subject.url}/",
        "/threads": f"{subject.url}/threads",
        "/threads, a word that nobody wrote": f"{subject.url}/threads?q=unicorn",
        "/threads/ID, the newest of its events": f"{subject.url}/threads/{subject.thread}",
        "/threads/ID, from the middle": f"{subject.url}/threads/{subject.thread}?to=2500",
        "/figures, within its minute": f"{subject.url}/figures",
    }
    async with aiohttp.ClientSession(cookies=subject.cookies[0]) as http:
        opened = [await _opened(http, name, url, rounds) for name, url in pages.items()]
    floor = opened[0].milliseconds
    rows = [
        [
            one.name,
            f"{one.milliseconds:.2f}",
            f"{one.milliseconds / floor:.1f}x",
            f"{one.weight / 1024:.0f}",
            f"{one.packed / 1024:.0f}",
        ]
        for one in opened
    ]
    return table(["page", "median ms", "of bare", "KB", "KB gzip"], rows)


async def _opened(http: aiohttp.ClientSession, name: str, url: str, rounds: int) -> Opened:
    times, body = [], b""
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        async with http.get(url) as answer:
            body = await answer.read()
            assert answer.status == 200, f"{url}: {answer.status}"  # noqa: PLR2004 (RFC 9110)
        times.append(time.perf_counter() - begin)
    return Opened(name, median(times[1:]) * 1000, len(body), len(gzip.compress(body)))
