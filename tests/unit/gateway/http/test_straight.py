"""Calls on fixed paths need no router, and their responses none of aiohttp's: nobody can tell."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp.test_utils import make_mocked_request
from structlog.testing import capture_logs

from gateway.http.responses import Ready, Reply, reply_response
from tests.unit.gateway.http.house import QUICK, House, house

LAUNCH = b'{"agent": "support", "text": "hello"}'
DIFFERENT = {"x-request-id", "date", "location", "content-length"}
"""Headers that differ from one answer to the next."""
OWN = {"id", "instance", "origin", "created_at", "updated_at"}
CASES: dict[str, tuple[bytes, tuple[str, ...], str]] = {
    "launched": (LAUNCH, (), "admin"),
    "with metadata": (b'{"agent": "support", "text": "x", "metadata": {"a": [1]}}', (), "admin"),
    "escaped": (b'{"agent": "support", "text": "\\u00fc"}', (), "admin"),
    "nul": (b'{"agent": "support", "text": "\\u0000"}', (), "admin"),
    "not json": (b'{"agent": NaN}', (), "admin"),
    "a list": (b"[1]", (), "admin"),
    "misfit": (b'{"agent": 5, "more": 1}', (), "admin"),
    "nothing": (b"", (), "admin"),
    "no such agent": (b'{"agent": "nobody", "text": "x"}', (), "admin"),
    "wrong key": (LAUNCH, (), "nonsense"),
    "two keys": (LAUNCH, ("Authorization: Bearer x",), "admin"),
    "wrong scope": (LAUNCH, (), "read"),
    "bad idempotency key": (LAUNCH, ("Idempotency-Key: a b",), "launch"),
    "encoded": (LAUNCH, ("Content-Encoding: gzip",), "admin"),
    "own request id": (LAUNCH, ("X-Request-Id: mine-1",), "admin"),
    "bad request id": (LAUNCH, ("X-Request-Id: not mine",), "admin"),
    "to be closed": (LAUNCH, ("Connection: close",), "admin"),
}


@pytest_asyncio.fixture
async def idle() -> AsyncIterator[House]:
    """A house where nothing runs."""
    async with house(QUICK, works=False) as opened:
        yield opened


async def ask(opened: House, line: str, body: bytes, *more: str, key: str = "admin") -> list[Any]:
    """Send a request by hand: give the first line, the headers, the body, and whether it closed."""
    heads = [
        line,
        "Host: x",
        f"Authorization: Bearer {opened.keys.get(key, key)}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *more,
    ]
    reader, writer = await asyncio.open_connection("127.0.0.1", opened.port)
    try:
        writer.write("\r\n".join([*heads, "", ""]).encode() + body)
        async with asyncio.timeout(5):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
            pairs = [tuple(one.split(": ", 1)) for one in lines if one]
            headers = {name.lower(): value for name, value in pairs}
            assert len(headers) == len(pairs)
            length = 0 if line.startswith("HEAD") else int(headers["content-length"])
            return [first, headers, await reader.readexactly(length)]
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("case", CASES)
async def test_the_answer_is_that_which_the_router_leads_to(idle: House, case: str) -> None:
    """Status, headers and body. A `?` at the end of a path means nothing, and needs the router."""
    body, more, key = CASES[case]
    straight = await ask(idle, "POST /v1/threads HTTP/1.1", body, *more, key=key)
    routed = await ask(idle, "POST /v1/threads? HTTP/1.1", body, *more, key=key)

    assert straight[0] == routed[0]
    assert straight[1].keys() == routed[1].keys()
    assert same(straight[1], DIFFERENT) == same(routed[1], DIFFERENT)
    assert same(json.loads(straight[2]), OWN) == same(json.loads(routed[2]), OWN)


def same(told: dict[str, Any], but: set[str]) -> dict[str, Any]:
    """Leave out what differs each time."""
    return {name: value for name, value in told.items() if name not in but}


@pytest.mark.parametrize(
    ("line", "more"),
    [
        ("GET /healthz HTTP/1.0", ()),
        ("GET /healthz HTTP/1.0", ("Connection: keep-alive",)),
        ("GET /healthz HTTP/1.1", ("Connection: close",)),
        ("HEAD /healthz HTTP/1.1", ()),
    ],
)
async def test_unusual_requests_get_the_same_headers_and_what_they_need(
    idle: House, line: str, more: tuple[str, ...]
) -> None:
    """The version they speak, no body for HEAD, and a word about the connection."""
    usual = await ask(idle, "GET /healthz HTTP/1.1", b"")
    unusual = await ask(idle, line, b"", *more)

    about = {"connection", *DIFFERENT}
    _, _, version = line.split()
    assert unusual[0] == f"{version} 200 OK"
    assert same(unusual[1], about) == same(usual[1], about)
    assert unusual[1]["content-length"] == usual[1]["content-length"]
    expected = {"GET /healthz HTTP/1.0": "keep-alive", "GET /healthz HTTP/1.1": "close"}
    assert unusual[1].get("connection") == (expected.get(line) if more else None)


async def test_the_log_and_the_figures_tell_the_same_of_both(idle: House) -> None:
    """The route as declared, the key, the status."""
    with capture_logs() as lines:
        await ask(idle, "POST /v1/threads HTTP/1.1", LAUNCH)
        await ask(idle, "POST /v1/threads? HTTP/1.1", LAUNCH)
    figures = (await idle.call("GET", "/metrics", key="")).text

    straight, routed = (same(dict(line), {"ms"}) for line in lines if line["event"] == "request")
    assert straight == routed
    assert straight["route"] == "/v1/threads"
    labels = 'method="POST",route="/v1/threads",status="201"'
    assert f"parley_http_requests_total{{{labels}}} 2.0" in figures


def test_a_line_break_in_a_header_is_never_sent() -> None:
    """It would be a header more, or a second response."""
    request = make_mocked_request("GET", "/")
    for value in ("/a\r\nSet-Cookie: b", "/a\nb"):
        with pytest.raises(ValueError, match="line break"):
            reply_response(Reply(text="x", headers={"Location": value}), request, "req_1")


def test_a_page_that_has_a_policy_of_its_own_keeps_it() -> None:
    """One header of a name, and it is the page's."""
    own = {"Content-Security-Policy": "default-src 'self'"}
    request = make_mocked_request("GET", "/")
    plain = reply_response(Reply(text="x"), request, "req_1")
    page = reply_response(Reply(text="x", headers=own), request, "req_1")

    assert isinstance(plain, Ready)
    assert page.headers.getall("Content-Security-Policy") == ["default-src 'self'"]
    assert page.headers["X-Content-Type-Options"] == "nosniff"
