"""What people, clocks and fate do to the thread on a stage: one function for each kind of act.

Each tells in a few words what came of it, for whoever reads a failing story.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from agent_core.thread.questions import Question, QuestionId
from tests.property.agents_at_random import Act, Kind, misfit
from tests.property.stage import Stage

_MOST_ROUNDS = 60


async def perform(stage: Stage, act: Act) -> str:
    """Do one act, and tell what came of it."""
    told = await _ACTS[act.kind](stage, act)
    await stage.pass_ticks(act.ticks)
    if act.run:
        stage.run()
        await stage.pass_ticks(act.ticks)
    return told


async def release(stage: Stage, act: Act) -> str:
    """Let go what is held up at one of the gates."""
    if not stage.gates:
        return "nothing to release"
    gate = stage.gates.pop(act.which % len(stage.gates))
    gate.open()
    return gate.label


async def release_all(stage: Stage, _act: Act) -> str:
    """Let everything go, and what comes up after it, until the worker is done."""
    await stage.let_all_go()
    return "until nothing moved"


async def say(stage: Stage, act: Act) -> str:
    """Write to the agent."""
    text = f"word {act.which}" if act.how == "words" else "\ud800"
    refused = True if act.how == "odd" else None
    return await stage.command(stage.thread.say(text, sender="otto"), refused=refused)


async def answer(stage: Stage, act: Act) -> str:
    """Answer, more or less well."""
    opened = stage.thread.state.waiting_questions()
    match act.how:
        case "old":
            return await _answer_settled(stage, act)
        case "stranger":
            known: dict[str, object] = {one.question.id: "yes" for one in opened}
            return await _answer(stage, {**known, "nobody": 1}, refused=True if known else None)
        case "many":
            several = {str(one.question.id): fitting(stage, one.question, act) for one in opened}
            return await _answer(stage, several)
        case "bare":
            value = fitting(stage, opened[0].question, act) if opened else True
            return await _answer(stage, value, refused=len(opened) != 1)
    if not opened:
        return await _answer(stage, "yes", refused=True)
    one = opened[act.which % len(opened)].question
    if act.how == "misfit":
        return await _answer(stage, {one.id: misfit(one.kind)}, refused=True)
    return await _answer(stage, {one.id: fitting(stage, one, act)}, refused=False)


async def _answer_settled(stage: Stage, act: Act) -> str:
    settled = [
        one
        for key, one in stage.thread.state.questions.items()
        if key not in stage.thread.state.open_questions
    ]
    if not settled:
        return "nothing to answer"
    one = settled[act.which % len(settled)].question
    return await _answer(stage, {one.id: fitting(stage, one, act)}, refused=True)


async def _answer(stage: Stage, value: object, *, refused: bool | None = None) -> str:
    said = f"{value!r}".encode(errors="replace").decode()
    return f"{said}: " + await stage.command(stage.thread.answer(value, by="otto"), refused=refused)


def fitting(stage: Stage, question: Question, act: Act) -> object:
    """Make an answer that fits, and that nobody has given before."""
    stage.answers += 1
    number = stage.answers
    match question.kind:
        case "text":
            return f"answer {number}"
        case "choice" if question.options:
            return question.options[act.which % len(question.options)].name
        case "form" | "event":
            return {"n": number}
    if act.how == "no":
        return {"approved": False}
    if act.how == "edits" and question.tool:
        return {"approved": True, "arguments": {"n": 10 + number}}
    return True if number % 2 else {"approved": True}


def _some_question(stage: Stage, act: Act) -> QuestionId:
    pick = stage.thread.state.waiting_questions() or [*stage.thread.state.questions.values()]
    return pick[act.which % len(pick)].question.id if pick else QuestionId("nobody")


async def expire(stage: Stage, act: Act) -> str:
    """Let a question run out of time."""
    return await stage.command(stage.thread.expire(_some_question(stage, act)))


async def withdraw(stage: Stage, act: Act) -> str:
    """Take a question back."""
    return await stage.command(stage.thread.withdraw(_some_question(stage, act), by="otto"))


async def tick(stage: Stage, act: Act) -> str:
    """Let time pass for the questions."""
    stage.hand.pass_time(25 * act.which)
    return await stage.command(stage.thread.tick())


async def time_out(stage: Stage, _act: Act) -> str:
    """Let time pass for the tools."""
    stage.loop.moment += 6
    return "6 seconds"


async def pause(stage: Stage, _act: Act) -> str:
    """Hold the thread."""
    return await stage.command(stage.thread.pause(by="otto", reason="wait"))


async def resume(stage: Stage, act: Act) -> str:
    """Let the thread go on after a pause."""
    return await stage.command(stage.thread.resume(instruction=act.how, by="otto"))


async def cancel(stage: Stage, _act: Act) -> str:
    """Stop the thread for good."""
    return await stage.command(stage.thread.cancel(by="otto", reason="enough"))


async def retry(stage: Stage, act: Act) -> str:
    """Let the thread go on after a failure."""
    return await stage.command(stage.thread.retry(instruction=act.how, by="otto"))


async def close(stage: Stage, act: Act) -> str:
    """Finish the thread here."""
    told = await stage.command(stage.thread.close(withdraw=act.how == "withdraw"))
    stage.was_closed = stage.was_closed or not told.startswith("refused")
    return told


async def fork(stage: Stage, act: Act) -> str:
    """Go on with a copy of the log up to some event; the original's process ends."""
    checkpoint = stage.thread.checkpoint
    at = 1 + (len(stage.thread.events) * (act.which + 1) // 5) % len(stage.thread.events)
    await stage.kill()
    return stage.take_fork(checkpoint, at)


async def halt(stage: Stage, _act: Act) -> str:
    """Turn the kill switch."""
    stage.halt()
    return "halted"


async def lift(stage: Stage, _act: Act) -> str:
    """Turn the kill switch back."""
    stage.lift()
    return "lifted"


async def crash_now(stage: Stage, _act: Act) -> str:
    """Let the process die."""
    await stage.crash()
    return "opened again"


async def crash_soon(stage: Stage, act: Act) -> str:
    """Let the process die right after a coming event."""
    stage.fuse = (len(stage.thread.events) + 1 + act.which, stage.die)
    return f"after event {stage.fuse[0]}"


async def halt_soon(stage: Stage, act: Act) -> str:
    """Turn the kill switch right after a coming event."""
    stage.fuse = (len(stage.thread.events) + 1 + act.which, stage.halt)
    return f"after event {stage.fuse[0]}"


async def just_run(stage: Stage, _act: Act) -> str:
    """Let a worker take it up."""
    stage.run()
    return "running"


async def to_end(stage: Stage) -> None:
    """Let everything go, and answer everything, until it has finished or is cancelled."""
    stage.fuse = None
    stage.lift()
    if stage.story.ends_in_cancel:
        await stage.command(stage.thread.cancel(by="otto"))
    for round_ in range(_MOST_ROUNDS):
        await stage.to_rest()
        match stage.thread.state.lifecycle:
            case "finished" | "cancelled":
                return
            case "paused":
                await stage.command(stage.thread.resume())
            case "failed":
                await stage.command(stage.thread.retry())
            case _:
                await _answer_first(stage, round_)
    raise AssertionError("it never ends, however kindly it is treated")


async def _answer_first(stage: Stage, round_: int) -> None:
    opened = stage.thread.state.waiting_questions()
    assert opened, "it is at rest, active, and nobody is asked anything"
    one = opened[0].question
    value = fitting(stage, one, Act("answer", which=round_))
    await _answer(stage, {one.id: value}, refused=False)


_ACTS: dict[Kind, Callable[[Stage, Act], Coroutine[Any, Any, str]]] = {
    "release": release,
    "release all": release_all,
    "say": say,
    "answer": answer,
    "expire": expire,
    "tick": tick,
    "time out": time_out,
    "withdraw": withdraw,
    "pause": pause,
    "resume": resume,
    "cancel": cancel,
    "retry": retry,
    "fork": fork,
    "close": close,
    "halt": halt,
    "lift": lift,
    "crash": crash_now,
    "then crash": crash_soon,
    "then halt": halt_soon,
    "run": just_run,
}
