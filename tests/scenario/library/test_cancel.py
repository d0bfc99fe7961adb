"""Cancel: for good; questions withdrawn, calls settled, and what was done is undone in reverse."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agent_core import (
    AlreadySettled,
    Cancelled,
    Finished,
    Paused,
    Tool,
    ToolContext,
    WrongStatus,
    call,
    calls,
    contact_human,
    says,
    tool,
)
from tests.doubles.stage import (
    APPROVED,
    Gate,
    Stage,
    expect,
    log_of,
    question_of,
    types_in,
    upto,
    upto_last,
)


class Desk:
    """Tools that can be undone, and a record of all that was done and undone."""

    def __init__(self) -> None:
        self.deeds: list[str] = []

    def bookable(self, name: str, **options: Any) -> Tool:  # noqa: ANN401 (of tool)
        """Make a tool that books something, with its compensation."""

        async def unbook(seat: int, result: str = "") -> None:
            self.deeds.append(f"un{name} {seat} ({result})")

        @tool(name=name, compensate=unbook, **options)
        async def book(seat: int = 1) -> str:
            self.deeds.append(f"{name} {seat}")
            return f"{name}-{seat}"

        return book


def ending_in_a_question(*chosen: Any, tools: tuple[Any, ...]) -> Stage:  # noqa: ANN401 (calls and tools)
    """Set up an agent that makes these calls, one a turn, and then asks a person."""
    script = [*(calls(one) for one in chosen), calls(call("contact_human", question="Well?"))]
    return Stage(script, contact_human, *tools)


async def test_compensations_run_in_reverse_order_with_the_same_arguments_and_the_result() -> None:
    """What was done last is undone first."""
    desk = Desk()
    stage = ending_in_a_question(
        call("flight", seat=12),
        call("hotel", seat=7),
        tools=(desk.bookable("flight"), desk.bookable("hotel")),
    )
    paused = await stage.agent.run("go")

    cancelled = await stage.agent.cancel(paused.checkpoint, reason="trip is off", by="otto")

    assert desk.deeds == [
        "flight 12",
        "hotel 7",
        "unhotel 7 (hotel-7)",
        "unflight 12 (flight-12)",
    ]
    assert expect(cancelled, Cancelled).reason == "trip is off"
    assert [one.settled for one in expect(cancelled, Cancelled).undone] == [True, True]


async def test_cancel_withdraws_the_open_questions_and_an_answer_is_told_so() -> None:
    """Whoever answers later learns that it no longer matters."""
    stage = ending_in_a_question(tools=())
    paused = await stage.agent.run("go")

    cancelled = await stage.agent.cancel(paused.checkpoint, by="otto")

    assert types_in(cancelled)[-2:] == ["QuestionWithdrawn", "ThreadCancelled"]
    with pytest.raises(AlreadySettled, match="withdrawn by otto"):
        await stage.agent.resume(cancelled.checkpoint, {question_of(paused): "yes"})


async def test_a_cancelled_thread_stays_so() -> None:
    """No message, resume, retry, pause or second cancel brings it back."""
    stage = ending_in_a_question(tools=())
    paused = await stage.agent.run("go")
    cancelled = await stage.agent.cancel(paused.checkpoint, by="otto")
    thread = stage.agent.open(cancelled.checkpoint)

    for command in (thread.resume, thread.retry, thread.pause, thread.cancel, thread.close):
        refused: Callable[[], Any] = command
        with pytest.raises(WrongStatus, match="the thread is cancelled"):
            await refused()
    with pytest.raises(WrongStatus):
        await thread.say("hello?")
    await thread.tick()

    assert (await thread.run()).checkpoint == cancelled.checkpoint
    assert len(stage.model.requests) == 1


async def test_cancel_while_a_tool_runs_lets_it_finish_and_then_undoes_it() -> None:
    """A side effect is never cut in half."""
    gate = Gate()
    deeds: list[str] = []

    def unpay(result: str) -> None:
        deeds.append(f"undid {result}")

    @tool(compensate=unpay)
    async def pay() -> str:
        await gate.stop_here()
        deeds.append("paid")
        return "payment 7"

    stage = Stage([calls(call("pay")), says("done")], pay)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.cancel()
    gate.open()

    outcome = expect(await running, Cancelled)

    assert deeds == ["paid", "undid payment 7"]
    assert types_in(outcome)[-3:] == ["ThreadCancelled", "ToolReturned", "CompensationRan"]
    assert len(stage.model.requests) == 1


async def test_cancel_stops_an_interruptible_tool_and_undoes_it_all_the_same() -> None:
    """Stopped half-way, it may have taken effect."""
    gate = Gate()
    deeds: list[str] = []

    async def unpay() -> None:
        deeds.append("undone")

    @tool(compensate=unpay, interruptible=True)
    async def pay() -> str:
        await gate.stop_here()
        return "paid"

    stage = Stage([calls(call("pay"))], pay)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.cancel()
    await running

    assert deeds == ["undone"]


async def test_cancel_undoes_a_tool_that_paused_for_two_things_at_once() -> None:
    """It was refused as it can't be resumed, but it had run: it may have taken effect."""
    deeds: list[str] = []

    async def unpay() -> None:
        deeds.append("undone")

    @tool(compensate=unpay)
    async def pay(ctx: ToolContext) -> str:
        deeds.append("paid")
        await asyncio.gather(ctx.pause_for("text", "A?"), ctx.pause_for("text", "B?"))
        return "never"

    stage = Stage(
        [calls(call("pay")), calls(call("contact_human", question="So?"))], pay, contact_human
    )
    paused = expect(await stage.agent.run("go"), Paused)
    await stage.agent.cancel(paused.checkpoint)

    assert deeds == ["paid", "undone"]


