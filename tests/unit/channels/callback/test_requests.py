"""One request: what a receiver can do to us, which is nothing, and how long it may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from channels.callback.addresses import Target, parse_target
from channels.callback.allowing import AllowList, parse_allowance
from channels.callback.guard import Guard
from channels.callback.requests import Outcome, Requests

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw_server(said: bytes, *, then: Serve | None = None) -> AsyncIterator[Target]:
    """Say these very bytes to whoever comes, whatever they want."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        try:
            if then is not None:
                await then(reader, writer)
            await writer.drain()
        except ConnectionError:
            pass
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield parse_target(f"http://127.0.0.1:{port}/")


async def post(target: Target, seconds: float = 5.0) -> Outcome:
    """Send something there."""
    guard = Guard(AllowList([parse_allowance("127.0.0.1")]))
    return await Requests(guard, seconds).post(target, {"X": "y"}, b"{}")


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204),
        (b"HTTP/1.1 301 Gone\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", 301),
        (b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", 410),
        (b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n", 200),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nnot", 200),
        (b"\x00\xff nonsense\r\n\r\n", 0),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", 0),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n", 0),
        (b"", 0),
    ],
)
async def test_whatever_is_answered_becomes_an_outcome(said: bytes, status: int) -> None:
    """Nothing that a receiver says raises anything."""
    async with raw_server(said) as target:
        outcome = await post(target)

    assert outcome.status == status, outcome
    assert outcome.is_taken == (200 <= status < 300)
    assert outcome.is_taken != bool(outcome.why)
    assert "127.0.0.1" not in outcome.why


async def test_an_answer_without_an_end_is_cut_off() -> None:
    """64 KB are read, and no more."""
    written = 0

    async def flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        while written < 50_000_000:
            writer.write(b"x" * 65_536)
            written += 65_536
            await writer.drain()

    async with raw_server(b"HTTP/1.1 200 OK\r\n\r\n", then=flood) as target:
        outcome = await post(target)

    assert outcome.is_taken
    assert written < 50_000_000


async def test_silence_ends_at_the_deadline() -> None:
    """However slowly somebody answers, all of it together has so long."""
    over = asyncio.Event()

    async def drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for letter in b"HTTP/1.1 200 OK":
            writer.write(bytes([letter]))
            await writer.drain()
        await over.wait()

    async with raw_server(b"", then=drip) as target:
        outcome = await post(target, seconds=0.2)
        over.set()

    assert outcome == Outcome(why="no answer within 0 seconds")


@pytest.mark.parametrize(
    ("header", "wished"),
    [
        (b"120", 120.0),
        (b"soon", None),
        (b"-5", None),
        (b"", None),
        (b"Fri, 31 Dec 1999 23:59:59 GMT", -1.0),
    ],
)
async def test_retry_after_is_read_with_429_and_503_alone(
    header: bytes, wished: float | None
) -> None:
    """Seconds or a date; what can't be read is no wish."""
    head = b"\r\nRetry-After: " + header + b"\r\nContent-Length: 0\r\n\r\n"
    async with raw_server(b"HTTP/1.1 503 Busy" + head) as busy:
        asked = (await post(busy)).wished
    async with raw_server(b"HTTP/1.1 500 Broken" + head) as broken:
        assert (await post(broken)).wished is None

    assert asked == wished or (wished == -1.0 and asked is not None and asked < 0)


async def test_nobody_there_is_an_outcome_too() -> None:
    """A port where nobody listens."""
    async with raw_server(b"") as target:
        pass

    outcome = await post(target)

    assert (outcome.status, outcome.why) == (0, "no connection: ConnectionRefusedError")


async def test_host_that_hangs_takes_one_hand_only_until_it_answers() -> None:
    """Many messages for it must not keep the messages for others waiting."""
    now, is_awake, came = 0.0, False, 0

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal came
        came += 1
        if is_awake:
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            await reader.read()  # until they have had enough

    guard = Guard(AllowList([parse_allowance("127.0.0.1")]))
    requests = Requests(guard, 1.0, clock=lambda: now)
    async with (
        raw_server(b"", then=hang) as target,
        raw_server(b"HTTP/1.1 200 OK\r\n\r\n") as other,
    ):
        first = await requests.post(target, {}, b"{}")
        rest = await asyncio.gather(*(requests.post(target, {}, b"{}") for _ in range(50)))
        assert (await requests.post(other, {}, b"{}")).is_taken
        asked, is_awake = came, True
        healed = [await requests.post(target, {}, b"{}")]
        healed += await asyncio.gather(*(requests.post(target, {}, b"{}") for _ in range(5)))

    assert first.why == "no answer within 1 seconds"
    assert (
        sorted(one.why for one in rest).count("the host hangs: another message is tried first")
        == 49
    )
    assert asked == 2
    assert [one.status for one in healed] == [204] * 6


async def test_host_that_hung_a_while_ago_is_as_any_other() -> None:
    """After a minute they are all tried again."""
    now, came = 0.0, 0

    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        nonlocal came
        came += 1
        await reader.read()

    guard = Guard(AllowList([parse_allowance("127.0.0.1")]))
    requests = Requests(guard, 0.3, clock=lambda: now)
    async with raw_server(b"", then=hang) as target:
        await requests.post(target, {}, b"{}")
        now = 61.0
        await asyncio.gather(*(requests.post(target, {}, b"{}") for _ in range(3)))

    assert came == 4
