"""Events by key, from the report to the resumed thread: over real sockets, on one machine and two.

The agent starts a deployment and waits for it; who reports its end knows nothing of the thread.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from agent_core import ModelReply, ModelRequest, ToolContext, call, calls, says, tool
from agent_core.thread.events import Millis, QuestionAnswered, QuestionAsked
from storage.sqlite import SqliteStore
from storage.store import Store
from tests.scenario.webhook.site import Site, site
from tests.unit.channels.webhook.sender import source
from tests.unit.gateway.workshop import ShakyStore

EVENT: dict[str, Any] = {
    "message": "",
    "when": "payload.deployment is defined",
    "event_key": "deploy/{{ payload.deployment.id }}",
    "event_value": "{'state': payload.state, 'by': payload.get('by', 'nobody')}",
}


@tool
async def deploy(ctx: ToolContext, number: int) -> str:
    """Start a deployment, and wait until it has ended."""
    await ctx.pause_for("event", {"prompt": f"Deployment {number}"}, key=f"deploy/{number}")


def deploys(request: ModelRequest) -> ModelReply:
    """Deploy what the message says; then tell what came back."""
    last = request.messages[-1]
    if last["role"] == "tool":
        return says(str(last["content"]))
    return calls(call("deploy", number=int(str(last["content"]).split()[-1])))


STAGE: dict[str, Any] = {"script": deploys, "tools": [deploy]}


async def launched(here: Site, number: int = 7, *, waits: bool = True) -> str:
    """Begin a thread that deploys, and see it wait."""
    answer = await here.sends({"text": f"deploy {number}"}, name="begin")
    thread = str(answer.json["thread"])
    if waits:
        await here.until(thread, "waiting")
    return thread


SOURCES = [source(name="begin"), source(name="cd", **EVENT)]
DONE = {"deployment": {"id": 7}, "state": "success"}


async def test_signed_webhook_resumes_the_thread_that_waits_for_its_key() -> None:
    """The log tells which source it was; nobody knew the thread."""
    async with site(SOURCES, **STAGE) as here:
        thread = await launched(here)
        told = await here.sends(DONE, name="cd")
        row = await here.until(thread, "finished")

        assert (told.status, told.json["effect"]) in [(202, "resumed"), (202, "kept")]
        assert "success" in row.summary["result"]
        log = await here.log(thread)
        (answered,) = [one for one in log if isinstance(one, QuestionAnswered)]
        assert (answered.by, answered.how) == ("event:deploy/7", "webhook cd (github)")
        assert answered.value == {"state": "success", "by": "nobody"}


async def test_event_that_comes_before_the_question_is_kept_for_it() -> None:
    """The deployment was faster than the agent."""
    async with site(SOURCES, **STAGE) as here:
        told = await here.sends(DONE, name="cd")
        thread = await launched(here, waits=False)
        row = await here.until(thread, "finished")

        assert (told.status, told.json) == (202, {"effect": "kept", "thread": None})
        assert "success" in row.summary["result"]


async def test_what_the_source_does_not_want_is_ignored() -> None:
    """Its condition does not hold: nothing is kept."""
    async with site(SOURCES, works=False) as here:
        told = await here.sends({"other": 1}, name="cd")

        assert (told.status, told.json["effect"]) == (200, "ignored")
        assert await here.store.kept("event", prefix="came:", now=Millis(0)) == []


async def test_forged_event_resumes_nobody() -> None:
    """The same 401 as for any other."""
    async with site(SOURCES, **STAGE) as here:
        thread = await launched(here)
        told = await here.sends(DONE, name="cd", x_hub_signature_256="sha256=00")

        assert told.status == 401
        await here.until(thread, "waiting")


async def test_api_takes_events_and_a_repeated_key_has_the_first_answer() -> None:
    """200 where a thread has it; the log names the key that reported it."""
    async with site(SOURCES, **STAGE) as here:
        early = await here.reports("deploy/8", {"state": "ok"}, idempotency_key="one")
        first = await launched(here, 7)
        second = await launched(here, 8, waits=False)
        await here.until(second, "finished")
        told = [
            await here.reports("deploy/7", {"n": 1}, idempotency_key=key) for key in ("a", "a", "b")
        ]
        other = await here.reports("deploy/7", {"n": 2}, idempotency_key="a")
        again = await here.reports("deploy/8", {"state": "ok"}, idempotency_key="one")
        await here.until(first, "finished")

        assert (early.status, early.json["effect"]) == (202, "kept")
        assert [(one.status, one.json["effect"]) for one in told] == [
            (200, "resumed"),
            (200, "resumed"),
            (202, "late"),
        ]
        assert told[0].json["thread_id"] == told[1].json["thread_id"] == first
        assert (other.status, again.json["thread_id"]) == (409, second)
        log = await here.log(first)
        (answered,) = [one for one in log if isinstance(one, QuestionAnswered)]
        assert answered.how == "api key deploys"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"key": "k", "value": [1]}, 422),
        ({"key": "", "value": {}}, 422),
        ({"key": " \t ", "value": {}}, 422),
        ({"key": "k" * 301}, 422),
        ({"value": {}}, 422),
        ({"key": "k", "value": {"big": "x" * 70_000}}, 422),
        ({"key": "k", "value": {"nul": "\x00"}}, 422),
        ({"key": "k"}, 202),
    ],
)
async def test_api_refuses_what_no_thread_could_take(body: Any, status: int) -> None:  # noqa: ANN401 (any JSON)
    """In words, and by its place."""
    async with site(SOURCES, works=False) as here:
        proof = {"Authorization": f"Bearer {here.key}"}
        url = f"{here.urls[0]}/v1/events"
        async with here.session.post(url, json=body, headers=proof) as response:
            assert (response.status, bool(await response.text())) == (status, True)


async def test_nobody_without_a_key_of_the_scope_reports_anything() -> None:
    """Events answer questions: the same scope."""
    async with site(SOURCES, works=False) as here:
        url = f"{here.urls[0]}/v1/events"
        async with here.session.post(url, json={"key": "k"}) as response:
            assert response.status == 401


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_each_report_three_times_in_any_order_on_two_machines_has_one_effect(
    kind: str, tmp_path: Path
) -> None:
    """Some before the question, some after; by webhook and by the API."""
    store: Store | None = SqliteStore(tmp_path / "parley.db") if kind == "sqlite" else None
    chance = random.Random(20261116)  # noqa: S311 (an order, no secret)
    async with site(SOURCES, machines=1 if store else 2, store=store, **STAGE) as here:
        numbers = range(8)

        async def report(number: int) -> int:
            await asyncio.sleep(chance.random() / 10)
            payload = {"deployment": {"id": number}, "state": f"s{number}"}
            own = f"d-{number}"
            machine = chance.randrange(2)
            if number % 2:
                told = await here.reports(
                    f"deploy/{number}", {"state": f"s{number}"}, machine, idempotency_key=own
                )
            else:
                told = await here.sends(payload, "cd", machine, x_github_delivery=own)
            return told.status

        copies = [number for number in numbers for _ in range(3)]
        chance.shuffle(copies)
        threads, statuses = await asyncio.gather(
            asyncio.gather(*(launched(here, number, waits=False) for number in numbers)),
            asyncio.gather(*(report(number) for number in copies)),
        )
        rows = [await here.until(thread, "finished") for thread in threads]

        assert set(statuses) <= {200, 202}
        assert [f"s{n}" in row.summary["result"] for n, row in enumerate(rows)] == [True] * 8
        for thread in threads:
            log = await here.log(thread)
            assert sum(isinstance(one, QuestionAnswered) for one in log) == 1
            assert sum(isinstance(one, QuestionAsked) for one in log) == 1


async def test_store_that_fails_now_and_then_loses_no_event() -> None:
    """The sender is told to come again, and does."""
    store = ShakyStore()
    async with site(SOURCES, store=store, **STAGE) as here:
        thread = await launched(here)
        store.failures["commit"] = 1
        refused = await here.sends(DONE, name="cd", x_github_delivery="d-1")
        told = await here.sends(DONE, name="cd", x_github_delivery="d-1")
        await here.until(thread, "finished")

        assert (refused.status, told.status) == (503, 202)


async def test_cancelled_thread_waits_no_more() -> None:
    """Who reports it then is told so."""
    async with site(SOURCES, **STAGE) as here:
        thread = await launched(here)
        await here.told(thread)  # before that, nobody has begun to wait for the key
        await here.gateway.cancel(thread, by="otto", reason="not today")
        await here.until(thread, "cancelled")
        told = await here.reports("deploy/7", {"state": "success"})

        assert (told.json["effect"], told.json["thread_id"]) == ("late", None)
        assert "withdrawn" in told.json["detail"]
