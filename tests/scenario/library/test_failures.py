"""Failures: of tools in a row, of the model server, and of somebody's model class."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from agent_core import (
    Agent,
    Failed,
    Finished,
    HandDrivenWorld,
    Model,
    ModelRejected,
    ModelReply,
    ModelRequest,
    ModelUnavailable,
    Paused,
    RequestedCall,
    RetryPolicy,
    call,
    calls,
    says,
    tool,
)
from agent_core.models import OnText
from tests.doubles.stage import Stage, expect, question_of, said_to, types_in


@tool
async def broken(n: int = 0) -> str:
    """Fail, always."""
    raise RuntimeError(f"out of paper {n}")


@tool
async def fine() -> str:
    """Work, always."""
    return "fine"


# Tools that fail in a row


async def test_after_three_failures_in_a_row_a_person_is_asked_and_the_answer_is_told() -> None:
    """The model doesn't try for ever; a person may know what is wrong."""
    stage = Stage([*(calls(call("broken", n=n)) for n in range(3)), says("done")], broken)
    asked = expect(await stage.agent.run("go"), Paused)
    (question,) = asked.questions
    assert question.prompt == "The last 3 tool calls failed. How should I go on?"
    assert (question.kind, question.purpose) == ("text", "failures")
    assert len(stage.model.requests) == 3

    outcome = await stage.agent.resume(asked.checkpoint, "use the other printer", by="otto")

    assert expect(outcome, Finished).result == "done"
    assert said_to(stage.model.requests[-1])[-1] == (
        "user",
        f'[your question "{question.prompt}" was answered by otto]\nuse the other printer',
    )


async def test_a_success_in_between_starts_the_count_anew() -> None:
    """In a row means in a row."""
    turns = ["broken", "broken", "fine", "broken", "broken"]
    stage = Stage([*(calls(call(name)) for name in turns), says("done")], broken, fine)

    assert expect(await stage.agent.run("go"), Finished).result == "done"


async def test_after_the_answer_the_count_starts_anew() -> None:
    """Three more failures, and a person is asked again."""
    stage = Stage([*(calls(call("broken", n=n)) for n in range(6))], broken)
    first = await stage.agent.run("go")

    second = await stage.agent.resume(first.checkpoint, "try again")

    assert question_of(second) != question_of(first)
    assert len(stage.model.requests) == 6


@pytest.mark.parametrize(("most", "asked_after"), [(1, 1), (2, 2), (0, None)])
async def test_how_many_failures_are_too_many_is_the_agents_choice(
    most: int, asked_after: int | None
) -> None:
    """0 is never."""
    script = [*(calls(call("broken", n=n)) for n in range(4)), says("done")]
    stage = Stage(script, broken, ask_after_failures=most)

    outcome = await stage.agent.run("go")

    assert outcome.is_paused == (asked_after is not None)
    assert len(stage.model.requests) == (asked_after or 5)


async def test_a_denial_or_an_expiry_is_no_failure() -> None:
    """People decided, or were away; no tool is broken."""

    @tool(approval=True)
    async def pay() -> str:
        return "paid"

    stage = Stage(
        [calls(call("pay"), call("pay"), call("pay"), call("pay")), says("done")],
        pay,
    )
    paused = expect(await stage.agent.run("go"), Paused)
    denials = {question.id: {"approved": False} for question in paused.questions}

    outcome = await stage.agent.resume(paused.checkpoint, denials)

    assert expect(outcome, Finished).result == "done"


async def test_a_message_while_the_person_is_asked_is_kept_for_afterwards() -> None:
    """The question holds the thread; nothing is lost."""
    stage = Stage([*(calls(call("broken", n=n)) for n in range(3)), says("done")], broken)
    asked = await stage.agent.run("go")
    talked = await stage.agent.say(asked.checkpoint, "hello?")
    assert question_of(talked) == question_of(asked)

    await stage.agent.resume(talked.checkpoint, "skip it")

    texts = [text for role, text in said_to(stage.model.requests[-1]) if role == "user"]
    assert texts[1] == "hello?"
    assert texts[2].endswith("skip it")


# The model server


async def test_an_unavailable_model_is_tried_again_with_growing_pauses() -> None:
    """Overload passes."""
    down = ModelUnavailable("busy")
    stage = Stage([[down, down, down, says("done")]])

    outcome = await stage.agent.run("hi")

    assert expect(outcome, Finished).result == "done"
    assert stage.world.slept == [0.5, 1.0, 2.0]


async def test_a_server_that_says_when_to_come_back_is_believed() -> None:
    """Retry-After is a minimum."""
    stage = Stage([[ModelUnavailable("busy", retry_after=7), says("done")]])

    await stage.agent.run("hi")

    assert stage.world.slept == [7.0]


