"""Several calls in one turn: each gets exactly one result, whatever happens to it."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime

import pytest
from pydantic import BaseModel

from agent_core import (
    Cancelled,
    Finished,
    ModelReply,
    ModelRequest,
    Paused,
    RequestedCall,
    ToolContext,
    call,
    calls,
    says,
    tool,
)
from tests.doubles.stage import (
    APPROVED,
    DENIED,
    Gate,
    Stage,
    expect,
    log_of,
    question_of,
    results_in,
    types_in,
    upto_last,
)


class Report(BaseModel):
    """A result with a shape."""

    title: str
    pages: int


@tool
async def look(thing: str = "it") -> str:
    """Look at something; needs no one."""
    return f"saw {thing}"


@tool(approval=True)
async def act(amount: int) -> str:
    """Do something that people must allow."""
    return f"did {amount}"


@tool
async def ask_name(ctx: ToolContext) -> str:
    """Ask somebody."""
    return f"name: {await ctx.ask('What is your name?')}"


@tool
async def broken() -> str:
    """Fail, always."""
    raise RuntimeError("out of paper")


@tool(timeout=0.01)
async def slow() -> str:
    """Never end."""
    await asyncio.Event().wait()
    return "never"


@tool
async def strange() -> object:
    """Give something that isn't JSON."""
    return {"when": [datetime(2026, 1, 1, tzinfo=UTC)]}


async def test_the_calls_results_are_in_the_order_of_the_calls() -> None:
    """However they end, the model sees each result beside its call."""
    first = Gate()

    @tool
    async def late() -> str:
        await first.stop_here()
        return "late"

    @tool
    async def early() -> str:
        await first.reached()
        first.open()
        return "early"

    stage = Stage([calls(call("late"), call("early")), says("done")], late, early)

    await stage.agent.run("go")

    assert stage.last_results == ["late", "early"]


async def test_those_that_need_no_one_run_while_others_wait() -> None:
    """The thread pauses with the harmless calls done, and the model not called again."""
    stage = Stage(
        [calls(call("act", amount=1), call("look"), call("ask_name")), says("done")],
        act,
        look,
        ask_name,
    )

    paused = expect(await stage.agent.run("go"), Paused)

    assert {question.kind for question in paused.questions} == {"approval", "text"}
    assert [e["call"] for e in log_of(paused) if e["type"] == "ToolReturned"] == ["3.1"]
    assert len(stage.model.requests) == 1


async def test_no_model_call_until_all_are_settled() -> None:
    """Answering one of several changes nothing for the model; answering the last one does."""
    stage = Stage(
        [calls(call("act", amount=1), call("act", amount=2)), says("done")],
        act,
    )
    paused = expect(await stage.agent.run("go"), Paused)
    first, second = (question.id for question in paused.questions)

    half = expect(await stage.agent.resume(paused.checkpoint, {second: APPROVED}), Paused)
    assert len(stage.model.requests) == 1
    whole = expect(await stage.agent.resume(half.checkpoint, {first: DENIED}), Finished)

    assert whole.result == "done"
    assert stage.last_results == ["Denied. The tool was not run.", "did 2"]


async def test_an_approved_call_starts_while_another_tool_still_runs() -> None:
    """A running tool doesn't stop another from starting when its approval comes."""
    gate = Gate()
    approved = asyncio.Event()

    @tool
    async def long() -> str:
        await gate.stop_here()
        return "long"

    @tool(approval=True)
    async def wanted() -> str:
        approved.set()
        return "wanted"

    stage = Stage([calls(call("long"), call("wanted")), says("done")], long, wanted)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.answer(APPROVED)
    await approved.wait()
    assert not running.done()
    gate.open()
    await running

    assert stage.last_results == ["long", "wanted"]


async def test_a_denial_goes_to_the_model_with_its_comment_and_never_ends_the_run() -> None:
    """Why a person said no is what the model needs most."""
    stage = Stage([calls(call("act", amount=9)), says("then not")], act)
    paused = await stage.agent.run("go")

    outcome = await stage.agent.resume(
        paused.checkpoint, DENIED, by="otto", comment="too much, ask for 5"
    )

    assert expect(outcome, Finished).result == "then not"
    assert stage.last_results == [
        "Denied by otto. The tool was not run. They said: too much, ask for 5"
    ]


async def test_an_expiry_is_not_told_as_a_denial() -> None:
    """Nobody said no: the model must not report one."""
    stage = Stage([calls(call("act", amount=9)), says("done")], act)
    paused = await stage.agent.run("go")

    await stage.agent.expire(paused.checkpoint, question_of(paused))

    (told,) = stage.last_results
    assert "not a denial" in told
    assert "Denied" not in told


