"""Defining an agent, and beginning threads: what can't work is refused where it is written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_core import (
    Agent,
    Compaction,
    DefinitionError,
    Finished,
    MaxCost,
    MaxSeconds,
    MaxSteps,
    MaxTokens,
    NotJson,
    OpenAIChat,
    Paused,
    RetryPolicy,
    SameCall,
    ScriptedModel,
    Waiting,
    call,
    calls,
    contact_human,
    is_paused,
    says,
    tool,
)
from tests.doubles.stage import APPROVED, Stage, expect, log_of

MODEL = ScriptedModel([])


@tool
def look() -> str:
    """Look."""
    return "looked"


def listen() -> str:
    """Listen."""
    return "heard"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"name": ""}, "an agent needs a name"),
        ({"name": "  "}, "an agent needs a name"),
        ({"on_limit": "explode"}, 'on_limit is "ask", "finish" or "fail"'),
        ({"ask_after_failures": -1}, "ask_after_failures is 0 or more"),
        ({"undo_attempts": 0}, "undo_attempts 1 or more"),
        ({"tools": [look, look]}, "agent has two tools called 'look'"),
        ({"tools": [look, tool(name="look")(listen)]}, "agent has two tools called 'look'"),
        ({"tools": ["look"]}, "@tool goes on a function"),
    ],
)
def test_an_agent_that_cannot_work_is_refused_where_it_is_defined(
    options: dict[str, Any], problem: str
) -> None:
    """Not on the first message."""
    with pytest.raises(DefinitionError, match=problem):
        Agent(**{"name": "agent", "model": MODEL, **options})


@pytest.mark.parametrize(
    ("make", "options", "problem"),
    [
        (MaxSteps, {"most": 0}, "MaxSteps must be more than 0"),
        (MaxTokens, {"most": -1}, "MaxTokens must be more than 0"),
        (MaxCost, {"most": 0}, "MaxCost must be more than 0"),
        (MaxSeconds, {"most": float("nan")}, "MaxSeconds must be more than 0"),
        (SameCall, {"most": 0}, "SameCall must be more than 0"),
        (RetryPolicy, {"attempts": 0}, "must be 1 or more"),
        (RetryPolicy, {"jitter": -1}, "must not be negative"),
        (Compaction, {"keep": 0}, "keep is at least 1"),
        (Compaction, {"keep": 5, "after_messages": 5}, "after_messages must be more than keep"),
        (Waiting, {"remind_after": 0}, "remind_after is a whole number of seconds"),
        (Waiting, {"expires_after": -5}, "expires_after is a whole number of seconds"),
        (Waiting, {"expires_after": 1.5}, "expires_after is a whole number of seconds"),
        (Waiting, {"on_expiry": "explode"}, "on_expiry is one of"),
        (Waiting, {"escalate_to": "otto"}, "escalate_to is a tuple of names"),
    ],
)
def test_a_part_that_cannot_work_is_refused_where_it_is_written(
    make: Any,  # noqa: ANN401 (a class of ours)
    options: dict[str, Any],
    problem: str,
) -> None:
    """Limits, retries, compaction and waiting alike."""
    with pytest.raises(DefinitionError, match=problem):
        make(**options)


def test_two_handlers_of_one_name_are_refused() -> None:
    """Which of them would it be?"""
    agent = Agent("agent", model=MODEL)
    agent.on("paid")(lambda answer: answer)

    with pytest.raises(DefinitionError, match="agent has a handler for 'paid' already"):
        agent.on("paid")(lambda answer: answer)


def test_declaring_a_handler_gives_the_function_back() -> None:
    """So that it can be called and tested as it is."""
    agent = Agent("agent", model=MODEL)

    @agent.on("paid")
    def paid(answer: int) -> int:
        return answer + 1

    assert paid(1) == 2


def test_plain_functions_become_tools() -> None:
    """The decorator is needed only for options."""
    agent = Agent("agent", tools=[look, listen], model=MODEL)

    assert list(agent.definition.tools) == ["look", "listen"]


def test_a_model_may_be_named_or_left_to_the_environment() -> None:
    """The server is then the one of OPENAI_BASE_URL; nothing is imported or called yet."""
    assert isinstance(Agent("agent", model="gpt-x").definition.model, OpenAIChat)
    assert isinstance(Agent("agent").definition.model, OpenAIChat)


def test_an_agent_shows_its_name() -> None:
    """In logs and in debuggers."""
    assert repr(Agent("support", model=MODEL)) == "Agent('support')"


def test_a_launch_is_only_a_log() -> None:
    """Who asked, from where, and with what; nothing runs."""
    stage = Stage([says("done")])

    thread = stage.agent.launch(
        "hi", requester="otto", origin="slack:C1", metadata={"a": 1}, thread="th_own"
    )

    launched, received = log_of(thread.checkpoint)
    assert launched == {
        "type": "ThreadLaunched",
        "at": stage.world.moment,
        "thread": "th_own",
        "agent": "agent",
        "requester": "otto",
        "origin": "slack:C1",
        "metadata": {"a": 1},
    }
    assert (received["text"], received["sender"]) == ("hi", "otto")
    assert stage.model.requests == []


@pytest.mark.parametrize("metadata", [{"a": object()}, {1: "a"}, {"a": float("inf")}])
def test_metadata_must_be_json(metadata: dict[Any, Any]) -> None:
    """Refused by name, where it is passed."""
    with pytest.raises(NotJson, match="metadata"):
        Agent("agent", model=MODEL).launch("hi", metadata=metadata)


def test_a_thread_can_be_driven_from_plain_code() -> None:
    """One `asyncio.run` for each step of its life, each with an event loop of its own."""

    @tool(approval=True)
    async def act() -> str:
        await asyncio.sleep(0)
        return "acted"

    stage = Stage([calls(call("act")), says("done")], act)
    thread = stage.agent.launch("go")

    asyncio.run(thread.run())
    asyncio.run(thread.answer(APPROVED))
    outcome = asyncio.run(thread.run())

    assert expect(outcome, Finished).result == "done"


async def test_an_outcome_says_whether_it_is_paused_in_three_ways() -> None:
    """As a property, as a typed predicate, and by its class."""

    @tool(approval=True)
    async def act() -> str:
        return "acted"

    stage = Stage([calls(call("act")), says("done")], act)
    paused = await stage.agent.run("go")
    finished = await stage.agent.resume(paused.checkpoint, APPROVED)

    for outcome, expected in ((paused, True), (finished, False)):
        assert outcome.is_paused is expected
        assert is_paused(outcome) is expected
        assert isinstance(outcome, Paused) is expected


async def test_an_outcome_keeps_its_checkpoint_out_of_its_repr() -> None:
    """A log of the log helps nobody, and holds people's words."""
    stage = Stage([says("done")])

    outcome = await stage.agent.run("my password is hunter2")

    assert "hunter2" not in repr(outcome)
    assert outcome.thread == "th_1"


