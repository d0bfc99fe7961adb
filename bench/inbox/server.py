"""The server under measurement, in a process of its own: the inbox, and a bare page beside it.

Prints where they are; then commits an event to the long thread for each line that it reads, and
prints when that was done, by the clock that all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from aiohttp import web
from jinja2 import Environment

from agent_core.loop.world import World
from agent_core.thread.events import MessageReceived
from bench.inbox.shelf import LONG, stock
from gateway.http.options import HttpOptions
from storage.store import Store
from storage.urls import open_store
from storage.values import Commit
from tests.doubles.inbox_house import InboxHouse, inbox_house

_SESSIONS = 10
"""A session may have so many streams; five hundred viewers are several people."""


async def main(url: str, threads: int, events: int) -> None:
    """Stock the shelf, open both doors, and do what is asked."""
    store = open_store(url)
    await store.open()
    await stock(store, threads=threads, events=events, now=World().now())
    options = HttpOptions(requests_per_second=100_000, burst=100_000)
    await store.close()
    async with inbox_house(store=open_store(url), options=options, works=False) as house:
        bare = await _bare()
        keys = [await house.sign_in_with_key(f"boss{at}", "admin") for at in range(_SESSIONS)]
        _tell({"url": house.url, "bare": bare, "thread": LONG, "cookies": keys})
        await _obey(house)


async def _bare() -> str:
    """Serve an empty page of Jinja2 from aiohttp alone."""
    template = Environment(autoescape=True).from_string("<!doctype html><title>{{ title }}</title>")

    async def page(_request: web.Request) -> web.Response:
        return web.Response(text=template.render(title="empty"), content_type="text/html")

    app = web.Application()
    app.router.add_get("/", page)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}"


async def _obey(house: InboxHouse) -> None:
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        _tell({"at": await _commit(house.store)})


async def _commit(store: Store) -> float:
    now = World().now()
    said = MessageReceived(at=now, text="Is anybody there?", sender="ann")
    await store.commit(Commit(thread=LONG, events=[said], now=now))
    return time.monotonic()


def _tell(what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:4])))