async def test_a_withdrawn_question_settles_its_call() -> None:
    """Taking a question back must not leave a call hanging."""
    stage = Stage([calls(call("act", amount=9), call("look")), says("done")], act, look)
    paused = await stage.agent.run("go")
    thread = stage.agent.open(paused.checkpoint)

    await thread.withdraw(question_of(paused), reason="no longer needed", by="otto")
    await thread.run()

    withdrawn, looked = stage.last_results
    assert "withdrawn" in withdrawn
    assert "no longer needed" in withdrawn
    assert looked == "saw it"


async def test_a_cancel_settles_every_open_call() -> None:
    """No call is left without a result, so nothing is stuck for ever."""
    stage = Stage(
        [calls(call("act", amount=9), call("ask_name"), call("look"))], act, ask_name, look
    )
    paused = await stage.agent.run("go")

    cancelled = expect(await stage.agent.cancel(paused.checkpoint, reason="enough"), Cancelled)

    assert not cancelled.state.open_calls
    assert not cancelled.state.open_questions
    assert all(call.result for call in cancelled.state.calls.values())


async def test_a_crash_leaves_no_call_without_a_result() -> None:
    """The call that was cut off gets its one result from a person, the others keep theirs."""
    stage = Stage([calls(call("broken"), call("look")), says("done")], broken, look)
    whole = await stage.agent.run("go")
    cut_off = upto_last(whole, "ToolStarted")
    paused = expect(await stage.agent.resume(cut_off), Paused)
    first, second = (question.id for question in paused.questions)

    await stage.agent.resume(paused.checkpoint, {first: "skip", second: "it_happened"})

    skipped, happened = stage.last_results
    assert "Nobody knows" in skipped
    assert "took effect" in happened


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        pytest.param(
            RequestedCall("nope", "{}"), "There is no tool 'nope'; the tools are", id="unknown tool"
        ),
        pytest.param(RequestedCall("look", '{"thing": "x'), '{"thing": "x', id="malformed JSON"),
        pytest.param(RequestedCall("look", "[1]"), "not a JSON object: [1]", id="not an object"),
        pytest.param(RequestedCall("look", "null"), "not a JSON object: null", id="null"),
        pytest.param(RequestedCall("look", '{"thing": NaN}'), "not a JSON object", id="NaN"),
        pytest.param(
            RequestedCall("look", "[" * 100_000), "not a JSON object", id="nested too deep"
        ),
        pytest.param(
            RequestedCall("look", '{"thing": "a\\u0000b"}'), "not a JSON object", id="NUL"
        ),
        pytest.param(call("look", thing=["x"]), "thing: Input should be a valid", id="bad type"),
        pytest.param(call("look", think="x"), "think: Extra inputs are not", id="extra argument"),
        pytest.param(call("act"), "amount: Field required", id="missing, before any approval"),
        pytest.param(call("broken"), "The tool failed: RuntimeError: out of paper", id="exception"),
        pytest.param(call("slow"), "did not end in time", id="time-out"),
        pytest.param(
            call("strange"), "result.when[0] is not JSON: a Python datetime", id="not JSON"
        ),
    ],
)
async def test_whatever_is_wrong_with_a_call_becomes_its_result(
    chosen: RequestedCall, told: str
) -> None:
    """The model is told in words, the good call beside it runs, and the run goes on."""
    stage = Stage(
        [calls(chosen, call("look", thing="all")), says("done")], look, act, broken, slow, strange
    )

    outcome = expect(await stage.agent.run("go"), Finished)

    wrong, right = stage.last_results
    assert outcome.result == "done"
    assert told in wrong
    assert right == "saw all"
    assert types_in(outcome).count("ToolFailed") == types_in(outcome).count("ToolReturned") == 1


async def test_missing_arguments_text_means_no_arguments() -> None:
    """Some servers send an empty string for a tool that takes nothing."""
    stage = Stage([calls(RequestedCall("look", "")), says("done")], look)

    await stage.agent.run("go")

    assert stage.last_results == ["saw it"]


async def test_an_agent_without_tools_says_so() -> None:
    """A model may make tools up."""
    stage = Stage([calls(call("look")), says("done")])

    await stage.agent.run("go")

    assert "the tools are: none" in stage.last_results[0]


async def test_a_tools_json_result_is_shown_as_json() -> None:
    """Objects, numbers, nothing, and pydantic models all have one spelling."""

    @tool
    async def figures() -> dict[str, object]:
        return {"a": [1, 2.5, None]}

    @tool
    async def nothing() -> None:
        return None

    @tool
    async def report() -> Report:
        return Report(title="Q1", pages=3)

    stage = Stage(
        [calls(call("figures"), call("nothing"), call("report")), says("done")],
        figures,
        nothing,
        report,
    )

    await stage.agent.run("go")

    assert stage.last_results == ['{"a":[1,2.5,null]}', "null", '{"title":"Q1","pages":3}']