async def test_a_threads_events_are_a_copy() -> None:
    """Changing the list changes no history."""
    thread = Stage([says("done")]).agent.launch("hi")
    thread.events.clear()

    assert len(thread.events) == 2


async def test_a_thread_takes_an_approval_back_before_it_runs() -> None:
    """Held meanwhile; the question is asked anew, and only its approval lets the tool run."""

    @tool(approval=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    thread = stage.agent.launch("pay")
    first = expect(await thread.run(), Paused).questions[0]
    await thread.pause(by="otto")
    await thread.answer(APPROVED, by="otto")
    await thread.take_back(first.id, by="otto", reason="wrong one")
    await thread.resume(by="otto")
    (again,) = expect(await thread.run(), Paused).questions
    await thread.answer(APPROVED, by="lea")
    outcome = await thread.run()

    assert again.id != first.id
    assert expect(outcome, Finished).result == "done"


async def test_urgent_questions_may_have_rules_of_their_own() -> None:
    """A model says how urgent it is; the author, what that means."""
    asking = calls(call("contact_human", question="Now?", urgency="high"))
    rules = {"high": Waiting(expires_after=60), "normal": Waiting(expires_after=600)}
    stage = Stage([asking, says("done")], contact_human, waiting=rules)

    (question,) = expect(await stage.agent.run("go"), Paused).questions

    assert question.waiting == Waiting(expires_after=60)
