"""Limits: small conditions joined by & and |; the log names the one that tripped."""

from __future__ import annotations

from typing import Any

import pytest

from agent_core import (
    Failed,
    Finished,
    Limit,
    MaxCost,
    MaxSeconds,
    MaxSteps,
    MaxTokens,
    ModelReply,
    ModelRequest,
    Paused,
    SameCall,
    Signal,
    Usage,
    Waiting,
    call,
    calls,
    says,
    tool,
)
from tests.doubles.stage import Stage, expect, log_of, question_of, types_in

USED = Usage(input_tokens=60, output_tokens=40, cost=0.5)


def busy(request: ModelRequest) -> ModelReply:
    """Look at something new, for ever."""
    return calls(call("look", thing=f"{len(request.messages)}"), text="still busy", usage=USED)


def looping(limits: Limit, **options: Any) -> Stage:  # noqa: ANN401 (of Agent)
    """Set up an agent that would never stop by itself; each look takes 10 seconds."""

    @tool
    async def look(thing: str) -> str:
        stage.world.pass_time(10)
        return f"saw {thing}"

    stage = Stage(busy, look, limits=limits, **options)
    return stage


def reached(outcome: Any) -> list[tuple[str, str]]:  # noqa: ANN401 (an outcome)
    """Give the limits in the log, with what the agent did then."""
    return [
        (event["limit"], event["then"])
        for event in log_of(outcome)
        if event["type"] == "LimitReached"
    ]


@pytest.mark.parametrize(
    ("limit", "name", "turns"),
    [
        (MaxSteps(3), "MaxSteps(3)", 3),
        (MaxTokens(250), "MaxTokens(250)", 3),
        (MaxCost(1.5), "MaxCost(1.5)", 3),
        (MaxSeconds(20), "MaxSeconds(20)", 2),
        (MaxTokens(1_234_567) | MaxSteps(2), "MaxSteps(2)", 2),
        (MaxSteps(4) | MaxTokens(200), "MaxTokens(200)", 2),
        (MaxSteps(2) & MaxSeconds(40), "MaxSteps(2) & MaxSeconds(40)", 4),
        (MaxSteps(9) | MaxSteps(2) & MaxTokens(300), "MaxSteps(2) & MaxTokens(300)", 3),
    ],
)
async def test_the_log_names_the_limit_that_tripped(limit: Limit, name: str, turns: int) -> None:
    """Before the model would be called once more, and never in the middle of its calls."""
    stage = looping(limit)

    paused = expect(await stage.agent.run("go"), Paused)

    assert reached(paused) == [(name, "ask")]
    assert len(stage.model.requests) == turns
    assert paused.questions[0].prompt == f"I have reached my limit ({name}). Shall I go on?"
    assert not paused.state.open_calls


async def test_the_very_same_call_chosen_again_and_again_is_a_limit() -> None:
    """A model that goes round in circles is stopped; another call in between is no circle."""

    @tool
    async def look(thing: str) -> str:
        return f"saw {thing}"

    def turn(request: ModelRequest) -> ModelReply:
        turns = len([m for m in request.messages if m["role"] == "assistant"])
        return calls(call("look", thing="b" if turns == 2 else "a"))

    stage = Stage(turn, look, limits=SameCall(3))

    paused = await stage.agent.run("go")

    assert reached(paused) == [("SameCall(3)", "ask")]
    assert len(stage.model.requests) == 6


async def test_something_outside_may_say_stop() -> None:
    """A flag, a file, an event: it is looked at before each model call."""
    flags: list[str] = []

    @tool
    async def look(thing: str) -> str:
        flags.append(thing)
        return "saw"

    stage = Stage(
        busy, look, limits=Signal("closing time", lambda: len(flags) == 2), on_limit="finish"
    )

    outcome = expect(await stage.agent.run("go"), Finished)

    assert reached(outcome) == [("Signal(closing time)", "finish")]
    assert len(flags) == 2


async def test_large_limits_keep_their_figures_in_the_log() -> None:
    """People must recognise what they configured."""

    @tool
    async def look(thing: str) -> str:
        return thing

    def turn(_request: ModelRequest) -> ModelReply:
        return calls(call("look", thing="x"), usage=Usage(input_tokens=2_000_000))

    stage = Stage(turn, look, limits=MaxTokens(1_234_567), compaction=None)

    assert reached(await stage.agent.run("go")) == [("MaxTokens(1234567)", "ask")]