async def test_cancel_reaches_the_model_call_in_flight() -> None:
    """Its reply is neither waited for nor recorded."""
    gate = Gate()
    stage = Stage([says("done")], before_reply=gate.stop_here)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.cancel()

    outcome = expect(await running, Cancelled)

    assert "ModelReplied" not in types_in(outcome)


async def test_a_tool_that_asks_after_the_cancel_asks_nobody() -> None:
    """Nobody can be asked on behalf of a cancelled thread."""
    gate = Gate()

    @tool
    async def ask(ctx: ToolContext) -> str:
        await gate.stop_here()
        return str(await ctx.ask("Well?"))

    stage = Stage([calls(call("ask"))], ask)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.cancel()
    gate.open()

    outcome = expect(await running, Cancelled)

    assert not outcome.state.open_questions
    assert not outcome.state.open_calls
    assert "QuestionAsked" not in types_in(outcome)


async def test_a_compensation_is_retried_with_back_off_and_each_try_is_recorded() -> None:
    """It fails twice, then works."""
    tries: list[str] = []

    async def unpay(ctx: ToolContext) -> None:
        tries.append(ctx.idempotency_key)
        if len(tries) < 3:
            raise RuntimeError(f"try {len(tries)}")

    @tool(compensate=unpay)
    async def pay() -> str:
        return "paid"

    stage = ending_in_a_question(call("pay"), tools=(pay,))
    paused = await stage.agent.run("go")

    outcome = expect(await stage.agent.cancel(paused.checkpoint), Cancelled)

    ran = [event for event in log_of(outcome) if event["type"] == "CompensationRan"]
    assert [(one.get("attempt", 1), one.get("error", "")) for one in ran] == [
        (1, "RuntimeError: try 1"),
        (2, "RuntimeError: try 2"),
        (3, ""),
    ]
    assert stage.world.slept == [0.5, 1.0]
    assert tries == ["th_1/3.0/undo"] * 3


