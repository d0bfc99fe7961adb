"""The log as a stream: what is there, what comes, and how it ends."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import pytest

from agent_core.thread.events import Millis
from gateway.control.local import LocalGateway
from gateway.control.views import EventView
from gateway.http.options import HttpOptions
from storage.errors import StoreUnreachable
from tests.unit.gateway.http.house import QUICK, House, house

STREAM = {"Accept": "text/event-stream"}


@dataclass
class Stream:
    """A stream as its reader sees it."""

    response: aiohttp.ClientResponse
    comments: list[str] = field(default_factory=list)

    async def line(self) -> str | None:
        """Give the next line, or None at the end."""
        async with asyncio.timeout(5):
            raw = await self.response.content.readline()
        return raw.decode().removesuffix("\n") if raw else None

    async def event(self) -> dict[str, str]:
        """Give the next event's fields; `{}` at the end."""
        fields: dict[str, str] = {}
        while (line := await self.line()) is not None:
            if line.startswith(":"):
                self.comments.append(line)
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                return fields
        return {}

    async def until(self, kind: str) -> list[dict[str, str]]:
        """Give the events up to the first of that type."""
        events = [await self.event()]
        while events[-1] and events[-1]["event"] != kind:
            events.append(await self.event())
        return events


@asynccontextmanager
async def streaming(
    opened: House, thread: str, query: str = "", key: str = "admin", **headers: str
) -> AsyncIterator[Stream]:
    """Open a stream of a thread's events."""
    url = f"{opened.url}/v1/threads/{thread}/events{query}"
    sent = {**STREAM, **opened.bearer(key), **headers}
    async with opened.session.get(url, headers=sent) as response:
        yield Stream(response)


async def test_a_stream_tells_what_is_there_and_then_what_comes() -> None:
    """Each event with its place as `id` and its type as `event`; the data is the event itself."""
    async with house() as opened:
        thread = (await opened.launch())["id"]
        async with streaming(opened, thread) as stream:
            there = await stream.until("ThreadFinished")
            await opened.call("POST", f"/v1/threads/{thread}/messages", {"text": "more"})
            came = await stream.until("ThreadFinished")
        listed = (await opened.call("GET", f"/v1/threads/{thread}/events")).json["items"]

    told = [*there, *came]
    assert stream.response.headers["Content-Type"] == "text/event-stream"
    assert [json.loads(event["data"]) for event in told] == listed
    assert [(int(event["id"]), event["event"]) for event in told] == [
        (one["seq"], one["type"]) for one in listed
    ]


@pytest.mark.parametrize(
    ("query", "headers"),
    [("?after=2", {}), ("", {"Last-Event-ID": "2"}), ("?after=1", {"Last-Event-ID": "2"})],
)
async def test_a_reader_that_was_cut_off_goes_on_after_the_last_it_saw(
    query: str, headers: dict[str, str]
) -> None:
    """`Last-Event-ID` is what a browser sends by itself, so it wins over the address."""
    async with house() as opened:
        thread = (await opened.launch())["id"]
        async with streaming(opened, thread, query, **headers) as stream:
            assert (await stream.event())["id"] == "3"


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 30, "0x10"])
async def test_a_last_event_id_that_is_none_is_refused(last: str) -> None:
    """As a problem, before the stream begins."""
    async with house(works=False) as opened:
        answer = await opened.call(
            "GET", "/v1/threads/x/events", headers={**STREAM, "Last-Event-ID": last}
        )

    assert (answer.status, answer.json["errors"][0]["at"]) == (422, "header.Last-Event-ID")


async def test_a_stream_of_nothing_is_a_problem_and_not_a_stream() -> None:
    """An unknown thread is 404, also here."""
    async with house(works=False) as opened:
        answer = await opened.call("GET", "/v1/threads/nope/events", headers=STREAM)

    assert (answer.status, answer.problem) == (404, "not-found")


async def test_a_quiet_stream_has_a_heart() -> None:
    """Comments keep proxies from closing it, and tell a reader when to come back."""
    async with house() as opened:
        thread = (await opened.launch())["id"]
        async with streaming(opened, thread, "?after=4") as stream:
            lines = [await stream.line() for _ in range(6)]

    assert lines == ["retry: 1000", "", ": still here", "", ": still here", ""]


async def test_streams_and_waits_end_at_once_when_the_server_stops() -> None:
    """They would hold the shutdown up for as long as anybody reads."""
    async with house(HttpOptions(), works=False) as opened:
        launched = await opened.call("POST", "/v1/threads", {"agent": "support", "text": "x"})
        thread = launched.json["id"]
        async with streaming(opened, thread) as stream:
            await stream.until("MessageReceived")
            waiting = asyncio.ensure_future(opened.call("GET", f"/v1/threads/{thread}?wait=60"))
            await asyncio.sleep(0.1)
            started = time.monotonic()
            await opened.runner.cleanup()

            assert await stream.event() == {}
            assert ((await waiting).status, (await waiting).json["status"]) == (200, "queued")
            assert time.monotonic() - started < 2


