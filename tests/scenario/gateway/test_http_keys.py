"""Who may do what over HTTP, and how often."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest_asyncio

from agent_core.thread.events import Millis
from gateway.control.keys import SCOPES
from gateway.http.options import HttpOptions
from tests.unit.gateway.http.house import House, house

HELLO = {"agent": "support", "text": "hello"}


@pytest_asyncio.fixture
async def idle() -> AsyncIterator[House]:
    """A house where threads stay queued."""
    async with house(works=False) as opened:
        yield opened


MAY = {
    "POST /v1/threads": {"launch"},
    "GET /v1/threads": {"read"},
    "POST /v1/threads/import": set[str](),
    "GET /v1/threads/x": {"read"},
    "GET /v1/threads/x/events": {"read"},
    "GET /v1/threads/x/export": {"read"},
    "POST /v1/threads/x/messages": {"launch"},
    "POST /v1/threads/x/pause": {"control"},
    "POST /v1/threads/x/resume": {"control"},
    "POST /v1/threads/x/cancel": {"control"},
    "POST /v1/threads/x/retry": {"control"},
    "POST /v1/threads/x/fork": {"control"},
    "GET /v1/questions": {"read", "answer"},
    "GET /v1/questions/x": {"read", "answer"},
    "POST /v1/questions/x/answer": {"answer"},
    "GET /v1/halt": {"read", "control"},
    "PUT /v1/halt": {"control"},
    "DELETE /v1/halt": {"control"},
}


async def test_each_scope_opens_its_calls_and_no_others(idle: House) -> None:
    """403 names what is missing; `admin` opens all."""
    for call, allowed in MAY.items():
        method, path = call.split()
        for scope in SCOPES:
            answer = await idle.call(method, path, key=scope)
            if scope in {*allowed, "admin"}:
                assert answer.status in {200, 404, 422}, (call, scope)
            else:
                assert (answer.status, answer.problem) == (403, "missing-scope"), (call, scope)
                assert set(answer.json["missing_scope"]) == (allowed or {"admin"})


async def test_a_stranger_learns_nothing(idle: House) -> None:
    """What is there and what is not look the same without a key, or with a wrong one."""
    thread = (await idle.call("POST", "/v1/threads", HELLO)).json["id"]
    for key in ("", "pk_wrong"):
        told = []
        for path in (f"/v1/threads/{thread}", "/v1/threads/nope", "/v1/questions/nope?bad=1"):
            answer = await idle.call("GET", path, key=key)
            assert (answer.status, answer.problem) == (401, "unauthenticated")
            assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
            told.append({**answer.json, "instance": ""})
        assert told[0] == told[1] == told[2]


async def test_a_revoked_key_is_refused_within_a_second(idle: House) -> None:
    """Also one that was in use just now."""
    assert (await idle.call("GET", "/v1/threads", key="read")).status == 200
    await idle.store.revoke_key(idle.rows["read"].id, now=Millis(1))
    end = time.monotonic() + 1
    while (await idle.call("GET", "/v1/threads", key="read")).status == 200:
        assert time.monotonic() < end
        await asyncio.sleep(0.02)

    assert (await idle.call("GET", "/v1/threads", key="read")).status == 401


async def test_a_key_that_asks_too_often_is_told_to_wait_and_others_are_not() -> None:
    """Counted after the key is known: a stranger can't use up anybody's share."""
    async with house(HttpOptions(requests_per_second=0.5, burst=3), works=False) as opened:
        for _ in range(20):
            assert (await opened.call("GET", "/v1/threads", key="pk_wrong")).status == 401
        statuses = [(await opened.call("GET", "/v1/threads", key="read")).status for _ in range(3)]
        over = await opened.call("GET", "/v1/threads", key="read")
        other = await opened.call("GET", "/v1/threads")

    assert statuses == [200, 200, 200]
    assert (over.status, over.problem) == (429, "rate-limited")
    assert over.headers["Retry-After"] in {"1", "2"}
    assert other.status == 200
