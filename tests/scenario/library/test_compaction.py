"""Compaction: a long thread is summarised for the model; the log keeps everything."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_core import (
    Compaction,
    Finished,
    ModelRejected,
    ModelReply,
    ModelRequest,
    Paused,
    ScriptedModel,
    Usage,
    call,
    calls,
    contact_human,
    render_chat,
    says,
    tool,
)
from agent_core.thread.state import ThreadState
from tests.doubles.stage import APPROVED, Stage, expect, log_of, results_in, said_to, types_in

SUMMARY = "[what happened so far, in short]\n"


def wants_summary(request: ModelRequest) -> bool:
    """Tell whether this is our request for a summary."""
    return str(request.messages[-1]["content"]).startswith("Summarise the conversation")


def summarising(request: ModelRequest) -> ModelReply:
    """Summarise when asked to, and reply otherwise."""
    if wants_summary(request):
        texts = [m["content"] for m in request.messages if m["role"] == "user"][:-1]
        summary = " + ".join(text.removeprefix(SUMMARY)[:20] for text in texts)
        return ModelReply(text=summary, usage=Usage(output_tokens=7))
    return says("ok")


async def talk(stage: Stage, *texts: str) -> Any:  # noqa: ANN401 (an outcome)
    """Say one thing after another."""
    outcome = await stage.agent.run(texts[0])
    for text in texts[1:]:
        outcome = await stage.agent.say(outcome.checkpoint, text)
    return outcome


async def test_a_long_thread_is_shown_as_a_summary_and_its_last_messages() -> None:
    """The event keeps the last messages as they are."""
    stage = Stage(summarising, compaction=Compaction(after_messages=4, keep=2))

    outcome = await talk(stage, "one", "two", "three")

    assert types_in(outcome).count("ContextCompacted") == 1
    assert said_to(stage.model.requests[-1]) == [
        ("user", f"{SUMMARY}one + two"),
        ("assistant", "ok"),
        ("user", "three"),
    ]


async def test_the_log_keeps_what_the_summary_stands_for() -> None:
    """Compaction changes only what the model is shown."""
    stage = Stage(summarising, compaction=Compaction(after_messages=4, keep=2))

    outcome = await talk(stage, "one", "two", "three")

    said = [event["text"] for event in log_of(outcome) if event["type"] == "MessageReceived"]
    assert said == ["one", "two", "three"]


async def test_a_summary_is_summarised_in_its_turn() -> None:
    """A thread may grow without end."""
    stage = Stage(summarising, compaction=Compaction(after_messages=4, keep=2))

    outcome = await talk(stage, *(f"message {n}" for n in range(12)))

    assert expect(outcome, Finished).result == "ok"
    assert types_in(outcome).count("ContextCompacted") > 2
    assert max(len(request.messages) for request in stage.model.requests) <= 7


async def test_the_summarys_cost_counts() -> None:
    """It is a model call like any other."""
    stage = Stage(summarising, compaction=Compaction(after_messages=4, keep=2))

    outcome = await talk(stage, "one", "two", "three")

    assert outcome.usage == Usage(output_tokens=7)


async def test_by_tokens_the_servers_own_count_decides() -> None:
    """Where the server counts, nobody guesses."""

    def counted(request: ModelRequest) -> ModelReply:
        return says("short" if wants_summary(request) else "ok", input_tokens=500)

    stage = Stage(counted, compaction=Compaction(after_tokens=400, keep=1))

    outcome = await talk(stage, "one", "two")

    assert types_in(outcome).count("ContextCompacted") == 1


async def test_without_a_count_the_text_is_measured() -> None:
    """About four characters a token."""
    stage = Stage(summarising, compaction=Compaction(after_tokens=100, keep=1))

    outcome = await talk(stage, "x" * 1000, "two")

    assert types_in(outcome).count("ContextCompacted") == 1


async def test_messages_that_are_too_long_by_themselves_are_not_summarised_for_ever() -> None:
    """Keeping them may mean staying too long: one summary, then the model goes on."""
    requests = 0

    def bounded(request: ModelRequest) -> ModelReply:
        nonlocal requests
        requests += 1
        if requests > 20:
            raise ModelRejected("this goes on for ever")
        return summarising(request)

    stage = Stage(bounded, compaction=Compaction(after_tokens=50, keep=2))

    outcome = await talk(stage, "x" * 400, "y" * 400, "z" * 400)

    assert expect(outcome, Finished).result == "ok"
    assert requests <= 6


async def test_a_message_that_came_while_the_model_was_thinking_is_never_summarised_unseen() -> (
    None
):
    """It is the last message, and the last ones are kept."""
    thinking, go_on = asyncio.Event(), asyncio.Event()

    async def hold(_request: ModelRequest) -> None:
        thinking.set()
        await go_on.wait()

    stage = Stage(
        summarising,
        before_reply=hold,
        compaction=Compaction(after_tokens=None, after_messages=2, keep=1),
    )
    thread = stage.agent.launch("one")
    running = asyncio.create_task(thread.run())
    await thinking.wait()
    await thread.say("two")
    go_on.set()
    await running

    assert said_to(stage.model.requests[-1])[-1] == ("user", "two")


async def test_calls_and_their_results_are_never_parted() -> None:
    """The cut falls between turns, whatever their size."""

    @tool
    async def look(n: int) -> str:
        return f"saw {n}"

    def turn(request: ModelRequest) -> ModelReply:
        results_in(request)
        if wants_summary(request):
            return says("short")
        seen = stage.model.requests
        return calls(*(call("look", n=n) for n in range(3))) if len(seen) < 30 else says("done")

    stage = Stage(turn, look, compaction=Compaction(after_messages=3, keep=1))

    outcome = await stage.agent.run("go")

    assert expect(outcome, Finished).result == "done"
    assert types_in(outcome).count("ContextCompacted") > 3


async def test_what_was_done_before_the_summary_can_still_be_undone() -> None:
    """The model forgets; the thread doesn't."""
    undone: list[str] = []

    async def unpay(amount: int, result: str) -> None:
        undone.append(f"{amount} {result}")

    @tool(compensate=unpay)
    async def pay(amount: int) -> str:
        return f"receipt {amount}"

    def turn(request: ModelRequest) -> ModelReply:
        if wants_summary(request):
            return says("short")
        number = len(stage.model.requests)
        if number == 1:
            return calls(call("pay", amount=5))
        return calls(call("contact_human", question="Well?")) if number > 8 else calls(call("no"))

    stage = Stage(
        turn,
        pay,
        contact_human,
        ask_after_failures=0,
        compaction=Compaction(after_messages=3, keep=1),
    )
    paused = expect(await stage.agent.run("go"), Paused)
    assert "receipt 5" not in str(stage.model.requests[-1].messages)

    await stage.agent.cancel(paused.checkpoint)

    assert undone == ["5 receipt 5"]


