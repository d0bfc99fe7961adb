"""Fork: the log up to any event, under a new id; what was done is neither repeated nor undone."""

from __future__ import annotations

import asyncio

import pytest

from agent_core import (
    Failed,
    Finished,
    ModelRejected,
    Outcome,
    Paused,
    Refused,
    Thread,
    ToolContext,
    call,
    calls,
    contact_human,
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
)


async def settle(thread: Thread) -> Outcome:
    """Run a thread to its end, saying yes, "fine" or "skip" to whatever it asks."""
    outcome = await thread.run()
    while isinstance(outcome, Paused):
        if outcome.questions:
            asked = outcome.questions[0]
            answer = {"approval": APPROVED, "choice": "skip"}.get(asked.kind, "fine")
            await thread.answer({asked.id: answer})
        if outcome.why == "paused":
            await thread.resume()
        outcome = await thread.run()
    return outcome


async def test_a_fork_has_its_own_id_and_says_where_it_comes_from() -> None:
    """The copy names its original and the event that it was made at."""
    stage = Stage([says("one"), says("two")])
    first = await stage.agent.run("hi")

    fork = stage.agent.fork(first.checkpoint, 3)

    launched = log_of(fork.checkpoint)[0]
    assert (launched["thread"], launched["forked_from"], launched["forked_at"]) == (
        "th_2",
        "th_1",
        3,
    )
    assert log_of(fork.checkpoint)[1:] == log_of(first)[1:3]


async def test_open_questions_are_asked_anew_under_new_ids() -> None:
    """An answer to the original's question is not the fork's, and the other way round."""
    stage = Stage([calls(call("contact_human", question="Well?")), says("done")], contact_human)
    asked = await stage.agent.run("go")

    fork = stage.agent.fork(asked.checkpoint)

    forked = expect(fork.outcome(), Paused)
    assert question_of(forked) != question_of(asked)
    assert forked.questions[0].prompt == "Well?"
    with pytest.raises(Refused):
        await fork.answer({question_of(asked): "fine"})
    await fork.answer("fine")
    assert expect(await fork.run(), Finished).result == "done"
    assert stage.last_results == ["fine"]


async def test_past_side_effects_are_not_repeated() -> None:
    """Fork at every event of a whole run: a tool that has its result doesn't run again."""
    deeds: list[str] = []

    @tool
    async def pay() -> str:
        deeds.append("paid")
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    whole = await stage.agent.run("go")
    types = types_in(whole)
    started = types.index("ToolStarted") + 1

    for at in range(1, len(types) + 1):
        deeds.clear()
        outcome = await stage.agent.fork(whole.checkpoint, at).run()
        if at >= started:
            assert deeds == [], f"repeated after {types[:at]}"
        if at == started:
            assert "cut off" in expect(outcome, Paused).questions[0].prompt


async def test_a_fork_of_a_call_that_was_running_passes_on_the_same_idempotency_key() -> None:
    """An idempotent tool run again by the fork is recognised by whoever it calls."""
    keys: list[str] = []

    @tool(idempotent=True)
    async def pay(ctx: ToolContext) -> str:
        keys.append(ctx.idempotency_key)
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    whole = await stage.agent.run("go")
    await stage.agent.fork(whole.checkpoint, types_in(whole).index("ToolStarted") + 1).run()

    assert keys == ["th_1/3.0", "th_1/3.0"]


async def test_an_ask_with_its_own_id_can_be_answered_in_the_fork() -> None:
    """The new copy of the question stands for the one that the tool named."""

    @tool
    async def ask(ctx: ToolContext) -> str:
        where = await ctx.ask("Where to?", id="where")
        return f"{where} {await ctx.ask('When?', id='when')}"

    stage = Stage([calls(call("ask")), says("done")], ask)
    asked = await stage.agent.run("go")
    fork = stage.agent.fork(asked.checkpoint)
    await fork.answer("Bonn")
    await fork.run()
    again = stage.agent.fork(fork.checkpoint)
    await again.answer("today")
    await again.run()

    assert stage.last_results == ["Bonn today"]


