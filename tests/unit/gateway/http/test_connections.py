"""Connections: whoever is too slow is let go; whoever speaks no HTTP is told so, quietly.

These tests also pin the private parts of aiohttp that `connections` leans on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

import pytest
import pytest_asyncio
from aiohttp.web_protocol import RequestHandler

from tests.unit.gateway.http.house import QUICK, House, house

HEAD = "POST /v1/threads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
JSON = "Content-Type: application/json\r\n"


@pytest_asyncio.fixture
async def quick() -> AsyncIterator[House]:
    """A house with short deadlines, where nothing runs."""
    async with house(QUICK, works=False) as opened:
        yield opened


class Line:
    """A connection by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.opened_at = time.monotonic()

    async def send(self, text: str) -> None:
        """Send something, as far as it goes."""
        self.writer.write(text.encode())
        await self.writer.drain()

    async def rest(self, within: float = 3.0) -> str:
        """Give everything that comes until the other side closes."""
        async with asyncio.timeout(within):
            return (await self.reader.read()).decode()

    @property
    def age(self) -> float:
        """How long it has been open."""
        return time.monotonic() - self.opened_at


Dial: TypeAlias = Callable[[House], Awaitable[Line]]


@pytest_asyncio.fixture
async def dial() -> AsyncIterator[Dial]:
    """Give a way to open connections; they are closed after the test."""
    lines: list[Line] = []

    async def open_line(opened: House) -> Line:
        lines.append(Line(*await asyncio.open_connection("127.0.0.1", opened.port)))
        return lines[-1]

    yield open_line
    for line in lines:
        line.writer.close()
        await asyncio.gather(line.writer.wait_closed(), return_exceptions=True)


def head(opened: House, rest: str = JSON) -> str:
    """Begin a launch, with a key."""
    return HEAD.format(key=opened.keys["admin"]) + rest


@pytest.mark.parametrize("sent", ["", "GET", "GET /healthz HTTP/1.1\r\nHost: x\r\n"])
async def test_headers_that_never_end_are_given_up(quick: House, dial: Dial, sent: str) -> None:
    """Also when nothing was sent at all."""
    line = await dial(quick)
    await line.send(sent)

    assert await line.rest() == ""
    assert 0.2 < line.age < 2


async def test_a_trickle_of_headers_does_not_keep_a_connection_open(
    quick: House, dial: Dial
) -> None:
    """The deadline is for all of them, not for each byte: that is what slowloris plays on."""
    line = await dial(quick)
    await line.send("GET /healthz HTTP/1.1\r\n")
    with suppress(ConnectionError):
        while not line.reader.at_eof() and line.age < 3:
            await line.send("X-A: b\r\n")
            await asyncio.sleep(0.05)

    assert line.age < 2


async def test_the_second_request_of_a_connection_has_the_same_deadline(
    quick: House, dial: Dial
) -> None:
    """Counted from its first byte: a connection may be idle in between."""
    line = await dial(quick)
    await line.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    await line.reader.readuntil(b'{"status":"ok"}')
    await asyncio.sleep(QUICK.header_deadline * 2)
    await line.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    await line.reader.readuntil(b'{"status":"ok"}')
    await line.send("GET /healthz HTTP/1.1\r\n")

    assert await line.rest() == ""


async def test_a_body_that_stops_is_told_408_and_closed(quick: House, dial: Dial) -> None:
    """The rest is not waited for, not even to be thrown away."""
    line = await dial(quick)
    await line.send(head(quick, JSON + 'Content-Length: 50\r\n\r\n{"agent":'))
    answer = await line.rest()

    assert answer.startswith("HTTP/1.1 408 ")
    assert "/problems/too-slow" in answer
    assert line.age < 2


async def test_a_trickled_body_is_told_408(quick: House, dial: Dial) -> None:
    """A byte now and then is not a decent pace."""
    line = await dial(quick)
    await line.send(head(quick, JSON + "Content-Length: 5000\r\n\r\n"))

    async def trickle() -> None:
        while True:
            await line.send(" ")
            await asyncio.sleep(0.05)

    trickling = asyncio.ensure_future(trickle())
    assert (await line.reader.readline()).startswith(b"HTTP/1.1 408 ")
    trickling.cancel()
    await asyncio.gather(trickling, return_exceptions=True)
    assert line.age < 2


