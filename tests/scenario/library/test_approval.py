"""Approval: a tool that needs it runs with exactly what was approved, once, and never before."""

from __future__ import annotations

import pytest

from agent_core import (
    AlreadySettled,
    Finished,
    Paused,
    ToolContext,
    WrongShape,
    call,
    calls,
    says,
    tool,
)
from agent_core.thread.digest import approval_digest
from tests.doubles.stage import (
    APPROVED,
    DENIED,
    Stage,
    expect,
    log_of,
    question_of,
    types_in,
    upto,
)


class Till:
    """A tool that needs approval, and a record of what it paid."""

    def __init__(self) -> None:
        self.paid: list[int] = []

        @tool(approval=True, approvers=["cashier", "otto"])
        async def pay(amount: int, to: str = "anna") -> str:
            """Pay somebody."""
            self.paid.append(amount)
            return f"paid {amount} to {to}"

        self.pay = pay


def paying(till: Till, amount: int = 5) -> Stage:
    """Set up an agent that wants to pay."""
    return Stage([calls(call("pay", amount=amount)), says("done")], till.pay)


async def test_the_question_shows_what_would_run_and_to_whom_it_goes() -> None:
    """A person sees the tool, its arguments and its description before deciding."""
    till = Till()

    (question,) = expect(await paying(till).agent.run("go"), Paused).questions

    assert (question.kind, question.purpose) == ("approval", "approval")
    assert (question.tool, question.arguments) == ("pay", {"amount": 5})
    assert question.to == ("cashier", "otto")
    assert question.context == "Pay somebody."
    assert till.paid == []


async def test_an_approval_is_bound_to_the_tool_and_its_arguments() -> None:
    """The digest in the log is of exactly what was approved."""
    till = Till()
    stage = paying(till)
    paused = await stage.agent.run("go")

    outcome = await stage.agent.resume(paused.checkpoint, APPROVED)

    (answered,) = (e for e in log_of(outcome) if e["type"] == "QuestionAnswered")
    digest = approval_digest("pay", till.pay.signature.digest, {"amount": 5})
    assert answered["digest"] == digest
    assert till.paid == [5]


async def test_edited_arguments_are_what_runs_and_the_model_is_told() -> None:
    """Approve with edits: not what the model chose, but what the person allowed."""
    till = Till()
    stage = paying(till, 500)
    paused = await stage.agent.run("go")

    edited = {"approved": True, "arguments": {"amount": 50, "to": "otto"}}
    outcome = await stage.agent.resume(paused.checkpoint, edited)

    (answered,) = (e for e in log_of(outcome) if e["type"] == "QuestionAnswered")
    assert till.paid == [50]
    assert stage.last_results == [
        '(Approved with changed arguments: {"amount":50,"to":"otto"})\npaid 50 to otto'
    ]
    assert answered["digest"] == approval_digest(
        "pay", till.pay.signature.digest, {"amount": 50, "to": "otto"}
    )


async def test_the_models_own_words_stay_its_own_after_an_edit() -> None:
    """What it chose is shown as it chose it; the result says what ran instead."""
    till = Till()
    stage = paying(till, 500)
    paused = await stage.agent.run("go")

    await stage.agent.resume(paused.checkpoint, {"approved": True, "arguments": {"amount": 50}})

    (chosen,) = stage.model.requests[-1].messages[1]["tool_calls"]
    assert chosen["function"]["arguments"] == '{"amount":500}'


async def test_the_model_is_told_of_the_edits_also_when_the_tool_fails() -> None:
    """Otherwise it would think that its own arguments had failed."""

    @tool(approval=True)
    async def pay(amount: int) -> str:
        raise RuntimeError(f"no {amount} in the till")

    stage = Stage([calls(call("pay", amount=500)), says("done")], pay)
    paused = await stage.agent.run("go")

    await stage.agent.resume(paused.checkpoint, {"approved": True, "arguments": {"amount": 50}})

    (told,) = stage.last_results
    assert "no 50 in the till" in told
    assert 'changed arguments: {"amount":50}' in told


@pytest.mark.parametrize("arguments", [{"amount": "much"}, {}, {"amount": 5, "tip": 1}])
async def test_edited_arguments_that_do_not_fit_are_refused(arguments: dict[str, object]) -> None:
    """The question stays open; nothing ran."""
    till = Till()
    stage = paying(till)
    thread = stage.agent.launch("go")
    await thread.run()

    with pytest.raises(WrongShape, match="The changed arguments don't fit pay: "):
        await thread.answer({"approved": True, "arguments": arguments})

    assert len(expect(thread.outcome(), Paused).questions) == 1
    assert till.paid == []


async def test_a_predicate_by_name_decides_per_call() -> None:
    """Only the calls that it picks need a person."""

    @tool(approval=lambda amount: amount > 100)
    async def pay(amount: int, to: str = "anna") -> str:
        return f"paid {amount} to {to}"

    stage = Stage([calls(call("pay", amount=5), call("pay", amount=500)), says("done")], pay)

    (question,) = expect(await stage.agent.run("go"), Paused).questions

    assert question.arguments == {"amount": 500}


