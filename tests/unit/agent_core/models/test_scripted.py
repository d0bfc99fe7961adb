"""The scripted model, which everybody's tests rely on."""

from __future__ import annotations

import asyncio

import pytest

from agent_core.errors import ModelRejected, ModelUnavailable
from agent_core.models import Model, ModelReply, ModelRequest, ScriptedModel, call, calls, says
from agent_core.models.model import RequestedCall
from agent_core.thread.usage import Usage

USER = {"role": "user", "content": "hi"}
ASSISTANT = {"role": "assistant", "content": "hello"}


def request_after(turns: int) -> ModelRequest:
    """Ask for the turn that follows so many."""
    return ModelRequest(messages=[USER, *[ASSISTANT, USER] * turns])


async def test_a_turn_is_picked_by_what_was_said_before() -> None:
    """The same request gets the same reply, from this instance or a fresh one."""
    script = [says("one"), says("two")]
    model: Model = ScriptedModel(script)

    texts = [(await model.reply(request_after(n))).text for n in (1, 0, 1)]
    fresh = await ScriptedModel(script).reply(request_after(1))

    assert texts == ["two", "one", "two"]
    assert fresh.text == "two"


async def test_past_its_end_a_script_says_so() -> None:
    """A test that goes on too long learns why."""
    expected = "the script has 1 replies, and was asked for number 3"
    with pytest.raises(ModelRejected, match=expected):
        await ScriptedModel([says("one")]).reply(request_after(2))


async def test_a_function_may_decide() -> None:
    """For replies that depend on what was said."""
    model = ScriptedModel(lambda request: says(f"{len(request.messages)} messages"))

    assert (await model.reply(request_after(1))).text == "3 messages"


async def test_an_exception_in_the_script_is_raised_each_time() -> None:
    """A turn that always fails."""
    model = ScriptedModel([ModelUnavailable("down")])

    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="down"):
            await model.reply(request_after(0))


async def test_a_list_holds_a_turns_attempts_in_order() -> None:
    """Failures first, then the reply, which stays."""
    model = ScriptedModel([says("one"), [ModelUnavailable("down"), says("two")]])

    with pytest.raises(ModelUnavailable):
        await model.reply(request_after(1))
    later = [(await model.reply(request_after(1))).text for _ in range(2)]

    assert later == ["two", "two"]


async def test_text_streams_in_pieces() -> None:
    """Whoever shows a stream gets several pieces that make up the text."""
    pieces: list[str] = []

    reply = await ScriptedModel([says("a longer sentence")]).reply(
        request_after(0), on_text=pieces.append
    )

    assert len(pieces) > 1
    assert "".join(pieces) == reply.text


async def test_requests_are_kept() -> None:
    """A test can look at what the model was shown."""
    model = ScriptedModel([says("one")])
    await model.reply(request_after(0))

    assert model.requests == [request_after(0)]


async def test_a_hook_can_hold_the_reply_back() -> None:
    """A test can stop the world in the middle of a model call."""
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def hold(_: ModelRequest) -> None:
        asked.set()
        await go_on.wait()

    model = ScriptedModel([says("one")], before_reply=hold)
    task = asyncio.create_task(model.reply(request_after(0)))
    await asked.wait()
    held = task.done()
    go_on.set()

    assert not held
    assert (await task).text == "one"


def test_calls_are_written_as_a_model_would() -> None:
    """Arguments are JSON text; an argument may even be called `name`."""
    reply = calls(call("refund", order="1", name="x"), call("list"), text="One moment.")

    expected = (RequestedCall("refund", '{"order":"1","name":"x"}'), RequestedCall("list", "{}"))

    assert reply == ModelReply(text="One moment.", calls=expected, model="scripted")


def test_usage_can_be_scripted() -> None:
    """For tests of limits."""
    usage = Usage(input_tokens=3, output_tokens=4, cost=0.5)

    assert says("hi", input_tokens=3, output_tokens=4, cost=0.5).usage == usage
    assert calls(call("a"), usage=usage).usage == usage
