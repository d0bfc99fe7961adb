"""What a tool knows and tells: posts, notes, its thread, its key and its attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from agent_core import (
    Agent,
    Finished,
    Paused,
    ScriptedModel,
    ToolContext,
    Waiting,
    World,
    call,
    calls,
    says,
    tool,
)
from agent_core.thread.events import Event
from tests.doubles.stage import Stage, calling_each, expect, log_of, names, said_to, types_in


async def test_post_asks_without_waiting_and_the_answer_comes_as_a_message() -> None:
    """The tool ends, the model goes on, and the thread doesn't finish before it is settled."""

    @tool
    def survey(ctx: ToolContext) -> str:
        return f"asked {ctx.post('How was it?', id='survey', kind='yes/no', to=['anna'])}"

    stage = Stage([calls(call("survey")), says("waiting"), says("done")], survey)
    paused = expect(await stage.agent.run("go"), Paused)
    assert [question.id for question in paused.questions] == ["survey"]
    assert stage.last_results == ["asked survey"]
    assert len(stage.model.requests) == 2

    outcome = await stage.agent.resume(paused.checkpoint, "yes", by="anna")

    assert expect(outcome, Finished).result == "done"
    assert said_to(stage.model.requests[-1])[-1] == (
        "user",
        '[your question "How was it?" was answered by anna]\nyes',
    )


async def test_notes_of_async_and_plain_tools_are_in_the_log_before_their_results() -> None:
    """People can watch how far a tool is."""

    @tool
    async def walk(ctx: ToolContext) -> str:
        ctx.note("left")
        await asyncio.sleep(0)
        ctx.note("arrived")
        return "walked"

    @tool
    def swim(ctx: ToolContext) -> str:
        ctx.note("wet")
        return "swum"

    stage = calling_each(walk, swim)
    outcome = await stage.agent.run("go")

    for key, expected in (("3.0", ["left", "arrived"]), ("3.1", ["wet"])):
        own = [event for event in log_of(outcome) if event.get("call") == key]
        assert [event["type"] for event in own] == [
            "ToolStarted",
            *["ProgressNoted"] * len(expected),
            "ToolReturned",
        ]
        assert [event["text"] for event in own[1:-1]] == expected


async def test_a_note_is_in_the_log_while_its_tool_still_runs() -> None:
    """Not only with the result: this tool ends only when somebody has seen its note."""
    noted = asyncio.Event()

    def watch(events: Sequence[Event]) -> None:
        if "ProgressNoted" in names(events):
            noted.set()

    @tool
    async def walk(ctx: ToolContext) -> str:
        ctx.note("left")
        await noted.wait()
        return "walked"

    model = ScriptedModel([calls(call("walk")), says("done")])
    agent = Agent("agent", tools=[walk], model=model, world=World(on_events=watch))

    assert expect(await agent.run("go"), Finished).result == "done"


async def test_a_tool_knows_its_thread_its_requester_and_its_key() -> None:
    """What a tool needs to log, to authorise and to be idempotent."""
    seen: list[ToolContext] = []

    @tool
    async def look(ctx: ToolContext, thing: str) -> str:
        seen.append(ctx)
        return thing

    stage = Stage([calls(call("look", thing="x"), call("look", thing="y")), says("done")], look)
    await stage.agent.run("go", requester="otto", origin="slack:C1", metadata={"ticket": 7})

    first, second = seen
    assert (first.thread.id, first.thread.agent) == ("th_1", "agent")
    assert (first.thread.origin, first.thread.metadata) == ("slack:C1", {"ticket": 7})
    assert (first.requester, first.attempt, first.resumed) == ("otto", 1, None)
    assert (first.idempotency_key, second.idempotency_key) == ("th_1/3.0", "th_1/3.1")


async def test_the_idempotency_key_is_the_same_over_pauses() -> None:
    """One call, one key, however often its tool runs."""
    keys: list[str] = []

    @tool
    async def ask(ctx: ToolContext) -> str:
        keys.append(ctx.idempotency_key)
        return str(await ctx.ask("Well?"))

    stage = calling_each(ask)
    paused = await stage.agent.run("go")
    await stage.agent.resume(paused.checkpoint, "fine")

    assert keys == ["th_1/3.0", "th_1/3.0"]