async def test_a_predicate_sees_defaults_by_name_and_as_one_object() -> None:
    """What was left out is filled in before it looks."""

    @tool(approval=lambda to: to == "anna")
    async def by_name(to: str = "anna") -> str:
        return f"by name {to}"

    @tool(approval=lambda it: it.to == "anna" and it["amount"] > 3)
    async def by_object(amount: int, to: str = "anna") -> str:
        return f"by object {amount} {to}"

    stage = Stage(
        [
            calls(
                call("by_name"),
                call("by_name", to="otto"),
                call("by_object", amount=4),
                call("by_object", amount=2),
            ),
            says("done"),
        ],
        by_name,
        by_object,
    )

    paused = expect(await stage.agent.run("go"), Paused)

    assert [question.call for question in paused.questions] == ["3.0", "3.2"]


async def test_a_predicate_sees_validated_values() -> None:
    """The model wrote "500"; the predicate gets the number that the tool will get."""

    @tool(approval=lambda amount: amount > 100)
    async def pay(amount: int) -> str:
        return f"paid {amount}"

    stage = Stage([calls(call("pay", amount="500")), says("done")], pay)

    assert expect(await stage.agent.run("go"), Paused).questions


async def test_a_predicate_that_fails_means_ask() -> None:
    """The safe side of a broken rule is a person."""

    @tool(approval=lambda it: it.no_such_thing > 3)
    async def pay(amount: int) -> str:
        return f"paid {amount}"

    stage = Stage([calls(call("pay", amount=1)), says("done")], pay)

    assert expect(await stage.agent.run("go"), Paused).questions


async def test_a_tool_never_runs_before_its_approval_wherever_the_log_was_cut() -> None:
    """Cut after any event and resume: it runs only if a person has said yes in that very log."""
    till = Till()
    stage = paying(till)
    paused = await stage.agent.run("go")
    whole = await stage.agent.resume(paused.checkpoint, APPROVED)
    types = types_in(whole)
    answered = types.index("QuestionAnswered") + 1
    assert till.paid == [5]

    for length in range(1, answered):
        till.paid.clear()
        outcome = await stage.agent.resume(upto(whole, length))
        chosen = length >= types.index("ModelReplied") + 1
        assert till.paid == [], f"ran after {types[:length]}"
        if chosen:
            assert question_of(outcome)


async def test_a_fork_never_runs_a_tool_on_the_originals_approval() -> None:
    """Each approved call runs once: a fork at any event before the start asks anew."""
    till = Till()
    stage = paying(till)
    paused = await stage.agent.run("go")
    whole = await stage.agent.resume(paused.checkpoint, APPROVED)
    types = types_in(whole)

    for at in range(types.index("ModelReplied") + 1, types.index("ToolStarted") + 1):
        till.paid.clear()
        outcome = await stage.agent.fork(whole.checkpoint, at).run()
        assert till.paid == [], f"ran after {types[:at]}"
        (question,) = expect(outcome, Paused).questions
        assert question.kind == "approval"
        assert question.id != question_of(paused)


async def test_a_fork_can_be_approved_and_denied_apart_from_its_original() -> None:
    """Two threads, two decisions."""
    till = Till()
    stage = paying(till)
    paused = await stage.agent.run("go")
    fork = stage.agent.fork(paused.checkpoint)

    await stage.agent.resume(paused.checkpoint, DENIED)
    await fork.answer(APPROVED)
    forked = await fork.run()

    assert till.paid == [5]
    assert expect(forked, Finished).result == "done"
    assert forked.thread != paused.thread
    with pytest.raises(AlreadySettled):
        await fork.answer({question_of(paused): APPROVED})


async def test_an_approved_call_runs_once_and_later_turns_ask_anew() -> None:
    """An approval is used up: the same call chosen again needs another one."""
    till = Till()
    stage = Stage(
        [calls(call("pay", amount=5)), calls(call("pay", amount=5)), says("done")], till.pay
    )
    first = await stage.agent.run("go")

    second = expect(await stage.agent.resume(first.checkpoint, APPROVED), Paused)

    assert till.paid == [5]
    assert question_of(second) != question_of(first)


async def test_an_approved_tool_that_asks_a_question_of_its_own_is_not_approved_twice() -> None:
    """It was let through at its first start; its own question is another matter."""

    @tool(approval=True)
    async def pay(ctx: ToolContext) -> str:
        return f"paid from {await ctx.ask('Which account?')}"

    stage = Stage([calls(call("pay")), says("done")], pay)
    gated = await stage.agent.run("go")
    asked = await stage.agent.resume(gated.checkpoint, APPROVED)

    outcome = await stage.agent.resume(asked.checkpoint, "savings")

    assert expect(outcome, Finished).result == "done"
    assert types_in(outcome).count("QuestionAsked") == 2
    assert stage.last_results == ["paid from savings"]


async def test_a_pause_between_approval_and_run_keeps_the_approval() -> None:
    """Held, approved, let go: it runs once, with no second question."""
    till = Till()
    stage = paying(till)
    thread = stage.agent.launch("go")
    await thread.run()
    await thread.pause()
    await thread.answer(APPROVED)
    held = await thread.run()
    assert till.paid == []

    outcome = await stage.agent.resume(held.checkpoint)

    assert expect(outcome, Finished).result == "done"
    assert till.paid == [5]
    assert types_in(outcome).count("QuestionAsked") == 1