async def test_a_compensation_that_never_works_is_given_up_and_the_next_one_runs() -> None:
    """One stuck undo doesn't hold the others; people see the error."""
    desk = Desk()

    async def unpay() -> None:
        raise RuntimeError("bank is closed")

    @tool(compensate=unpay)
    async def pay() -> str:
        return "paid"

    stage = Stage(
        [
            calls(call("flight", seat=1)),
            calls(call("pay")),
            calls(call("contact_human", question="Well?")),
        ],
        desk.bookable("flight"),
        pay,
        contact_human,
        undo_attempts=2,
    )
    paused = await stage.agent.run("go")

    outcome = expect(await stage.agent.cancel(paused.checkpoint), Cancelled)

    given_up, undone = outcome.undone
    assert (given_up.attempts, given_up.error) == (2, "RuntimeError: bank is closed")
    assert (undone.attempts, undone.error) == (1, "")
    assert desk.deeds[-1] == "unflight 1 (flight-1)"


async def test_a_compensation_gets_the_edited_arguments() -> None:
    """It undoes what ran, not what the model chose."""
    desk = Desk()
    stage = Stage(
        [calls(call("flight", seat=500)), calls(call("contact_human", question="Well?"))],
        desk.bookable("flight", approval=True),
        contact_human,
    )
    gated = await stage.agent.run("go")
    edited = {"approved": True, "arguments": {"seat": 5}}
    paused = await stage.agent.resume(gated.checkpoint, edited)

    await stage.agent.cancel(paused.checkpoint)

    assert desk.deeds == ["flight 5", "unflight 5 (flight-5)"]


async def test_a_compensation_may_be_another_tool() -> None:
    """What undoes may itself be something that a model can choose."""
    deeds: list[str] = []

    @tool
    def refund(order: str) -> str:
        deeds.append(f"refunded {order}")
        return "refunded"

    @tool(compensate=refund)
    def charge(order: str, amount: int = 5) -> str:
        deeds.append(f"charged {amount}")
        return "charged"

    stage = ending_in_a_question(call("charge", order="A7"), tools=(charge, refund))
    paused = await stage.agent.run("go")

    await stage.agent.cancel(paused.checkpoint)

    assert deeds == ["charged 5", "refunded A7"]


async def test_what_failed_without_effect_was_denied_or_never_ran_is_not_undone() -> None:
    """Only what took effect, or may have, is undone."""
    undone: list[str] = []

    def compensation(name: str) -> Callable[[], None]:
        def undo() -> None:
            undone.append(name)

        return undo

    @tool(compensate=compensation("raised"))
    async def raised() -> str:
        raise RuntimeError("no")

    @tool(compensate=compensation("denied"), approval=True)
    async def denied() -> str:
        return "never"

    @tool(compensate=compensation("waiting"), approval=True)
    async def waiting() -> str:
        return "never"

    @tool(compensate=compensation("timed_out"), timeout=0.3)
    async def timed_out() -> str:
        await asyncio.Event().wait()
        return "never"

    @tool(compensate=compensation("odd"))
    async def odd() -> object:
        return {1, 2}

    tools = (raised, denied, waiting, timed_out, odd)
    stage = Stage([calls(*(call(one.name) for one in tools))], *tools, ask_after_failures=0)
    paused = await stage.agent.run("go")
    half = await stage.agent.resume(paused.checkpoint, {"q_1": {"approved": False}})

    await stage.agent.cancel(half.checkpoint)

    assert sorted(undone) == ["odd", "timed_out"]


async def test_without_a_result_a_compensation_gets_none_in_its_place() -> None:
    """After a time-out there is no result; the error's text must not pass for one."""
    given: list[object] = []

    def unpay(result: object) -> None:
        given.append(result)

    @tool(compensate=unpay, timeout=0.3)
    async def pay() -> str:
        await asyncio.Event().wait()
        return "never"

    stage = ending_in_a_question(call("pay"), tools=(pay,))
    paused = await stage.agent.run("go")

    await stage.agent.cancel(paused.checkpoint)

    assert given == [None]


