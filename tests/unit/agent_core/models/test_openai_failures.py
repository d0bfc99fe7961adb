"""The client over real HTTP, with servers that fail in every way we have seen or can think of."""

from __future__ import annotations

import logging
import time
import traceback
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from agent_core.errors import ModelError, ModelRejected, ModelUnavailable
from agent_core.models import ModelRequest, OpenAIChat
from tests.doubles.openai_server import (
    Answer,
    broken_error_page,
    broken_stream,
    chunk,
    event,
    openai_server,
    raw_stream,
    silent_stream,
    slow_stream,
    status,
    stream,
    text,
    usage_chunk,
)
from tests.unit.agent_core.models.conftest import KEY

if TYPE_CHECKING:
    from tests.unit.agent_core.models.conftest import Connect

UNAVAILABLE = {"error": {"message": "come back later", "type": "server_error"}}
NO_CHOICES = {**chunk(), "choices": []}


async def failure(model: OpenAIChat, request: ModelRequest) -> ModelError:
    """Ask, and give the error that comes of it."""
    with pytest.raises(ModelError) as caught:
        await model.reply(request)
    return caught.value


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(broken_stream(text("hel")), "broke off", id="reset in the stream"),
        pytest.param(stream(text("hel")), "before the reply was complete", id="no finish reason"),
        pytest.param(raw_stream(), "before the reply was complete", id="nothing at all"),
        pytest.param(stream(NO_CHOICES, NO_CHOICES), "complete", id="empty choices throughout"),
        pytest.param(raw_stream(b"data: {oops\n\n"), "malformed stream", id="bad JSON"),
        pytest.param(raw_stream(b'data: "\xff"\n\n'), "malformed stream", id="bad UTF-8"),
        pytest.param(raw_stream(b"data: [1]\n\n"), "malformed chunk", id="JSON of another shape"),
        pytest.param(
            raw_stream(b"data: " + b"[" * 100_000 + b"\n\n"), "malformed stream", id="nested JSON"
        ),
        pytest.param(
            stream(text("hel"), {"error": {"message": "out of memory", "code": 500}}),
            "broke its reply off: out of memory",
            id="error object in the stream",
        ),
        pytest.param(
            status(200, {"error": {"message": "overloaded"}}), "error object", id="error as 200"
        ),
        pytest.param(status(200, "<html>Log in</html>"), "a web page", id="HTML as 200"),
        pytest.param(
            raw_stream(b"not JSON", content_type="application/json"), "not JSON", id="broken JSON"
        ),
        pytest.param(status(500, UNAVAILABLE), r"\(500\): come back later", id="500"),
        pytest.param(status(502, "<html>" + "x" * 9999), r"\(502\)$", id="502 with HTML"),
        pytest.param(status(503, {"detail": "warming up"}), "503.*warming up", id="503 detail"),
        pytest.param(status(503, [1]), r"\(503\)$", id="503 with a list"),
        pytest.param(status(408, UNAVAILABLE), r"\(408\)", id="408"),
        pytest.param(status(409, UNAVAILABLE), r"\(409\)", id="409"),
        pytest.param(status(429, UNAVAILABLE), r"\(429\)", id="429"),
        pytest.param(broken_error_page(500), "broke off", id="reset in an error page"),
    ],
)
async def test_a_servers_passing_trouble_is_worth_another_try(
    connect: Connect, request_: ModelRequest, answer: Answer, message: str
) -> None:
    """Overload, faults, and streams that are broken or make no sense; asked once, by us."""
    async with openai_server(answer) as server:
        error = await failure(connect(server), request_)

    assert isinstance(error, ModelUnavailable)
    assert len(server.requests) == 1
    with pytest.raises(ModelUnavailable, match=message):
        raise error


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (400, "rejected the request"),
        (401, "OPENAI_API_KEY"),
        (402, "rejected the request"),
        (403, "OPENAI_MODEL"),
        (404, "OPENAI_MODEL and OPENAI_BASE_URL"),
        (413, "rejected the request"),
        (422, "rejected the request"),
    ],
)
async def test_what_the_server_will_never_take_is_rejected(
    connect: Connect, request_: ModelRequest, code: int, hint: str
) -> None:
    """The message has the server's own words, and says what to check."""
    async with openai_server(status(code, {"error": {"message": "no, thanks"}})) as server:
        error = await failure(connect(server), request_)

    assert isinstance(error, ModelRejected)
    assert hint in str(error)
    assert f"({code}): no, thanks" in str(error)
    assert error.__cause__ is not None


@pytest.mark.parametrize("code", [401, 429])
async def test_a_key_that_the_server_quotes_is_shown_nowhere(
    connect: Connect, request_: ModelRequest, code: int
) -> None:
    """Neither in the message nor in the traceback that a log would show."""
    async with openai_server(status(code, {"error": {"message": f"bad key {KEY}"}})) as server:
        error = await failure(connect(server), request_)

    shown = "".join(traceback.format_exception(error))

    assert "bad key [key]" in str(error)
    assert KEY not in shown