@pytest.mark.parametrize("answered", ["q_1", "q_2"])
async def test_answers_given_before_a_fork_stay_with_their_questions(answered: str) -> None:
    """Of two gathered asks one was answered; the fork asks the other, and swaps none."""

    @tool
    async def ask(ctx: ToolContext) -> str:
        one, two = await asyncio.gather(ctx.ask("Well?", to="anna"), ctx.ask("Well?", to="otto"))
        return f"anna: {one}, otto: {two}"

    stage = Stage([calls(call("ask")), says("done")], ask)
    asked = await stage.agent.run("go")
    half = await stage.agent.resume(asked.checkpoint, {answered: answered})
    fork = stage.agent.fork(half.checkpoint)
    await fork.answer("fork")
    await fork.run()

    expected = {"q_1": "anna: q_1, otto: fork", "q_2": "anna: fork, otto: q_2"}
    assert stage.last_results == [expected[answered]]


async def test_any_event_of_a_rich_log_can_be_forked_at_and_run_to_an_end() -> None:
    """Approvals, gathered asks, posts, pauses, expiry: every prefix is a thread that can live."""

    @tool(approval=True)
    async def pay() -> str:
        return "paid"

    @tool
    async def book(ctx: ToolContext) -> str:
        ctx.note("asking")
        one, two = await asyncio.gather(ctx.ask("Where?"), ctx.ask("When?"))
        return f"{one} {two}"

    stage = Stage(
        [
            calls(
                call("pay"),
                call("book"),
                call("contact_human", question="How?", wait=False),
                call("nonsense"),
            ),
            calls(call("book")),
            says("almost"),
            says("done"),
            says("done"),
            says("done"),
        ],
        pay,
        book,
        contact_human,
        ask_after_failures=2,
    )
    thread = stage.agent.launch("go")
    paused = expect(await thread.run(), Paused)
    await thread.say("hello?")
    await thread.pause(by="otto")
    by_prompt = {question.prompt: question.id for question in paused.questions}
    await thread.answer({by_prompt["May I run pay?"]: APPROVED})
    await thread.resume(instruction="go on")
    await thread.run()
    await thread.expire(by_prompt["Where?"])
    whole = await settle(thread)
    assert expect(whole, Finished).result

    for at in range(1, len(types_in(whole)) + 1):
        outcome = await settle(stage.agent.fork(whole.checkpoint, at))
        assert isinstance(outcome, Finished), types_in(whole)[:at]
        assert not outcome.state.open_calls


async def test_a_cancel_with_several_questions_can_be_forked_at_every_event() -> None:
    """Between the withdrawals of one tool's questions, too."""

    @tool
    async def book(ctx: ToolContext) -> str:
        one, two = await asyncio.gather(ctx.ask("Where?"), ctx.ask("When?"))
        return f"{one} {two}"

    stage = Stage([calls(call("book")), says("done")], book)
    asked = await stage.agent.run("go")
    whole = await stage.agent.cancel(asked.checkpoint)
    types = types_in(whole)

    for at in range(1, len(types)):
        outcome = await settle(stage.agent.fork(whole.checkpoint, at))
        assert isinstance(outcome, Finished), types[:at]


async def test_a_failed_thread_with_an_open_question_can_be_forked() -> None:
    """The fork asks it anew, and can be retried."""
    stage = Stage(
        [
            calls(call("contact_human", question="Well?", wait=False)),
            [ModelRejected("no"), says("done")],
        ],
        contact_human,
    )
    failed = expect(await stage.agent.run("go"), Failed)

    fork = stage.agent.fork(failed.checkpoint)

    assert len(fork.state.open_questions) == 1
    await fork.retry()
    assert expect(await fork.run(), Paused).questions[0].prompt == "Well?"


async def test_a_fork_goes_its_own_way() -> None:
    """What is said to the fork, the original never hears."""
    stage = Stage([says("one"), says("two")])
    first = await stage.agent.run("hi")
    fork = stage.agent.fork(first.checkpoint)
    await fork.say("to the fork")
    await fork.run()

    await stage.agent.say(first.checkpoint, "to the original")

    texts = [text for _, text in said_to(stage.model.requests[-1])]
    assert texts == ["hi", "one", "to the original"]


@pytest.mark.parametrize("at", [0, -1, 5, 99])
async def test_an_event_that_is_not_there_is_refused(at: int) -> None:
    """The message says which there are."""
    stage = Stage([says("one")])
    first = await stage.agent.run("hi")

    with pytest.raises(Refused, match=f"there is no event {at}: the log has events 1 to 4"):
        stage.agent.fork(first.checkpoint, at)
