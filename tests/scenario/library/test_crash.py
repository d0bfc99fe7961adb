"""Crash: what was started is never blindly repeated, and nothing that was recorded is lost."""

from __future__ import annotations

import asyncio

import pytest

from agent_core import (
    Finished,
    Paused,
    ToolContext,
    call,
    calls,
    says,
    tool,
)
from tests.doubles.stage import (
    APPROVED,
    Stage,
    expect,
    log_of,
    question_of,
    said_to,
    types_in,
    upto,
    upto_last,
)


class Bank:
    """Pays, and keeps the checkpoint as it was while it paid: what a crash there leaves."""

    def __init__(self, *, idempotent: bool = False) -> None:
        self.keys: list[str] = []
        self.attempts: list[int] = []
        self.left_behind = ""

        @tool(idempotent=idempotent, approvers=["cashier"])
        async def pay(ctx: ToolContext, amount: int) -> str:
            self.keys.append(ctx.idempotency_key)
            self.attempts.append(ctx.attempt)
            self.left_behind = self.left_behind or self.thread.checkpoint
            return f"paid {amount}"

        self.stage = Stage([calls(call("pay", amount=5)), says("done")], pay)
        self.thread = self.stage.agent.launch("go")

    async def crash(self) -> str:
        """Run, and give the checkpoint of the moment in which the tool was at work."""
        await self.thread.run()
        self.keys.clear()
        self.attempts.clear()
        return self.left_behind


async def test_that_a_tool_has_started_is_in_the_log_before_it_runs() -> None:
    """With its idempotency key, so that a recovery finds both."""
    bank = Bank()

    left_behind = await bank.crash()

    started = log_of(left_behind)[-1]
    assert (started["type"], started["call"], started["key"]) == ("ToolStarted", "3.0", "th_1/3.0")


async def test_an_idempotent_tool_runs_again_with_the_same_key() -> None:
    """Nobody needs to be asked: whoever it calls recognises the key."""
    bank = Bank(idempotent=True)
    left_behind = await bank.crash()

    outcome = await bank.stage.agent.resume(left_behind)

    assert expect(outcome, Finished).result == "done"
    assert bank.keys == ["th_1/3.0"]
    assert bank.attempts == [2]
    assert bank.stage.last_results == ["paid 5"]


async def test_of_any_other_tool_a_person_is_asked_what_became_of_it() -> None:
    """The question goes to those who may approve it, shows the arguments, and is urgent."""
    bank = Bank()
    left_behind = await bank.crash()

    (question,) = expect(await bank.stage.agent.resume(left_behind), Paused).questions

    assert question.prompt == "pay was cut off while it ran. Did it take effect?"
    assert [option.name for option in question.options] == ["it_happened", "run_again", "skip"]
    assert (question.tool, question.arguments) == ("pay", {"amount": 5})
    assert (question.to, question.urgency) == (("cashier",), "high")
    assert bank.keys == []


@pytest.mark.parametrize(
    ("choice", "keys", "told"),
    [
        ("it_happened", [], "It took effect, as confirmed by otto."),
        ("run_again", ["th_1/3.0"], "paid 5"),
        ("skip", [], "Nobody knows whether this took effect"),
    ],
)
async def test_the_person_decides_how_it_goes_on(choice: str, keys: list[str], told: str) -> None:
    """It happened, run it again with the same key, or leave it; each gives one result."""
    bank = Bank()
    asked = await bank.stage.agent.resume(await bank.crash())

    outcome = await bank.stage.agent.resume(asked.checkpoint, choice, by="otto")

    assert expect(outcome, Finished).result == "done"
    assert bank.keys == keys
    assert told in bank.stage.last_results[0]


async def test_a_comment_on_the_outcome_reaches_the_model() -> None:
    """What the person found out is worth more than the choice."""
    bank = Bank()
    asked = await bank.stage.agent.resume(await bank.crash())

    await bank.stage.agent.resume(asked.checkpoint, "skip", comment="the bank is looking")

    assert "the bank is looking" in bank.stage.last_results[0]


@pytest.mark.parametrize("end", ["expire", "withdraw"])
async def test_an_outcome_that_nobody_tells_stays_unknown(end: str) -> None:
    """The model is never told that nothing ran, when nobody knows."""
    bank = Bank()
    asked = await bank.stage.agent.resume(await bank.crash())
    thread = bank.stage.agent.open(asked.checkpoint)
    await (thread.expire if end == "expire" else thread.withdraw)(question_of(asked))

    outcome = await thread.run()

    (told,) = bank.stage.last_results
    assert expect(outcome, Finished).result == "done"
    assert "Nobody knows" in told
    assert "nothing ran" not in told