async def test_plain_functions_run_in_threads_and_do_not_block_one_another() -> None:
    """Two plain tools that wait for each other both end."""
    meet = threading.Barrier(2, timeout=5)

    @tool
    def one() -> str:
        return f"one {meet.wait() >= 0}"

    @tool
    def two() -> str:
        return f"two {meet.wait() >= 0}"

    stage = Stage([calls(call("one"), call("two")), says("done")], one, two)

    await stage.agent.run("go")

    assert stage.last_results == ["one True", "two True"]


async def test_fifty_calls_at_once_run_together_and_each_has_its_result() -> None:
    """All of them start before any of them ends."""
    started = 0
    everyone = asyncio.Event()

    @tool
    async def square(n: int) -> int:
        nonlocal started
        started += 1
        if started == 50:
            everyone.set()
        await everyone.wait()
        return n * n

    stage = Stage([calls(*(call("square", n=n) for n in range(50))), says("done")], square)

    await stage.agent.run("go")

    assert stage.last_results == [str(n * n) for n in range(50)]


async def test_fifty_questions_at_once_each_get_their_own_answer() -> None:
    """Answers given in the reverse order, in one go, reach their own calls."""
    stage = Stage(
        [calls(*(call("act", amount=n) for n in range(50))), says("done")],
        act,
    )
    paused = expect(await stage.agent.run("go"), Paused)
    answers = {
        question.id: APPROVED if (question.arguments or {})["amount"] % 2 else DENIED
        for question in reversed(paused.questions)
    }

    await stage.agent.resume(paused.checkpoint, answers)

    told = ["Denied. The tool was not run.", "did {}"]
    assert stage.last_results == [told[n % 2].format(n) for n in range(50)]


async def test_a_tool_that_is_cancelled_by_its_own_doing_fails_like_any_other() -> None:
    """A tool that awaits a cancelled task raises CancelledError; nobody cancelled the run."""

    @tool
    async def confused() -> str:
        task = asyncio.create_task(asyncio.Event().wait())
        task.cancel()
        await task
        return "never"

    stage = Stage([calls(call("confused"), call("look")), says("done")], confused, look)

    outcome = await stage.agent.run("go")

    assert expect(outcome, Finished).result == "done"
    assert "CancelledError" in stage.last_results[0]


async def test_text_beside_calls_is_kept_and_shown() -> None:
    """A model may think aloud while it chooses."""
    stage = Stage([calls(call("look"), text="Let me look."), says("done")], look)

    await stage.agent.run("go")

    spoken = [m["content"] for m in stage.model.requests[-1].messages if m["role"] == "assistant"]
    assert spoken == ["Let me look."]


async def test_the_model_is_offered_the_tools_with_their_schemas() -> None:
    """Name, description and parameters, but not the context, which is ours."""
    stage = Stage([says("done")], ask_name, act)

    await stage.agent.run("go")

    first, second = stage.model.requests[0].tools
    assert first["function"]["name"] == "ask_name"
    assert first["function"]["description"] == "Ask somebody."
    assert first["function"]["parameters"]["properties"] == {}
    assert second["function"]["parameters"]["required"] == ["amount"]


async def test_every_turn_of_a_long_run_stays_paired() -> None:
    """Twenty turns of mixed fates: in each request each call has exactly one result."""

    def turn(request: ModelRequest) -> ModelReply:
        results_in(request)
        turns = sum(message["role"] == "assistant" for message in request.messages)
        if turns == 20:
            return says("done")
        return calls(call("look", thing=str(turns)), call("broken"), call(f"made_up_{turns}"))

    stage = Stage(turn, look, broken, ask_after_failures=0)

    assert expect(await stage.agent.run("go"), Finished).result == "done"


async def test_a_plain_tool_that_runs_out_of_an_iterator_fails_like_any_other() -> None:
    """StopIteration can't travel through a future; the call must not hang for it."""

    @tool
    def first() -> str:
        empty: list[str] = []
        return next(iter(empty))

    stage = Stage([calls(call("first"), call("look")), says("done")], first, look)

    async with asyncio.timeout(5):
        outcome = await stage.agent.run("go")

    assert expect(outcome, Finished).result == "done"
    assert "StopIteration" in stage.last_results[0]


async def test_a_plain_function_around_an_async_one_is_awaited() -> None:
    """As a decorator that knows nothing of coroutines makes it."""

    async def inner() -> str:
        await asyncio.sleep(0)
        return "inner"

    @tool
    def outer() -> object:
        return inner()

    stage = Stage([calls(call("outer")), says("done")], outer)

    await stage.agent.run("go")

    assert stage.last_results == ["inner"]


async def test_an_exception_that_cannot_even_be_shown_is_named() -> None:
    """Whatever a tool raises is its result."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    @tool
    async def mute() -> str:
        raise Mute

    stage = Stage([calls(call("mute")), says("done")], mute)

    await stage.agent.run("go")

    assert "Mute" in stage.last_results[0]
