"""Webhooks, from the POST to the thread: over real sockets, on one machine and on two."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from agent_core import ModelReply, ModelRequest, call, calls, contact_human, says, tool
from agent_core.thread.events import ThreadCancelled
from storage.sqlite import SqliteStore
from tests.scenario.webhook.site import Site, site
from tests.unit.channels.webhook.sender import source
from tests.unit.gateway.workshop import ShakyStore

KEYED: dict[str, Any] = {"thread_key": "{{ payload.key }}"}


def asks_first(request: ModelRequest) -> ModelReply:
    """Ask in words at the first message; then be done."""
    if any("tool_calls" in message for message in request.messages):
        return says("done")
    return calls(call("contact_human", question="Which account?"))


async def begun(here: Site, **payload: str) -> str:
    """Send the first event of a key, and give its thread."""
    answer = await here.sends({"text": "first", "key": "k", **payload})
    assert answer.status == 202, answer
    return str(answer.json["thread"])


async def test_event_begins_a_thread_and_a_later_one_resumes_it() -> None:
    """With its whole history; the outbox is content, though nothing goes back."""
    async with site([source(**KEYED)]) as here:
        thread = await begun(here)
        await here.until(thread, "finished")
        later = await here.sends({"text": "second", "key": "k"})
        await here.until(thread, "finished", texts=2)

        assert later.json == {"effect": "taken", "thread": thread}
        assert await here.said(thread) == ["first", "second"]
        (row,) = await here.threads()
        assert (row.origin, row.requester) == ("webhook:ci:k", "webhook:ci")


async def test_other_key_is_another_thread() -> None:
    """Also the same key from another source."""
    async with site([source(**KEYED), source(name="cd", **KEYED)], works=False) as here:
        answers = [
            await here.sends({"text": "a", "key": "k"}),
            await here.sends({"text": "a", "key": "l"}),
            await here.sends({"text": "a", "key": "k"}, name="cd"),
        ]

        assert len({one.json["thread"] for one in answers}) == 3


async def test_event_without_a_key_is_alone_in_its_place() -> None:
    """Each begins a thread; three copies of one, on two machines at once, begin one."""
    async with site([source()], machines=2, works=False) as here:
        copies = [
            here.sends({"text": "a"}, machine=machine, x_github_delivery="d-1")
            for machine in range(3)
        ]
        told = await asyncio.gather(*copies, here.sends({"text": "a"}, x_github_delivery="d-2"))
        rows = await here.threads()

        assert [one.status for one in told] == [202] * 4
        assert {one.json["thread"] for one in told} == {row.id for row in rows}
        assert {row.origin for row in rows} == {"webhook:ci:d-1", "webhook:ci:d-2"}
        assert len(rows) == 2


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_each_delivery_sent_three_times_in_any_order_has_one_effect(
    kind: str, tmp_path: Path
) -> None:
    """To two machines (one, on SQLite), all at once; and every copy gets the same answer."""
    store = SqliteStore(tmp_path / "parley.db") if kind == "sqlite" else None
    machines = 1 if kind == "sqlite" else 2
    copies = [(number, copy) for number in range(40) for copy in range(3)]
    random.Random(6).shuffle(copies)  # noqa: S311 (an order that can be had again)
    sources = [source(**KEYED)]
    async with site(sources, machines=machines, works=False, store=store) as here:

        async def send(number: int, copy: int) -> tuple[int, str]:
            payload = {"text": f"event {number}", "key": f"k{number % 8}"}
            own = f"delivery-{number}"
            answer = await here.sends(payload, machine=copy, x_github_delivery=own)
            assert answer.status == 202, answer
            return number, answer.text

        told = await asyncio.gather(*(send(*one) for one in copies))
        said = [text for row in await here.threads() for text in await here.said(row.id)]

    assert len(set(told)) == 40
    assert sorted(said) == sorted(f"event {number}" for number in range(40))


async def test_text_of_an_event_never_answers_a_question() -> None:
    """Not even where the source is who would be asked: it is data."""
    async with site([source(**KEYED)], script=asks_first, tools=[contact_human]) as here:
        thread = await begun(here)
        await here.until(thread, "waiting")
        await here.sends({"text": "yes", "key": "k"})
        row = await here.until(thread, "waiting", texts=2)

        assert [one["status"] for one in row.summary["questions"]] == ["open"]


async def test_text_of_an_event_never_approves_whoever_its_requester_is() -> None:
    """An audience, a name and a plain yes in a comment approve nothing."""

    @tool(approval=True)
    async def deploy() -> str:
        """Deploy."""
        raise AssertionError("nobody has approved it")

    sources = [source(requester="otto", audience=("otto",), **KEYED)]
    async with site(sources, script=lambda _: calls(call("deploy")), tools=[deploy]) as here:
        thread = await begun(here)
        await here.until(thread, "waiting")
        await here.sends({"text": "yes", "key": "k"})
        row = await here.until(thread, "waiting", texts=2)

        assert [one["audience"] for one in row.summary["questions"]] == [["otto"]]


# --- on_repeat ------------------------------------------------------------------------------------


async def test_superseding_event_cancels_the_thread_and_begins_another() -> None:
    """What it asked is withdrawn; a finished one is left as it is."""
    sources = [source(on_repeat="supersede", **KEYED)]
    async with site(sources, script=asks_first, tools=[contact_human]) as here:
        first = await begun(here)
        await here.until(first, "waiting")
        second = str((await here.sends({"text": "second", "key": "k"})).json["thread"])
        cancelled = await here.until(first, "cancelled")
        await here.until(second, "waiting")
        (end,) = [one for one in await here.log(first) if isinstance(one, ThreadCancelled)]

        assert second != first
        assert (end.reason, end.by) == ("a later event has superseded it", "webhook:ci")
        assert cancelled.summary.get("questions", []) == []


async def test_copy_of_a_superseding_event_ends_nothing() -> None:
    """It gets the thread that the first one began."""
    async with site([source(on_repeat="supersede", **KEYED)], works=False) as here:
        await begun(here)
        payload = {"text": "second", "key": "k"}
        told = [await here.sends(payload, x_github_delivery="d") for _ in range(3)]
        statuses = [row.status for row in await here.threads()]

        assert {one.text for one in told} == {told[0].text}
        assert statuses == ["cancelled", "running"]


async def test_of_many_superseding_events_at_once_one_is_left() -> None:
    """On two machines, each sent twice: each begins one thread, and all but one are ended."""
    sources = [source(on_repeat="supersede", **KEYED)]
    async with site(sources, machines=2, works=False) as here:

        async def send(number: int, machine: int) -> str:
            payload = {"text": f"event {number}", "key": "k"}
            own = f"delivery-{number}"
            answer = await here.sends(payload, machine=machine, x_github_delivery=own)
            assert answer.status == 202, answer
            return str(answer.json["thread"])

        told = await asyncio.gather(*(send(n, m) for n in range(20) for m in range(2)))
        rows = await here.threads()

    assert len(rows) == len(set(told)) == 20
    assert sorted(row.status for row in rows) == ["cancelled"] * 19 + ["running"]


async def test_waiting_event_goes_in_when_the_thread_has_come_to_rest() -> None:
    """Not between two steps of what it works on; on whichever machine it ends."""
    sources = [source(on_repeat="wait", **KEYED)]
    async with site(sources, machines=2, script=asks_first, tools=[contact_human]) as here:
        thread = await begun(here)
        row = await here.until(thread, "waiting")
        later = []
        for text in ("second", "third", "second"):
            here.clock[0] += 1
            payload = {"text": text, "key": "k"}
            later.append(await here.sends(payload, x_github_delivery=text, machine=1))
        before = await here.said(thread)
        question = row.summary["questions"][0]["id"]
        await here.gateway.answer(question, "the blue one", by="webhook:ci")
        await here.until(thread, "finished", texts=3)

        assert [one.json for one in later] == [{"effect": "waiting", "thread": thread}] * 3
        assert (before, await here.said(thread)) == (["first"], ["first", "second", "third"])


async def test_event_for_a_cancelled_thread_is_refused() -> None:
    """It is over for good; a source that wants a new one supersedes."""
    async with site([source(**KEYED)], works=False) as here:
        thread = await begun(here)
        await here.gateway.cancel(thread, by="otto")

        answer = await here.sends({"text": "second", "key": "k"})

        assert (answer.status, answer.json["type"]) == (409, "/problems/refused")


# --- trouble --------------------------------------------------------------------------------------


async def test_full_queue_asks_the_sender_to_come_again() -> None:
    """429 with Retry-After, as a problem."""
    async with site([source()], works=False, most_queued=1) as here:
        answers = [await here.sends({"text": "a"}) for _ in range(3)]

        last = answers[-1]
        assert (answers[0].status, last.status, last.problem) == (202, 429, "too-busy")
        assert int(last.headers["Retry-After"]) >= 1


async def test_store_in_trouble_is_not_acknowledged_and_the_retry_has_its_effect() -> None:
    """503; then the same delivery again."""
    store = ShakyStore()
    async with site([source()], works=False, store=store) as here:
        store.failures["commit"] = 1
        first = await here.sends({"text": "a"}, x_github_delivery="d")
        again = await here.sends({"text": "a"}, x_github_delivery="d")

        assert (first.status, first.problem, again.status) == (503, "store-busy", 202)
        assert len(await here.threads()) == 1


async def test_body_that_is_encoded_or_too_large_is_refused_before_it_is_read() -> None:
    """415 and 413: what is signed is what was sent."""
    async with site([source()], works=False) as here:
        zipped = await here.sends({"text": "a"}, Content_Encoding="gzip")
        large = await here.sends({"text": "a" * (1 << 20)})

        assert (zipped.status, large.status) == (415, 413)
        assert await here.threads() == []


async def test_only_post_is_offered() -> None:
    """405, with what is."""
    async with (
        site([source()], works=False) as here,
        here.session.get(f"{here.urls[0]}/hooks/ci") as response,
    ):
        assert (response.status, response.headers["Allow"]) == (405, "POST")


async def test_agent_that_is_not_there_is_told() -> None:
    """Where a template names it, it is found out only now."""
    async with site([source(agent="{{ payload.agent }}")], works=False) as here:
        answer = await here.sends({"text": "a", "agent": "nobody"})

        assert (answer.status, answer.problem) == (404, "not-found")