class Watched(LocalGateway):
    """A gateway that tells when a follower was let go."""

    let_go = asyncio.Event()

    async def follow(self, thread: str, *, after: int = 0) -> AsyncIterator[EventView]:
        """Follow, and tell at the end."""
        try:
            async for event in super().follow(thread, after=after):
                yield event
        finally:
            self.let_go.set()


async def test_a_reader_that_leaves_is_let_go_at_once() -> None:
    """Not at the next event, which may be a year away."""
    Watched.let_go = asyncio.Event()
    async with house(HttpOptions(), gateway=Watched) as opened:
        thread = (await opened.launch())["id"]
        async with streaming(opened, thread) as stream:
            await stream.until("ThreadFinished")
        async with asyncio.timeout(2):
            await Watched.let_go.wait()


async def test_a_stream_ends_when_its_key_is_revoked() -> None:
    """Nothing that happens later is told to it."""
    async with house(replace(QUICK, key_ttl=0.05)) as opened:
        thread = (await opened.launch())["id"]
        async with streaming(opened, thread, key="read") as stream:
            await stream.until("ThreadFinished")
            await opened.store.revoke_key(opened.rows["read"].id, now=Millis(1))

            assert await stream.event() == {}


async def test_a_key_has_only_so_many_streams() -> None:
    """A seat is free again when its reader has left."""
    async with house(replace(QUICK, streams_per_key=1)) as opened:
        thread = (await opened.launch())["id"]
        async with streaming(opened, thread) as stream:
            await stream.event()
            second = await opened.call("GET", f"/v1/threads/{thread}/events", headers=STREAM)
            assert (second.status, second.problem) == (429, "rate-limited")
            async with streaming(opened, thread, key="read") as other:
                assert (await other.event())["id"] == "1"


class Endless(LocalGateway):
    """A gateway whose log has large events without end, and counts those that were taken."""

    taken = 0
    let_go = asyncio.Event()

    async def follow(self, thread: str, *, after: int = 0) -> AsyncIterator[EventView]:
        """Give events for as long as they are taken."""
        first = (await self.events(thread, after=after))[0]
        try:
            while True:
                type(self).taken += 1
                yield first.model_copy(update={"text": "x" * 100_000})
        finally:
            self.let_go.set()


async def test_a_reader_that_does_not_read_is_not_filled_up_and_is_cut_off() -> None:
    """The next event is fetched when there is room for it; after a while we hang up."""
    Endless.taken, Endless.let_go = 0, asyncio.Event()
    async with house(gateway=Endless, works=False) as opened:
        launched = await opened.call("POST", "/v1/threads", {"agent": "support", "text": "x"})
        _, writer = await asyncio.open_connection("127.0.0.1", opened.port, limit=1)
        sent = f"GET /v1/threads/{launched.json['id']}/events HTTP/1.1\r\nHost: x\r\n"
        lines = {**STREAM, **opened.bearer()}
        writer.write((sent + "".join(f"{k}: {v}\r\n" for k, v in lines.items()) + "\r\n").encode())
        async with asyncio.timeout(5):
            await Endless.let_go.wait()
        assert Endless.taken < 500
        writer.transport.abort()


async def test_a_reader_that_pauses_and_reads_on_is_not_cut_off() -> None:
    """The deadline is for output that stands, not for the whole stream."""
    Endless.taken, Endless.let_go = 0, asyncio.Event()
    async with house(gateway=Endless, works=False) as opened:
        launched = await opened.call("POST", "/v1/threads", {"agent": "support", "text": "x"})
        async with streaming(opened, launched.json["id"]) as stream:
            for _ in range(4):
                await asyncio.sleep(QUICK.write_deadline * 0.6)
                await stream.response.content.readexactly(20_000_000)

    assert Endless.taken > 500


class Failing(LocalGateway):
    """A gateway whose store goes away in the middle of a stream."""

    async def follow(self, thread: str, *, after: int = 0) -> AsyncIterator[EventView]:
        """Give one event, then fail."""
        for event in await self.events(thread, after=after, limit=1):
            yield event
        raise StoreUnreachable("gone")


async def test_a_stream_that_can_not_go_on_ends_so_that_its_reader_comes_back() -> None:
    """There is no other way to tell, once it has begun."""
    async with house(gateway=Failing, works=False) as opened:
        launched: Any = await opened.call("POST", "/v1/threads", {"agent": "support", "text": "x"})
        async with streaming(opened, launched.json["id"]) as stream:
            assert (await stream.event())["id"] == "1"
            assert await stream.event() == {}
