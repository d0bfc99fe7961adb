"""Launching threads and reading them over HTTP: real sockets, engine and store included."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest_asyncio

from tests.unit.gateway.http.house import QUICK, House, house

HELLO = {"agent": "support", "text": "hello"}


@pytest_asyncio.fixture
async def busy() -> AsyncIterator[House]:
    """A house that works."""
    async with house() as opened:
        yield opened


@pytest_asyncio.fixture
async def idle() -> AsyncIterator[House]:
    """A house where threads stay queued."""
    async with house(works=False) as opened:
        yield opened


async def test_a_launch_is_created_at_once_and_can_be_found(idle: House) -> None:
    """201, with where it is; a list and the thread itself tell the same."""
    launched = await idle.call(
        "POST", "/v1/threads", {**HELLO, "metadata": {"order": 7}}, key="launch"
    )
    thread = launched.json
    shown = await idle.call("GET", launched.headers["Location"], key="read")
    listed = await idle.call("GET", "/v1/threads?status=queued&agent=support", key="read")

    assert launched.status == 201
    assert (thread["agent"], thread["status"], thread["requester"]) == (
        "support",
        "queued",
        "launch",
    )
    assert thread["metadata"] == {"order": 7}
    assert shown.json == thread
    assert listed.json == {"items": [thread], "next_cursor": None}


async def test_a_pipeline_waits_for_the_outcome_in_one_call(busy: House) -> None:
    """`?wait=` gives the thread as soon as it rests, not when the time is over."""
    started = time.monotonic()
    thread = await busy.launch("hello", wait=30)

    assert (thread["status"], thread["result"]) == ("finished", "done: hello")
    assert time.monotonic() - started < 10


async def test_a_wait_that_is_over_shows_the_thread_as_it_is(idle: House) -> None:
    """That is no error: the caller may ask again."""
    launched = await idle.call("POST", "/v1/threads?wait=0.1", HELLO)
    again = await idle.call("GET", f"/v1/threads/{launched.json['id']}?wait=0.1")

    assert (launched.status, launched.json["status"]) == (201, "queued")
    assert (again.status, again.json["status"]) == (200, "queued")


async def test_a_long_wait_is_cut_to_what_the_server_allows() -> None:
    """Whoever asks for an hour gets an answer all the same."""
    async with house(replace(QUICK, wait_cap=0.1), works=False) as opened:
        assert (await opened.call("POST", "/v1/threads?wait=3600", HELLO)).status == 201


async def test_a_launch_repeated_with_its_key_gives_the_same_thread(idle: House) -> None:
    """With another body it is a conflict; another caller's key is another key."""
    key = {"Idempotency-Key": "order-7"}
    first = await idle.call("POST", "/v1/threads", HELLO, headers=key)
    second = await idle.call("POST", "/v1/threads", HELLO, headers=key)
    other = await idle.call("POST", "/v1/threads", {**HELLO, "text": "bye"}, headers=key)
    stranger = await idle.call("POST", "/v1/threads", HELLO, headers=key, key="launch")

    assert (first.status, second.status, stranger.status) == (201, 200, 201)
    assert first.json["id"] == second.json["id"] != stranger.json["id"]
    assert (other.status, other.problem) == (409, "idempotency-conflict")
    assert len((await idle.call("GET", "/v1/threads")).json["items"]) == 2


async def test_launches_at_the_same_moment_with_one_key_make_one_thread(idle: House) -> None:
    """A client that gave up and tried again may overlap with itself."""
    key = {"Idempotency-Key": "order-8"}
    answers = await asyncio.gather(
        *(idle.call("POST", "/v1/threads", HELLO, headers=key) for _ in range(10))
    )

    assert len({answer.json["id"] for answer in answers}) == 1
    assert sorted(answer.status for answer in answers) == [200] * 9 + [201]


async def test_a_thread_key_takes_up_the_thread_that_is_there(busy: House) -> None:
    """A later event of the same pipeline speaks to the same thread."""
    keyed = {**HELLO, "thread_key": "repo/1"}
    first = await busy.call("POST", "/v1/threads?wait=20", keyed)
    second = await busy.call("POST", "/v1/threads?wait=20", {**keyed, "text": "again"})

    assert (first.status, second.status) == (201, 200)
    assert first.json["id"] == second.json["id"]


async def test_an_unknown_agent_is_told_which_there_are(idle: House) -> None:
    """404, and nothing was launched."""
    answer = await idle.call("POST", "/v1/threads", {**HELLO, "agent": "nobody"})

    assert (answer.status, answer.problem) == (404, "not-found")
    assert "support" in answer.json["detail"]


async def test_a_message_repeated_with_its_key_is_said_once(busy: House) -> None:
    """As with a launch."""
    thread = (await busy.launch())["id"]
    for _ in range(2):
        said = await busy.call(
            "POST",
            f"/v1/threads/{thread}/messages",
            {"text": "more"},
            headers={"Idempotency-Key": "m1"},
        )
        assert said.status == 200
    await busy.call("GET", f"/v1/threads/{thread}?wait=20")
    events = (await busy.call("GET", f"/v1/threads/{thread}/events")).json["items"]

    assert [one["text"] for one in events if one["type"] == "MessageReceived"] == ["hello", "more"]


async def test_a_list_is_read_page_by_page(idle: House) -> None:
    """Each thread once, newest first, also while more come."""
    made = [(await idle.call("POST", "/v1/threads", HELLO)).json["id"] for _ in range(5)]
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await idle.call("GET", f"/v1/threads?limit=2&cursor={cursor}")).json
        seen += [thread["id"] for thread in page["items"]]
        cursor = page["next_cursor"]
        await idle.call("POST", "/v1/threads", HELLO)

    assert len(seen) == len(set(seen)) == 5
    assert set(seen) == set(made)


async def test_a_log_is_read_piece_by_piece(busy: House) -> None:
    """`next_cursor` is what `after` takes; at the end there is none."""
    thread = (await busy.launch())["id"]
    where = f"/v1/threads/{thread}/events"
    whole = (await busy.call("GET", where)).json
    first = (await busy.call("GET", f"{where}?limit=3")).json
    rest = (await busy.call("GET", f"{where}?limit=3&after={first['next_cursor']}")).json

    assert whole["next_cursor"] is None
    assert first["items"] + rest["items"] == whole["items"]
    assert [event["seq"] for event in whole["items"]] == [1, 2, 3, 4]
