"""The client over real HTTP, with a server that behaves: what is sent, and what comes back."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from agent_core.errors import ModelRejected
from agent_core.models import Model, ModelReply, ModelRequest, OpenAIChat, Prices, RequestedCall
from agent_core.thread.usage import Usage
from tests.doubles.openai_server import (
    call_chunk,
    call_piece,
    chunk,
    openai_server,
    raw_stream,
    silent_stream,
    status,
    stream,
    text,
    usage_chunk,
)

if TYPE_CHECKING:
    from tests.unit.agent_core.models.conftest import Connect

TOOL = {"type": "function", "function": {"name": "f", "description": "", "parameters": {}}}


def test_importing_the_package_leaves_the_sdk_out() -> None:
    """It takes a second, which a program without a model shouldn't pay."""
    code = "import sys, agent_core.models; print('openai' in sys.modules)"

    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert answer.stdout.strip() == "False"


def test_the_first_call_imports_the_sdk_and_leaves_nothing_behind() -> None:
    """In a fresh process, without `aclose` and with warnings as errors, all is silent."""
    code = """
import asyncio, gc, sys
from agent_core.models import ModelRequest, OpenAIChat
from tests.doubles.openai_server import openai_server, stream, text

async def main():
    async with openai_server(stream(text("hi", "stop"))) as server:
        model = OpenAIChat(base_url=server.url, environ={})
        print((await model.reply(ModelRequest(messages=[]))).text, "openai" in sys.modules)
    return model

model = asyncio.run(main())
del model
gc.collect()
"""
    command = [sys.executable, "-W", "error", "-c", code]

    answer = subprocess.run(command, capture_output=True, check=True, text=True)

    assert (answer.stdout.strip(), answer.stderr) == ("hi True", "")


async def test_text_streams_in_and_the_reply_is_whole(
    connect: Connect, request_: ModelRequest
) -> None:
    """Each piece is passed on, and the reply has the text, the model's name and the count."""
    pieces: list[str] = []
    answer = stream(
        chunk({"role": "assistant", "content": ""}),
        text("Hel"),
        text("lo"),
        chunk(finish="stop"),
        usage_chunk(7, 2),
    )
    async with openai_server(answer) as server:
        model: Model = connect(server)

        reply = await model.reply(request_, pieces.append)

    usage = Usage(input_tokens=7, output_tokens=2)

    assert reply == ModelReply(text="Hello", usage=usage, model="served-model")
    assert pieces == ["Hel", "lo"]


async def test_the_request_is_sent_as_chat_completions(connect: Connect) -> None:
    """Messages and tools as they are, the key as a bearer, the options beside them."""
    messages = [{"role": "user", "content": "grüß dich 👋"}]
    async with openai_server(stream(text("hi", "stop"))) as server:
        model = connect(server, model="m-1", options={"temperature": 0, "top_k": 5})

        await model.reply(ModelRequest(messages=messages, tools=[TOOL]))

    (sent,) = server.requests
    expected = {
        "model": "m-1",
        "messages": messages,
        "tools": [TOOL],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "top_k": 5,
    }

    assert sent.body == expected
    assert sent.headers["authorization"] == "Bearer sk-very-secret-123"


async def test_without_tools_and_key_neither_is_sent(
    connect: Connect, request_: ModelRequest
) -> None:
    """OpenAI refuses an empty list of tools; a local server needs no key."""
    async with openai_server(stream(text("hi", "stop"))) as server:
        await connect(server, api_key=None).reply(request_)

    (sent,) = server.requests

    assert "tools" not in sent.body
    assert "authorization" not in sent.headers


async def test_settings_come_from_the_environment_at_the_first_call(
    connect: Connect, request_: ModelRequest
) -> None:
    """A model may be made before the environment is ready."""
    environ: dict[str, str] = {}
    async with openai_server(stream(text("hi", "stop"))) as server:
        model = connect(server, api_key=None, base_url=None, environ=environ)
        environ |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-1", "OPENAI_MODEL": "m-2"}

        await model.reply(request_)

    (sent,) = server.requests

    assert sent.body["model"] == "m-2"
    assert sent.headers["authorization"] == "Bearer sk-1"


async def test_a_missing_key_is_refused_before_anything_is_sent(request_: ModelRequest) -> None:
    """The message names the variable."""
    with pytest.raises(ModelRejected, match="OPENAI_API_KEY"):
        await OpenAIChat(environ={}).reply(request_)


async def test_parallel_calls_are_told_apart(connect: Connect, request_: ModelRequest) -> None:
    """Pieces of several calls may come mixed; the text beside them is kept."""
    answer = stream(
        text("One moment."),
        call_chunk(call_piece(index=0, id="0", name="refund", arguments="")),
        call_chunk(call_piece(index=1, id="1", name="lookup", arguments='{"or')),
        call_chunk(
            call_piece(index=1, arguments='der": 2}'), call_piece(index=0, arguments='{"order": 1}')
        ),
        chunk(finish="tool_calls"),
    )
    async with openai_server(answer) as server:
        reply = await connect(server).reply(request_)

    calls = (RequestedCall("refund", '{"order": 1}'), RequestedCall("lookup", '{"order": 2}'))

    assert (reply.text, reply.calls) == ("One moment.", calls)


async def test_an_empty_reply_is_a_reply(connect: Connect, request_: ModelRequest) -> None:
    """A model may have nothing to say; usage that nobody counted is zero."""
    async with openai_server(stream(chunk(finish="stop"))) as server:
        reply = await connect(server).reply(request_)

    assert reply == ModelReply(model="served-model")