async def test_a_second_crash_while_the_person_thinks_changes_nothing() -> None:
    """The question is in the log; it is not asked twice."""
    bank = Bank()
    asked = await bank.stage.agent.resume(await bank.crash())

    again = await bank.stage.agent.resume(asked.checkpoint)

    assert question_of(again) == question_of(asked)
    assert types_in(again) == types_in(asked)


async def test_a_crash_after_run_again_asks_again_with_the_same_key() -> None:
    """Each crash is a new doubt; the key never changes."""
    bank = Bank()
    asked = await bank.stage.agent.resume(await bank.crash())
    whole = await bank.stage.agent.resume(asked.checkpoint, "run_again")

    crashed = await bank.stage.agent.resume(upto_last(whole, "ToolStarted"))

    assert question_of(crashed) != question_of(asked)
    await bank.stage.agent.resume(crashed.checkpoint, "run_again")
    assert bank.keys == ["th_1/3.0", "th_1/3.0"]


async def test_only_the_calls_that_were_cut_off_are_in_doubt() -> None:
    """One of three had ended, one had not begun; only the third is asked about."""
    ends = asyncio.Event()

    @tool
    async def quick() -> str:
        ends.set()
        return "quick"

    @tool
    async def slow() -> str:
        await ends.wait()
        await asyncio.sleep(0)
        return "slow"

    @tool(approval=True)
    async def gated() -> str:
        return "gated"

    stage = Stage(
        [calls(call("quick"), call("slow"), call("gated")), says("done")], quick, slow, gated
    )
    paused = await stage.agent.run("go")
    types = types_in(paused)
    crashed = await stage.agent.resume(upto(paused, types.index("ToolReturned") + 1))

    prompts = {question.prompt: question.id for question in expect(crashed, Paused).questions}
    doubted = "slow was cut off while it ran. Did it take effect?"
    assert set(prompts) == {"May I run gated?", doubted}
    await stage.agent.resume(
        crashed.checkpoint,
        {prompts[doubted]: "it_happened", prompts["May I run gated?"]: APPROVED},
    )
    assert stage.last_results == ["quick", "It took effect, as confirmed.", "gated"]


async def test_cut_anywhere_a_run_ends_the_same_and_no_effect_happens_twice() -> None:
    """Crash after every event of a run with several effects, and go on: each happens once."""
    deeds: list[str] = []

    @tool
    async def pay(n: int) -> str:
        deeds.append(f"paid {n}")
        return f"paid {n}"

    stage = Stage(
        [calls(call("pay", n=1), call("pay", n=2)), calls(call("pay", n=3)), says("done")], pay
    )
    whole = await stage.agent.run("go")
    types = types_in(whole)

    for length in range(2, len(types) + 1):
        cut_off = upto(whole, length)
        begun = types[:length].count("ToolStarted")
        deeds.clear()
        outcome = await stage.agent.resume(cut_off)
        while isinstance(outcome, Paused):
            answers = {question.id: "it_happened" for question in outcome.questions}
            outcome = await stage.agent.resume(outcome.checkpoint, answers)
        assert expect(outcome, Finished).result == "done"
        assert len(deeds) == 3 - begun, f"after {types[:length]}"


async def test_a_crash_during_a_model_call_asks_the_model_again() -> None:
    """Nothing was recorded, so nothing is lost but the call."""
    stage = Stage([says("done")])
    whole = await stage.agent.run("hi")
    crashed = upto(whole, types_in(whole).index("MessageReceived") + 1)

    outcome = await stage.agent.resume(crashed)

    assert expect(outcome, Finished).result == "done"
    assert said_to(stage.model.requests[-1]) == [("user", "hi")]


async def test_a_crash_just_before_the_end_finishes_without_another_model_call() -> None:
    """The reply is in the log."""
    stage = Stage([says("done")])
    whole = await stage.agent.run("hi")

    outcome = await stage.agent.resume(upto_last(whole, "ModelReplied"))

    assert expect(outcome, Finished).result == "done"
    assert len(stage.model.requests) == 1


async def test_a_handler_that_was_cut_off_runs_again_if_its_tool_is_idempotent() -> None:
    """The handler, not the tool, with the same answer."""
    runs: list[str] = []

    @tool(idempotent=True)
    async def pay(ctx: ToolContext) -> str:
        runs.append("tool")
        await ctx.pause_for("text", "How much?", resume_to={"event": "paid"})

    stage = Stage([calls(call("pay")), says("done")], pay)

    @stage.agent.on("paid")
    async def paid(answer: str) -> str:
        runs.append(f"handler {answer}")
        return f"got {answer}"

    asked = await stage.agent.run("go")
    whole = await stage.agent.resume(asked.checkpoint, "5")
    await stage.agent.resume(upto_last(whole, "ToolStarted"))

    assert runs == ["tool", "handler 5", "handler 5"]
    assert stage.last_results == ["got 5"]