async def test_a_tool_cut_off_by_a_crash_is_undone_when_the_thread_is_cancelled() -> None:
    """Its outcome is unknown, so it may have taken effect; nobody is asked any more."""
    desk = Desk()
    stage = ending_in_a_question(call("flight", seat=3), tools=(desk.bookable("flight"),))
    paused = await stage.agent.run("go")
    crashed = upto(paused, types_in(paused).index("ToolStarted") + 1)
    desk.deeds.clear()

    outcome = expect(await stage.agent.cancel(crashed), Cancelled)

    assert desk.deeds == ["unflight 3 (None)"]
    assert [event["type"] for event in log_of(outcome)][-2:] == ["ToolFailed", "CompensationRan"]


async def test_cancel_while_a_person_is_asked_about_the_outcome_undoes_it() -> None:
    """Doubted counts as done."""
    desk = Desk()
    stage = ending_in_a_question(call("flight", seat=3), tools=(desk.bookable("flight"),))
    paused = await stage.agent.run("go")
    crashed = upto(paused, types_in(paused).index("ToolStarted") + 1)
    doubted = expect(await stage.agent.resume(crashed), Paused)
    desk.deeds.clear()

    await stage.agent.cancel(doubted.checkpoint)

    assert len(desk.deeds) == 1
    assert desk.deeds[0].startswith("unflight 3")


async def test_a_crash_during_the_undoing_goes_on_with_what_is_left() -> None:
    """Cut after any event of the cancel: each compensation runs, none that is recorded twice."""
    desk = Desk()
    stage = ending_in_a_question(
        call("flight", seat=1),
        call("hotel", seat=2),
        tools=(desk.bookable("flight"), desk.bookable("hotel")),
    )
    paused = await stage.agent.run("go")
    whole = await stage.agent.cancel(paused.checkpoint)
    length = len(types_in(whole))

    left = []
    for cut in range(length - 2, length + 1):
        desk.deeds.clear()
        await stage.agent.open(upto(whole, cut)).run()
        left.append(list(desk.deeds))

    assert left == [["unhotel 2 (hotel-2)", "unflight 1 (flight-1)"], ["unflight 1 (flight-1)"], []]


async def test_undoing_waits_for_the_kill_switch() -> None:
    """Halt means no tool call at all; lifted, the undoing goes on."""
    desk = Desk()
    stage = ending_in_a_question(call("flight", seat=1), tools=(desk.bookable("flight"),))
    paused = await stage.agent.run("go")
    stage.world.halt_reason = "budget"
    halted = await stage.agent.cancel(paused.checkpoint)
    assert desk.deeds == ["flight 1"]
    stage.world.halt_reason = ""

    await stage.agent.open(halted.checkpoint).run()

    assert desk.deeds == ["flight 1", "unflight 1 (flight-1)"]


async def test_a_compensation_that_is_gone_after_a_deploy_is_reported_not_forgotten() -> None:
    """People see that it could not be undone."""
    desk = Desk()
    stage = ending_in_a_question(call("flight", seat=1), tools=(desk.bookable("flight"),))
    paused = await stage.agent.run("go")

    outcome = await stage.deploy(contact_human).cancel(paused.checkpoint)

    (lost,) = expect(outcome, Cancelled).undone
    assert lost.error == "flight has no compensation any more"


async def test_a_compensation_cannot_ask() -> None:
    """Nobody waits for its answer any more; the try fails in words."""

    async def unpay(ctx: ToolContext) -> None:
        await ctx.ask("Really?")

    @tool(compensate=unpay)
    async def pay() -> str:
        return "paid"

    stage = ending_in_a_question(call("pay"), tools=(pay,))
    paused = await stage.agent.run("go")

    outcome = await stage.agent.cancel(paused.checkpoint)

    assert "a compensation can't ask" in expect(outcome, Cancelled).undone[0].error


async def test_a_tool_that_ended_by_pausing_for_an_answer_is_undone_too() -> None:
    """It has run to its end; the answer would only have been its result."""
    deeds: list[str] = []

    async def unsend() -> None:
        deeds.append("unsent")

    @tool(compensate=unsend)
    async def send(ctx: ToolContext) -> str:
        deeds.append("sent")
        await ctx.pause_for("text", "Did it arrive?")

    stage = Stage([calls(call("send"))], send)
    paused = await stage.agent.run("go")

    await stage.agent.cancel(paused.checkpoint)

    assert deeds == ["sent", "unsent"]