async def test_prices_turn_tokens_into_money(connect: Connect, request_: ModelRequest) -> None:
    """The operator's prices, per million tokens."""
    prices = Prices(input_per_million=2.0, output_per_million=8.0)
    answer = stream(text("hi", "stop"), usage_chunk(500_000, 250_000))
    async with openai_server(answer) as server:
        reply = await connect(server, prices=prices).reply(request_)

    assert reply.usage.cost == pytest.approx(3.0)


async def test_a_stream_may_end_without_done(connect: Connect, request_: ModelRequest) -> None:
    """What counts is the finish reason; `[DONE]` is a courtesy."""
    async with openai_server(stream(text("hi", "stop"), done=False)) as server:
        assert (await connect(server).reply(request_)).text == "hi"


async def test_comments_and_strange_fields_are_passed_over(
    connect: Connect, request_: ModelRequest
) -> None:
    """OpenRouter keeps a connection alive with comments."""
    async with openai_server(
        raw_stream(
            b": PROCESSING\r\n\r\n",
            b'event: message\nid: 1\ndata: {"choices": [{"delta": {"content": "hi", "x": 1},\n',
            b'data: "finish_reason": "stop"}], "y": {}}\n\n',
        )
    ) as server:
        assert (await connect(server, model="m").reply(request_)).text == "hi"


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (400, {"error": {"message": "property 'stream_options' is unsupported"}}),
        (422, {"message": {"detail": [{"loc": ["body", "stream_options"]}]}}),
    ],
)
async def test_a_server_that_refuses_stream_options_is_asked_without(
    connect: Connect, request_: ModelRequest, code: int, body: object
) -> None:
    """Once; from then on they are left out, and usage is unknown."""
    fine = stream(text("hi", "stop"))
    async with openai_server(status(code, body), fine, fine) as server:
        model = connect(server)
        texts = [(await model.reply(request_)).text for _ in range(2)]

    sent = ["stream_options" in request.body for request in server.requests]

    assert texts == ["hi", "hi"]
    assert sent == [True, False, False]


async def test_a_server_that_does_not_stream_is_understood(
    connect: Connect, request_: ModelRequest
) -> None:
    """A whole answer as JSON is a reply, too."""
    call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": "hi", "tool_calls": [call]}
    answer = {
        "model": "whole",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    pieces: list[str] = []
    async with openai_server(status(200, answer)) as server:
        reply = await connect(server).reply(request_, pieces.append)

    usage = Usage(input_tokens=1, output_tokens=2)
    calls = (RequestedCall("f", "{}"),)

    assert reply == ModelReply(text="hi", calls=calls, usage=usage, model="whole")
    assert pieces == ["hi"]


async def test_many_tasks_share_a_client(connect: Connect) -> None:
    """Each gets the reply to its own request."""
    texts = [f"reply {n}" for n in range(8)]
    async with openai_server(*[stream(text(each, "stop")) for each in texts]) as server:
        model = connect(server)
        requests = [ModelRequest(messages=[{"role": "user", "content": str(n)}]) for n in range(8)]
        replies = await asyncio.gather(*[model.reply(request) for request in requests])

    seen = [sent.body["messages"][0]["content"] for sent in server.requests]
    told = dict(zip(seen, texts, strict=True))

    assert [told[str(n)] for n in range(8)] == [reply.text for reply in replies]


async def test_a_connection_is_used_again(connect: Connect, request_: ModelRequest) -> None:
    """A new handshake for each call would cost more than the call's own overhead."""
    fine = stream(text("hi", "stop"))
    async with openai_server(fine, fine, fine) as server:
        model = connect(server)
        for _ in range(3):
            await model.reply(request_)

    assert len(server.connections) == 1


def test_one_client_serves_one_loop_after_another(request_: ModelRequest) -> None:
    """Connections belong to a loop; the model does not."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        model = OpenAIChat(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}/v1", environ={})

        async def talk() -> list[str]:
            answers = [stream(text("hi", "stop")), stream(text("again", "stop"))]
            async with openai_server(*answers, listening=listening):
                return [(await model.reply(request_)).text for _ in answers]

        assert [asyncio.run(talk()) for _ in range(2)] == [["hi", "again"]] * 2


async def test_after_closing_a_call_opens_anew(connect: Connect, request_: ModelRequest) -> None:
    """Closing gives connections back, and is not the end."""
    fine = stream(text("hi", "stop"))
    async with openai_server(fine, fine) as server:
        model = connect(server)
        await model.reply(request_)
        await model.aclose()

        assert (await model.reply(request_)).text == "hi"


async def test_cancelling_hangs_up_at_once(connect: Connect, request_: ModelRequest) -> None:
    """A pause stops the model call, and the server sees it: no more tokens are paid for."""
    async with openai_server(silent_stream(text("hel"))) as server:
        task = asyncio.create_task(connect(server).reply(request_))
        await server.is_streaming.wait()
        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(1):
            await server.saw_hang_up.wait()


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("bug"), ValueError("bug"), TimeoutError("bug")]
)
async def test_an_error_of_whoever_listens_passes_through(
    connect: Connect, request_: ModelRequest, error: Exception
) -> None:
    """It is not the server's fault, and is not called so; the line is hung up all the same."""

    def listen(_: str) -> None:
        raise error

    async with openai_server(silent_stream(text("hel"))) as server:
        with pytest.raises(type(error)) as caught:
            await connect(server).reply(request_, listen)
        async with asyncio.timeout(1):
            await server.saw_hang_up.wait()

    assert caught.value is error