async def test_the_sdk_logs_no_key_even_when_it_debugs(
    connect: Connect, request_: ModelRequest, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever turns on debugging must not find the key in the log."""
    caplog.set_level(logging.DEBUG)
    async with openai_server(stream(text("hi", "stop"))) as server:
        await connect(server).reply(request_)

    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "999999"}, 3600.0),
    ],
)
async def test_how_long_to_wait_is_read_from_the_answer(
    connect: Connect, request_: ModelRequest, headers: dict[str, str], wait: float | None
) -> None:
    """Seconds or milliseconds, whatever case the header is in, and an hour at the most."""
    async with openai_server(status(429, UNAVAILABLE, headers=headers)) as server:
        error = await failure(connect(server), request_)

    assert isinstance(error, ModelUnavailable)
    assert error.retry_after == wait


async def test_how_long_to_wait_may_be_a_date(connect: Connect, request_: ModelRequest) -> None:
    """RFC 9110 allows a moment in the place of seconds."""
    moment = formatdate(time.time() + 300, usegmt=True)
    async with openai_server(status(429, UNAVAILABLE, headers={"Retry-After": moment})) as server:
        error = await failure(connect(server), request_)

    assert isinstance(error, ModelUnavailable)
    assert error.retry_after is not None
    assert 200.0 <= error.retry_after <= 300.0


async def test_silence_in_the_stream_is_a_time_out(
    connect: Connect, request_: ModelRequest
) -> None:
    """A server that stops talking is hung up on."""
    async with openai_server(silent_stream(text("hel"))) as server:
        error = await failure(connect(server, idle_timeout=0.1), request_)
        await server.saw_hang_up.wait()

    assert isinstance(error, ModelUnavailable)
    assert "silent for too long" in str(error)


async def test_a_stream_that_never_ends_is_a_time_out(
    connect: Connect, request_: ModelRequest
) -> None:
    """The whole call is bounded, also when the server is never silent."""
    async with openai_server(slow_stream(text("a"), every=0.02)) as server:
        error = await failure(connect(server, timeout=0.15), request_)
        await server.saw_hang_up.wait()

    assert isinstance(error, ModelUnavailable)
    assert "not complete after 0.15 seconds" in str(error)


async def test_no_server_at_all_is_worth_another_try(
    connect: Connect, request_: ModelRequest
) -> None:
    """It may be starting; the message says where it was looked for."""
    async with openai_server() as server:
        pass
    error = await failure(connect(server), request_)

    assert isinstance(error, ModelUnavailable)
    assert f"the connection to {server.url[7:-3]} failed" in str(error)


@pytest.mark.parametrize(
    "answer",
    [
        broken_stream(text("hello", "stop")),
        stream(text("hello", "stop"), {"error": {"message": "no usage"}}),
        raw_stream(event(text("hello", "stop")), b"data: {oops\n\n"),
    ],
)
async def test_a_reply_that_was_complete_survives_what_breaks_after_it(
    connect: Connect, request_: ModelRequest, answer: Answer
) -> None:
    """Only the count of tokens is lost; asking again would cost more than that."""
    async with openai_server(answer) as server:
        reply = await connect(server).reply(request_)

    assert (reply.text, reply.usage.tokens) == ("hello", 0)


async def test_a_reply_without_end_is_rejected(connect: Connect, request_: ModelRequest) -> None:
    """Four million characters are no turn of a model; another try would be paid for, too."""
    answer = stream(*[text("x" * 500_000)] * 9, text("", "stop"), usage_chunk(1, 1))
    async with openai_server(answer) as server:
        error = await failure(connect(server), request_)

    assert isinstance(error, ModelRejected)
    assert "longer than 4,000,000 characters" in str(error)


async def test_a_whole_answer_without_end_is_rejected(
    connect: Connect, request_: ModelRequest
) -> None:
    """What isn't streamed is bounded as it is read."""
    answer = raw_stream(*[b" " * 4_100_000] * 4, content_type="application/json")
    async with openai_server(answer) as server:
        error = await failure(connect(server), request_)

    assert isinstance(error, ModelRejected)
    assert "longer than" in str(error)


@pytest.mark.parametrize("value", [float("nan"), "\ud800", object()])
async def test_a_request_that_is_no_json_is_rejected(connect: Connect, value: object) -> None:
    """Nothing is sent, and nothing is tried again."""
    async with openai_server() as server:
        request = ModelRequest(messages=[{"role": "user", "content": value}])
        error = await failure(connect(server), request)

    assert isinstance(error, ModelRejected)
    assert "can't be written as JSON" in str(error)
    assert server.requests == []


async def test_stream_options_are_not_blamed_for_another_fault(
    connect: Connect, request_: ModelRequest
) -> None:
    """Only an answer that names them makes us leave them out."""
    bad = status(400, {"error": {"message": "too many tokens"}})
    async with openai_server(bad, stream(text("hi", "stop"))) as server:
        model = connect(server)
        await failure(model, request_)
        await model.reply(request_)

    assert ["stream_options" in request.body for request in server.requests] == [True, True]


async def test_an_address_that_only_the_http_library_finds_wrong_is_rejected(
    connect: Connect, request_: ModelRequest
) -> None:
    """The message names the variable."""
    error = await failure(connect("http://exa\u2044mple/v1"), request_)

    assert isinstance(error, ModelRejected)
    assert "OPENAI_BASE_URL" in str(error)