async def test_a_paused_and_a_failed_thread_can_be_cancelled() -> None:
    """Wherever it stands, it can be stopped."""
    desk = Desk()
    stage = ending_in_a_question(call("flight", seat=1), tools=(desk.bookable("flight"),))
    asked = await stage.agent.run("go")
    held = await stage.agent.pause(asked.checkpoint)

    assert isinstance(await stage.agent.cancel(held.checkpoint), Cancelled)
    assert desk.deeds == ["flight 1", "unflight 1 (flight-1)"]


async def test_a_finished_thread_cannot_be_cancelled_but_its_fork_before_the_end_can() -> None:
    """What the original did is not the fork's to undo."""
    desk = Desk()
    stage = Stage([calls(call("flight", seat=1)), says("done")], desk.bookable("flight"))
    whole = expect(await stage.agent.run("go"), Finished)
    with pytest.raises(WrongStatus, match="the thread is finished and can't be cancelled"):
        await stage.agent.cancel(whole.checkpoint)

    fork = stage.agent.fork(whole.checkpoint, len(types_in(whole)) - 1)
    await fork.cancel()
    await fork.run()

    assert desk.deeds == ["flight 1"]


async def test_cancel_between_approval_and_run_never_runs_the_tool() -> None:
    """Approved, held, cancelled."""
    desk = Desk()
    stage = Stage([calls(call("flight", seat=1))], desk.bookable("flight", approval=True))
    thread = stage.agent.launch("go")
    await thread.run()
    await thread.pause()
    await thread.answer(APPROVED)
    await thread.cancel()

    outcome = expect(await thread.run(), Cancelled)

    assert desk.deeds == []
    assert not outcome.state.open_calls
    assert outcome.undone == ()


async def test_the_log_of_a_cancel_can_be_read_again() -> None:
    """A cancelled thread's checkpoint opens to the same outcome."""
    desk = Desk()
    stage = ending_in_a_question(call("flight", seat=1), tools=(desk.bookable("flight"),))
    paused = await stage.agent.run("go")
    outcome = expect(await stage.agent.cancel(paused.checkpoint, reason="off"), Cancelled)

    again = expect(stage.agent.open(upto_last(outcome, "CompensationRan")).outcome(), Cancelled)

    assert (again.reason, again.undone) == (outcome.reason, outcome.undone)


async def test_halt_stops_the_retries_of_a_compensation() -> None:
    """Lifted, the next try comes, and counts on from the last one."""
    tries = 0

    async def unpay() -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            stage.world.halt_reason = "budget"
            raise RuntimeError("no")

    @tool(compensate=unpay)
    async def pay() -> str:
        return "paid"

    stage = ending_in_a_question(call("pay"), tools=(pay,))
    paused = await stage.agent.run("go")
    halted = await stage.agent.cancel(paused.checkpoint)
    assert tries == 1
    stage.world.halt_reason = ""

    outcome = expect(await stage.agent.open(halted.checkpoint).run(), Cancelled)

    assert [(one.attempts, one.error) for one in outcome.undone] == [(2, "")]


async def test_a_compensation_of_a_tool_that_takes_other_arguments_now_is_reported() -> None:
    """It is not called with arguments that don't fit."""
    desk = Desk()
    stage = ending_in_a_question(call("flight", seat=1), tools=(desk.bookable("flight"),))
    paused = await stage.agent.run("go")

    def unbook(row: str) -> None:
        desk.deeds.append(row)

    @tool(name="flight", compensate=unbook)
    async def changed(row: str) -> str:
        return row

    outcome = await stage.deploy(contact_human, changed).cancel(paused.checkpoint)

    assert "flight takes other arguments now" in expect(outcome, Cancelled).undone[0].error
    assert desk.deeds == ["flight 1"]