async def test_a_question_asked_before_the_summary_is_answered_after_it() -> None:
    """A question that nobody stands still for outlives the messages around it."""

    def turn(request: ModelRequest) -> ModelReply:
        if wants_summary(request):
            return says("short")
        if len(stage.model.requests) == 1:
            return calls(call("contact_human", question="May we ship?", wait=False))
        return says("ok")

    stage = Stage(turn, contact_human, compaction=Compaction(after_messages=3, keep=1))
    outcome = await stage.agent.run("go")
    for text in ("one", "two", "three"):
        outcome = await stage.agent.say(outcome.checkpoint, text)
    assert "ContextCompacted" in types_in(outcome)

    outcome = await stage.agent.resume(outcome.checkpoint, "yes")

    assert expect(outcome, Finished).result == "ok"
    assert '"May we ship?" was answered' in said_to(stage.model.requests[-1])[-1][1]


async def test_a_compacted_thread_resumes_in_another_instance() -> None:
    """The summary is in the log, so it is not made twice."""

    @tool(approval=True)
    async def pay() -> str:
        return "paid"

    def turn(request: ModelRequest) -> ModelReply:
        if wants_summary(request):
            return says("short")
        last = request.messages[-1]
        return calls(call("pay")) if last["content"] == "pay" else says("ok")

    stage = Stage(turn, pay, compaction=Compaction(after_messages=4, keep=2))
    paused = await talk(stage, "one", "two", "pay")
    stage.model = ScriptedModel(turn)

    outcome = await stage.deploy(pay).resume(paused.checkpoint, APPROVED)

    assert expect(outcome, Finished).result == "ok"
    assert types_in(outcome).count("ContextCompacted") == 1
    assert [wants_summary(request) for request in stage.model.requests] == [False]


async def test_an_agent_may_never_compact() -> None:
    """`compaction=None`."""
    stage = Stage(summarising, compaction=None)

    outcome = await talk(stage, *("x" * 50_000 for _ in range(12)))

    assert "ContextCompacted" not in types_in(outcome)


async def test_an_agent_may_bring_its_own_renderer() -> None:
    """From the thread and the instructions to whatever messages it likes."""

    def terse(state: ThreadState, instructions: str) -> list[dict[str, Any]]:
        said = render_chat(state, "")
        text = "\n".join(f"<{m['role']}>{m['content']}</{m['role']}>" for m in said)
        return [{"role": "user", "content": f"{instructions}\n{text}"}]

    stage = Stage([says("done")], instructions="Be kind.", render=terse)

    await stage.agent.run("hi")

    assert said_to(stage.model.requests[0]) == [("user", "Be kind.\n<user>hi</user>")]