async def test_a_slow_but_steady_body_is_taken(dial: Dial) -> None:
    """Whoever sends at `body_rate` may take longer than the deadline."""
    async with house(replace(QUICK, body_rate=100), works=False) as opened:
        line = await dial(opened)
        body = json.dumps({"agent": "support", "text": "x" * 60})
        await line.send(head(opened, JSON + f"Content-Length: {len(body)}\r\n\r\n"))
        for start in range(0, len(body), 10):
            await line.send(body[start : start + 10])
            await asyncio.sleep(0.07)

        assert (await line.reader.readline()).startswith(b"HTTP/1.1 201 ")
        assert line.age > QUICK.body_deadline * 1.5


async def test_a_stranger_is_told_401_before_any_body_is_read(quick: House, dial: Dial) -> None:
    """Neither 100 Continue nor a byte of patience for somebody without a key."""
    line = await dial(quick)
    await line.send(
        "POST /v1/threads HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\nExpect: 100-continue\r\n\r\n"
    )

    assert (await line.reader.readline()).startswith(b"HTTP/1.1 401 ")


async def test_whoever_asks_first_is_told_to_go_on(quick: House, dial: Dial) -> None:
    """100 Continue, once the claims in the headers are fine; too large is refused unsent."""
    body = json.dumps({"agent": "support", "text": "x"})
    expect = JSON + "Expect: 100-continue\r\nContent-Length: "
    line = await dial(quick)
    await line.send(head(quick, f"{expect}{len(body)}\r\n\r\n"))
    assert await line.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    await line.send(body)
    assert (await line.reader.readline()).startswith(b"HTTP/1.1 201 ")

    other = await dial(quick)
    await other.send(head(quick, f"{expect}99999999\r\n\r\n"))
    assert (await other.reader.readline()).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "sent",
    [
        "nonsense\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nbad header\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nX: " + "a" * 20_000 + "\r\n\r\n",
        "POST /v1/threads HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00",
    ],
    ids=lambda sent: repr(sent[:40]),
)
async def test_what_is_no_http_is_told_so_without_a_traceback(
    quick: House, dial: Dial, sent: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A problem as any other, closed at once, and no line in aiohttp's own log."""
    line = await dial(quick)
    with caplog.at_level(logging.DEBUG, logger="aiohttp.server"):
        await line.send(sent)
        answer = await line.rest()

    assert answer.startswith(("HTTP/1.1 400 ", "HTTP/1.0 400 "))
    assert "application/problem+json" in answer
    assert "/problems/malformed-request" in answer
    assert "X-Request-Id" in answer
    assert not [record for record in caplog.records if record.name == "aiohttp.server"]


async def test_a_broken_chunk_is_the_senders_fault(quick: House, dial: Dial) -> None:
    """400, not 500."""
    line = await dial(quick)
    await line.send(head(quick, JSON + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"))

    assert (await line.rest())[:13] in {"HTTP/1.0 400 ", "HTTP/1.1 400 "}


async def test_a_chunk_that_breaks_later_is_the_senders_fault_too(quick: House, dial: Dial) -> None:
    """Also when the body is being read already: aiohttp then leaves us waiting, in vain."""
    line = await dial(quick)
    chunked = "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    await line.send(head(quick, JSON + chunked))
    await line.reader.readuntil(b"100 Continue\r\n\r\n")
    await line.send("zz\r\n")
    answer = await line.rest()

    assert answer.startswith(("HTTP/1.1 400 ", "HTTP/1.1 408 "))
    assert "application/problem+json" in answer


async def test_a_client_that_leaves_mid_body_is_no_error(
    quick: House, dial: Dial, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is nobody's bug, so nothing is logged as one; the next is served."""
    line = await dial(quick)
    await line.send(head(quick, JSON + "Content-Length: 50\r\n\r\n{"))
    line.writer.close()
    await line.writer.wait_closed()
    await asyncio.sleep(QUICK.body_deadline * 2)

    assert "failed" not in capsys.readouterr().out
    assert (await quick.call("GET", "/healthz")).status == 200


async def test_no_response_names_the_server(quick: House, dial: Dial) -> None:
    """Which software, and which version, is nobody's business."""
    line = await dial(quick)
    await line.send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    well = await line.rest()
    other = await dial(quick)
    await other.send("nonsense\r\n\r\n")

    for answer in (well, await other.rest()):
        assert "server:" not in answer.lower()
        assert "aiohttp" not in answer.lower()


def test_what_we_lean_on_in_aiohttp_is_still_there() -> None:
    """Private attributes: if a new version renames one, this says so first."""
    assert {"_waiter", "_request_count", "_lingering_time"} <= set(RequestHandler.__slots__)