async def test_asked_and_told_to_go_on_the_agent_has_as_much_again() -> None:
    """The meter starts anew, and trips anew."""
    stage = looping(MaxSteps(2))
    first = await stage.agent.run("go")

    second = expect(await stage.agent.resume(first.checkpoint, "go_on"), Paused)

    assert len(stage.model.requests) == 4
    assert question_of(second) != question_of(first)
    assert reached(second) == [("MaxSteps(2)", "ask")] * 2


async def test_asked_and_told_to_stop_the_thread_finishes_with_what_there_is() -> None:
    """The model's last words are the result."""
    stage = looping(MaxSteps(2))
    asked = await stage.agent.run("go")

    outcome = expect(await stage.agent.resume(asked.checkpoint, "stop"), Finished)

    assert outcome.result == "still busy"
    assert len(stage.model.requests) == 2


async def test_asked_and_nobody_answers_the_thread_finishes() -> None:
    """Silence is no permission to spend more."""
    stage = looping(MaxSteps(2), waiting=Waiting(expires_after=60))
    asked = await stage.agent.run("go")
    stage.world.pass_time(61)

    outcome = expect(await stage.agent.tick(asked.checkpoint), Finished)

    assert len(stage.model.requests) == 2
    assert outcome.result == "still busy"


async def test_on_limit_finish_ends_with_what_there_is() -> None:
    """No person is asked."""
    stage = looping(MaxSteps(2), on_limit="finish")

    outcome = expect(await stage.agent.run("go"), Finished)

    assert outcome.result == "still busy"
    assert reached(outcome) == [("MaxSteps(2)", "finish")]
    assert "QuestionAsked" not in types_in(outcome)


async def test_on_limit_finish_without_any_words_names_the_limit() -> None:
    """An empty result would explain nothing."""

    @tool
    async def look() -> str:
        return "saw"

    stage = Stage(lambda _request: calls(call("look")), look, limits=MaxSteps(1), on_limit="finish")

    assert expect(await stage.agent.run("go"), Finished).result == "Stopped: MaxSteps(1)."


async def test_on_limit_fail_fails_by_name_and_a_retry_goes_on() -> None:
    """With as much again, from where it stood, and nothing repeated."""
    stage = looping(MaxSteps(2), on_limit="fail")
    failed = expect(await stage.agent.run("go"), Failed)
    assert failed.error == "limit reached: MaxSteps(2)"

    again = expect(await stage.agent.retry(failed.checkpoint), Failed)

    assert len(stage.model.requests) == 4
    assert types_in(again).count("ToolStarted") == 4


async def test_a_message_after_the_end_starts_the_meter_anew() -> None:
    """Limits are of a run, not of a life."""
    stage = looping(MaxSteps(2), on_limit="finish")
    first = await stage.agent.run("go")

    await stage.agent.say(first.checkpoint, "go on")

    assert len(stage.model.requests) == 4


async def test_a_limit_does_not_hold_back_an_agent_that_is_done() -> None:
    """It is looked at before a model call, not after the last one."""
    stage = Stage([says("done")], limits=MaxSteps(1))

    assert expect(await stage.agent.run("go"), Finished).result == "done"


async def test_time_spent_waiting_for_people_does_not_count() -> None:
    """A night without an answer is nobody's work."""

    @tool(approval=True)
    async def pay() -> str:
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay, limits=MaxSeconds(60))
    paused = await stage.agent.run("go")
    stage.world.pass_time(86_400)

    outcome = await stage.agent.resume(paused.checkpoint, {"approved": True})

    assert expect(outcome, Finished).result == "done"


async def test_calls_of_the_turn_before_the_limit_all_have_their_results() -> None:
    """A limit never leaves a call without its result."""

    @tool
    async def look(thing: str) -> str:
        return thing

    stage = Stage(
        [calls(call("look", thing="a"), call("look", thing="b")), says("done")],
        look,
        limits=MaxSteps(1),
    )
    asked = expect(await stage.agent.run("go"), Paused)
    assert not asked.state.open_calls

    await stage.agent.resume(asked.checkpoint, "go_on")

    assert stage.last_results == ["a", "b"]


async def test_usage_is_added_up_over_the_whole_thread() -> None:
    """What the thread has cost so far is in every outcome."""
    stage = looping(MaxSteps(3))

    outcome = await stage.agent.run("go")

    assert outcome.usage == Usage(input_tokens=180, output_tokens=120, cost=1.5)
    assert outcome.usage.tokens == 300