async def test_after_its_tries_the_thread_is_failed_and_a_retry_goes_on_with_nothing_repeated() -> (
    None
):
    """The tools that ran before stay done."""
    deeds: list[str] = []

    @tool
    async def pay() -> str:
        deeds.append("paid")
        return "paid"

    down = ModelUnavailable("busy")
    stage = Stage(
        [calls(call("pay")), [down, down, says("done")]],
        pay,
        model_retries=RetryPolicy(attempts=2),
    )
    failed = expect(await stage.agent.run("go"), Failed)
    assert failed.error == "the model did not reply: busy"
    assert stage.world.slept == [0.5]

    outcome = await stage.agent.retry(failed.checkpoint, instruction="quickly", by="otto")

    assert expect(outcome, Finished).result == "done"
    assert deeds == ["paid"]
    assert said_to(stage.model.requests[-1])[-2:] == [
        ("tool", "paid"),
        ("user", "[resumed by otto, with an instruction]\nquickly"),
    ]


async def test_a_rejected_request_fails_at_once() -> None:
    """A wrong key doesn't become right by waiting."""
    stage = Stage([ModelRejected("no such model")])

    failed = expect(await stage.agent.run("hi"), Failed)

    assert failed.error == "the model did not reply: no such model"
    assert stage.world.slept == []
    assert len(stage.model.requests) == 1


async def test_a_message_to_a_failed_thread_takes_it_up_again() -> None:
    """Whoever writes gets an answer."""
    stage = Stage([[ModelRejected("no such model"), says("done")]])
    failed = await stage.agent.run("hi")

    outcome = await stage.agent.say(failed.checkpoint, "and now?")

    assert expect(outcome, Finished).result == "done"


async def test_resuming_a_failed_thread_without_a_retry_changes_nothing() -> None:
    """A failed thread waits for somebody who says "again"."""
    stage = Stage([ModelRejected("no such model")])
    failed = await stage.agent.run("hi")

    still = await stage.agent.resume(failed.checkpoint)

    assert isinstance(still, Failed)
    assert len(stage.model.requests) == 1


async def test_a_message_that_came_while_the_model_failed_is_seen_after_the_retry() -> None:
    """Nothing said is lost."""
    thinking, go_on = asyncio.Event(), asyncio.Event()

    async def hold(_request: ModelRequest) -> None:
        thinking.set()
        await go_on.wait()

    stage = Stage([[ModelRejected("no"), says("done")]], before_reply=hold)
    thread = stage.agent.launch("one")
    running = asyncio.create_task(thread.run())
    await thinking.wait()
    await thread.say("two")
    go_on.set()
    failed = expect(await running, Failed)

    await stage.agent.retry(failed.checkpoint)

    assert [text for _, text in said_to(stage.model.requests[-1])] == ["one", "two"]


# Somebody's model class, somebody's renderer


class BuggyModel:
    """A model class with a bug, until it is repaired."""

    def __init__(self, bug: Any) -> None:  # noqa: ANN401 (what it wrongly gives)
        self.bug = bug

    async def reply(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Raise or give what no model should."""
        del request, on_text
        if isinstance(self.bug, Exception):
            raise self.bug
        reply: ModelReply = self.bug
        return reply


@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(KeyError("choices"), id="raises"),
        pytest.param(None, id="gives nothing"),
        pytest.param("hello", id="gives text"),
        pytest.param(
            ModelReply(calls=(RequestedCall("fine", {"a": 1}),)),  # type: ignore[arg-type]
            id="gives arguments that are no text",
        ),
    ],
)
async def test_a_bug_in_a_model_class_fails_the_thread_and_can_be_retried(
    bug: object, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged with its traceback; the thread goes on once the bug is repaired."""
    model = BuggyModel(bug)
    protocol: Model = model
    agent = Agent("agent", tools=[fine], model=protocol, world=HandDrivenWorld().world)
    with caplog.at_level(logging.ERROR):
        failed = expect(await agent.run("hi"), Failed)
    assert failed.error
    assert types_in(failed)[-1] == "ThreadFailed"

    model.bug = says("repaired")

    assert expect(await agent.retry(failed.checkpoint), Finished).result == "repaired"
    assert any(record.exc_info for record in caplog.records)


async def test_a_bug_in_a_renderer_fails_the_thread_and_can_be_retried() -> None:
    """It is the agent's author who must act, not the people in the thread."""

    def render(*_anything: object) -> list[dict[str, Any]]:
        raise ZeroDivisionError("oops")

    stage = Stage([says("done")], render=render)
    failed = expect(await stage.agent.run("hi"), Failed)
    assert failed.error == "ZeroDivisionError: oops"
    stage.options.clear()

    assert expect(await stage.deploy().retry(failed.checkpoint), Finished).result == "done"