async def test_the_contexts_name_is_the_authors_choice() -> None:
    """It is found by its type, in any place."""

    @tool
    async def look(thing: str, tool_context: ToolContext) -> str:
        return f"{thing} for {tool_context.requester}"

    stage = Stage([calls(call("look", thing="x")), says("done")], look)
    await stage.agent.run("go", requester="otto")

    assert stage.last_results == ["x for otto"]


async def test_a_question_waits_as_the_agent_says_unless_it_says_so_itself() -> None:
    """The agent's rule is the default."""

    @tool
    async def usual(ctx: ToolContext) -> str:
        return str(await ctx.ask("Well?"))

    @tool
    async def special(ctx: ToolContext) -> str:
        return str(await ctx.ask("Well?", waiting=Waiting(expires_after=5)))

    stage = calling_each(usual, special, waiting=Waiting(expires_after=60))
    paused = expect(await stage.agent.run("go"), Paused)

    assert [question.waiting.expires_after for question in paused.questions] == [60, 5]


async def test_a_post_before_an_ask_is_not_asked_again_when_the_tool_runs_again() -> None:
    """Nobody gets the same question twice because of how tools are resumed."""

    @tool
    async def survey(ctx: ToolContext) -> str:
        posted = ctx.post("How was it?", to="anna")
        own = ctx.post("And now?", id="now")
        return f"{posted} {own} {await ctx.ask('Who?', id='who')}"

    stage = Stage([calls(call("survey")), says("then")], survey)
    paused = await stage.agent.run("go")

    outcome = expect(await stage.agent.resume(paused.checkpoint, {"who": "otto"}), Paused)

    assert [question.prompt for question in outcome.questions] == ["How was it?", "And now?"]
    assert types_in(outcome).count("QuestionAsked") == 3
    assert stage.last_results == ["q_1 now otto"]


async def test_retries_try_again_after_an_exception_with_growing_pauses() -> None:
    """`retries=2` is two further attempts; the result is the last one's."""
    tries = 0

    @tool(retries=2)
    async def shaky() -> str:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise RuntimeError("not yet")
        return f"try {tries}"

    stage = calling_each(shaky)
    outcome = await stage.agent.run("go")

    assert stage.last_results == ["try 3"]
    assert stage.world.slept == [0.2, 0.4]
    assert types_in(outcome).count("ToolStarted") == 1


async def test_after_its_retries_the_last_exception_is_the_result() -> None:
    """Enough is enough."""
    tries = 0

    @tool(retries=1)
    async def shaky() -> str:
        nonlocal tries
        tries += 1
        raise RuntimeError(f"try {tries}")

    stage = calling_each(shaky)
    await stage.agent.run("go")

    assert stage.last_results == ["The tool failed: RuntimeError: try 2"]


@pytest.mark.parametrize(("idempotent", "tries"), [(True, 2), (False, 1)])
async def test_after_a_time_out_only_an_idempotent_tool_is_tried_again(
    *, idempotent: bool, tries: int
) -> None:
    """It may have taken effect: only a harmless repeat is repeated."""
    runs = 0

    @tool(retries=1, timeout=0.01, idempotent=idempotent)
    async def slow() -> str:
        nonlocal runs
        runs += 1
        await asyncio.Event().wait()
        return "never"

    stage = calling_each(slow)
    await stage.agent.run("go")

    assert runs == tries
    assert "did not end in time" in stage.last_results[0]


async def test_a_tools_own_timeout_error_is_an_exception_not_our_time_limit() -> None:
    """A tool that gives up by itself says so in its own words."""

    @tool(timeout=60)
    async def fetch() -> str:
        raise TimeoutError("the server is slow")

    stage = calling_each(fetch)
    await stage.agent.run("go")

    assert stage.last_results == ["The tool failed: TimeoutError: the server is slow"]
