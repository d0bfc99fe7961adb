"""Launching: keys that find the thread again, waiting in one call, back-pressure. Over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_core import Agent, HandDrivenWorld, ScriptedModel, call, calls, contact_human, says
from tests.doubles.stage import echo
from tests.scenario.gateway.premises import KINDS, in_file, in_memory, premises

KIND = pytest.mark.parametrize("kind", KINDS)
HELLO = {"agent": "agent", "text": "hello"}


def echoing() -> Agent:
    """Make an agent that says what was said last."""
    return Agent("agent", model=ScriptedModel(echo))


@KIND
async def test_thread_key_resumes_the_same_thread(kind: str, tmp_path: Path) -> None:
    """A later event of the same pipeline is a message in the thread of the first."""
    async with premises(KINDS[kind](tmp_path), echoing()) as here:
        first = await here.call("POST", "/v1/threads?wait=20", {**HELLO, "thread_key": "ci/7"})
        again = await here.call(
            "POST", "/v1/threads?wait=20", {**HELLO, "text": "red again", "thread_key": "ci/7"}
        )
        other = await here.call("POST", "/v1/threads?wait=20", {**HELLO, "thread_key": "ci/8"})

    assert (first.status, again.status, other.status) == (201, 200, 201)
    assert first.json["id"] == again.json["id"] != other.json["id"]
    assert (again.json["status"], again.json["result"]) == ("finished", "you said red again")


@KIND
async def test_launches_at_once_with_one_thread_key_make_one_thread(
    kind: str, tmp_path: Path
) -> None:
    """Whoever comes second says it in the thread that the first began; nothing is lost."""
    async with premises(KINDS[kind](tmp_path), echoing(), works=False) as here:
        bodies = [{**HELLO, "text": f"text {n}", "thread_key": "ci/7"} for n in range(10)]
        told = await asyncio.gather(*(here.call("POST", "/v1/threads", body) for body in bodies))
        (thread,) = {one.json["id"] for one in told}
        said = [e["text"] for e in await here.log(thread) if e["type"] == "MessageReceived"]

    assert sorted(one.status for one in told) == [200] * 9 + [201]
    assert sorted(said) == [f"text {n}" for n in range(10)]


@KIND
async def test_idempotency_key_gives_the_same_thread_and_refuses_another_body(
    kind: str, tmp_path: Path
) -> None:
    """Also when the copies come at once; the key belongs to whoever used it."""
    key = {"Idempotency-Key": "once"}
    async with premises(KINDS[kind](tmp_path), echoing()) as here:
        told = await asyncio.gather(
            *(here.call("POST", "/v1/threads", HELLO, headers=key) for _ in range(8))
        )
        (thread,) = {one.json["id"] for one in told}
        other = await here.call("POST", "/v1/threads", {**HELLO, "text": "bye"}, headers=key)
        theirs = await here.call("POST", "/v1/threads", HELLO, headers=key, key="launch")
        await here.rested(thread)
        types = await here.types(thread)

    assert sorted(one.status for one in told) == [200] * 7 + [201]
    assert (other.status, other.problem) == (409, "idempotency-conflict")
    assert (theirs.status, theirs.json["id"] != thread) == (201, True)
    assert types.count("MessageReceived") == 1


async def test_launch_with_both_keys_is_said_once(tmp_path: Path) -> None:
    """Repeated with its Idempotency-Key, it is no second message to the thread of its key."""
    body, key = {**HELLO, "thread_key": "ci/7"}, {"Idempotency-Key": "once"}
    async with premises(in_file(tmp_path), echoing()) as here:
        first = await here.call("POST", "/v1/threads?wait=20", body, headers=key)
        again = await here.call("POST", "/v1/threads?wait=20", body, headers=key)
        types = await here.types(first.json["id"])

    assert (first.status, again.status) == (201, 200)
    assert types.count("MessageReceived") == 1


async def test_wait_comes_back_with_the_outcome_or_the_question(tmp_path: Path) -> None:
    """At rest means: finished, or waiting for people; and never longer than asked for."""
    asking = calls(call("contact_human", question="Which?"))
    asker = Agent("asker", tools=[contact_human], model=ScriptedModel([asking, says("done")]))
    async with premises(in_file(tmp_path), echoing(), asker) as here:
        done = await here.call("POST", "/v1/threads?wait=20", HELLO)
        asked = await here.call("POST", "/v1/threads?wait=20", {**HELLO, "agent": "asker"})
        thread = asked.json["id"]
        waiting = asyncio.create_task(here.call("GET", f"/v1/threads/{thread}?wait=20"))
        await here.answer(asked.json["questions"][0]["id"], "blue")
        await waiting
        end = await here.rested(thread)
        await here.stop()
        unserved = await here.call("POST", "/v1/threads?wait=0.05", HELLO)

    assert (done.status, done.json["result"]) == (201, "you said hello")
    assert (asked.json["status"], end["result"]) == ("waiting", "done")
    assert (unserved.status, unserved.json["status"]) == (201, "queued")


@KIND
async def test_full_queue_is_said_so_before_it_grows(kind: str, tmp_path: Path) -> None:
    """429 with Retry-After for new threads; those that are there still take messages."""
    clock = HandDrivenWorld()
    async with premises(
        KINDS[kind](tmp_path), echoing(), works=False, most_queued=3, world=clock.world
    ) as here:
        threads = [await here.launch() for _ in range(3)]
        full = await here.call("POST", "/v1/threads", HELLO)
        said = await here.tell(threads[0], "messages", {"text": "still there?"})
        listed = (await here.call("GET", "/v1/threads?status=queued")).json["items"]
        await here.start()
        for thread in threads:
            await here.rested(thread)
        clock.pass_time(5)
        again = await here.call("POST", "/v1/threads?wait=20", HELLO)

    assert (full.status, full.problem, full.headers["Retry-After"]) == (429, "too-busy", "5")
    assert said.status == 200
    assert {one["id"] for one in listed} == set(threads)
    assert (again.status, again.json["status"]) == (201, "finished")


async def test_launches_while_nothing_works_are_all_done_afterwards(tmp_path: Path) -> None:
    """What was acknowledged is there after a restart, also of the store."""
    async with premises(in_file(tmp_path), echoing(), works=False) as here:
        threads = [await here.launch(text=f"text {n}") for n in range(30)]
    async with premises(in_file(tmp_path), echoing()) as here:
        done = [await here.rested(thread) for thread in threads]

    assert [one["result"] for one in done] == [f"you said text {n}" for n in range(30)]


async def test_unknown_agent_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    """404, and nothing is kept."""
    async with premises(in_memory(tmp_path), echoing()) as here:
        refused = await here.call("POST", "/v1/threads", {**HELLO, "agent": "nobody"})
        listed = (await here.call("GET", "/v1/threads")).json["items"]

    assert (refused.status, refused.problem, listed) == (404, "not-found", [])
    assert "the agents are: agent" in refused.json["detail"]
