"""Messages to a thread that runs, waits or has ended; and several calls in one turn. Over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_core import Agent, ScriptedModel, call, calls, contact_human, says, tool
from tests.doubles.stage import Gate, results_in, said_to
from tests.scenario.gateway.premises import KINDS, NO, YES, in_file, premises

KIND = pytest.mark.parametrize("kind", KINDS)


@tool(approval=True)
async def refund(order: str) -> str:
    """Pay the customer back."""
    return f"paid back {order}"


@KIND
async def test_message_during_a_model_call_is_seen_at_the_next_step(
    kind: str, tmp_path: Path
) -> None:
    """It is acknowledged at once, and the reply that didn't see it is not the last word."""
    gate = Gate()
    model = ScriptedModel([says("one"), says("two")], before_reply=gate.stop_here)
    async with premises(KINDS[kind](tmp_path), Agent("agent", model=model)) as here:
        thread = await here.launch()
        await gate.reached()
        told = await here.tell(thread, "messages", {"text": "one more thing"})
        gate.open()
        done = await here.rested(thread)

    assert (told.status, told.json["status"]) == (200, "running")
    assert (done["status"], done["result"]) == ("finished", "two")
    assert ("user", "one more thing") not in said_to(model.requests[0])
    assert ("user", "one more thing") in said_to(model.requests[1])
    assert len(model.requests) == 2


@KIND
async def test_message_while_a_tool_runs_is_seen_after_its_result(
    kind: str, tmp_path: Path
) -> None:
    """A worker has the thread; what came from outside waits for the next step."""
    gate = Gate()

    @tool
    async def look() -> str:
        """Look something up."""
        await gate.stop_here()
        return "found"

    model = ScriptedModel([calls(call("look")), says("done")])
    async with premises(KINDS[kind](tmp_path), Agent("agent", tools=[look], model=model)) as here:
        thread = await here.launch()
        await gate.reached()
        await here.tell(thread, "messages", {"text": "hurry"})
        gate.open()
        await here.rested(thread)
        types = await here.types(thread)

    assert types[3:6] == ["ToolStarted", "MessageReceived", "ToolReturned"]
    assert [role for role, _ in said_to(model.requests[1])][-2:] == ["tool", "user"]


async def test_message_while_a_question_is_open_is_kept_for_later(tmp_path: Path) -> None:
    """The approval stays open; the model sees the result before the message."""
    model = ScriptedModel([calls(call("refund", order="A1")), says("done")])
    agent = Agent("agent", tools=[refund], model=model)
    async with premises(in_file(tmp_path), agent) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        told = await here.tell(thread, "messages", {"text": "yes"})
        still = await here.rested(thread)
        assert (told.status, len(model.requests)) == (200, 1)
        await here.answer(question, YES)
        await here.rested(thread)

    assert (still["status"], still["questions"][0]["id"]) == ("waiting", question)
    assert said_to(model.requests[1])[-2:] == [("tool", "paid back A1"), ("user", "yes")]


async def test_message_after_the_end_takes_the_thread_up_again(tmp_path: Path) -> None:
    """With its whole history, and under the same id."""
    model = ScriptedModel([says("one"), says("two")])
    async with premises(in_file(tmp_path), Agent("agent", model=model)) as here:
        thread = await here.launch(text="first")
        assert (await here.rested(thread))["result"] == "one"
        await here.tell(thread, "messages", {"text": "second"})
        again = await here.rested(thread)

    assert (again["id"], again["status"], again["result"]) == (thread, "finished", "two")
    assert said_to(model.requests[1])[-3:] == [
        ("user", "first"),
        ("assistant", "one"),
        ("user", "second"),
    ]


async def test_failed_thread_is_taken_up_by_a_message(tmp_path: Path) -> None:
    """Somebody who writes lets it try again, as `retry` does."""
    model = ScriptedModel([[ValueError("no luck"), says("done")]])
    async with premises(in_file(tmp_path), Agent("agent", model=model)) as here:
        thread = await here.launch()
        failed = await here.rested(thread)
        await here.tell(thread, "messages", {"text": "try again"})
        done = await here.rested(thread)

    assert (failed["status"], "no luck" in failed["error"]) == ("failed", True)
    assert (done["status"], done["error"]) == ("finished", None)


async def test_each_of_several_calls_gets_exactly_one_result(tmp_path: Path) -> None:
    """Those that need no one run while others wait; no model call until all are settled."""

    @tool
    async def plain() -> str:
        """Need nobody."""
        return "ran"

    @tool
    async def broken() -> str:
        """Fail."""
        raise ValueError("oh")

    turn = calls(
        call("refund", order="A1"),
        call("plain"),
        call("contact_human", question="Why?"),
        call("broken"),
        call("nothing_of_the_kind"),
        call("refund", order="B2"),
    )
    model = ScriptedModel([turn, says("done")])
    agent = Agent("agent", tools=[refund, plain, broken, contact_human], model=model)
    async with premises(in_file(tmp_path), agent) as here:
        thread = await here.launch()
        waiting = await here.rested(thread)
        before = await here.types(thread)
        one, two, three = sorted(
            waiting["questions"], key=lambda asked: str(asked["arguments"] or "~")
        )
        await here.answer(one["id"], YES)
        assert (await here.rested(thread))["status"] == "waiting"
        await here.answer(three["id"], "because")
        await here.answer(two["id"], NO, comment="too much")
        done = await here.rested(thread)

    assert before.count("ToolReturned") == 1, "the one that needs nobody ran while others wait"
    assert len(model.requests) == 2
    results = results_in(model.requests[1])
    assert len(results) == 6
    assert (results[0], results[1]) == ("paid back A1", "ran")
    assert "because" in results[2]
    assert "oh" in results[3]
    assert "nothing_of_the_kind" in results[4]
    assert "too much" in results[5]
    assert done["result"] == "done"


async def test_words_of_the_one_who_was_asked_are_the_answer(tmp_path: Path) -> None:
    """The question takes text, and its writer is in its audience and place."""
    model = ScriptedModel([calls(call("contact_human", question="Which size?")), says("done")])
    agent = Agent("agent", tools=[contact_human], model=model)
    async with premises(in_file(tmp_path), agent) as here:
        thread = await here.launch()
        await here.asked(thread)
        await here.tell(thread, "messages", {"text": "medium"})
        done = await here.rested(thread)

    assert (done["status"], done["questions"]) == ("finished", [])
    assert said_to(model.requests[1])[-1] == ("tool", "medium")


async def test_words_to_somebody_else_s_question_are_only_words(tmp_path: Path) -> None:
    """Who was not asked can't answer by writing: the question stays open."""
    asking = call("contact_human", question="May we?", to=["legal"])
    agent = Agent(
        "agent", tools=[contact_human], model=ScriptedModel([calls(asking), says("done")])
    )
    async with premises(in_file(tmp_path), agent) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        told = await here.tell(thread, "messages", {"text": "yes, surely"})

    assert [one["id"] for one in told.json["questions"]] == [question]
