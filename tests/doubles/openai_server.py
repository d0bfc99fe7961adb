"""A model server on a local socket that answers as a test wrote.

It speaks HTTP and server-sent events for real, so that the real SDK is what gets tested. The
answers are given in order, one for each request; whatever comes after the last one is refused
with a 418, which no client tries again. What was sent is kept in `requests`.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import msgspec
from aiohttp import web

Answer: TypeAlias = Callable[["OpenAIServer", web.Request], Awaitable[web.StreamResponse]]


class Received(msgspec.Struct, frozen=True):
    """One request, as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class OpenAIServer:
    """The server's address, its script, and what it has seen."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = iter(answers)
        self.url = ""
        self.requests: list[Received] = []
        self.connections: set[int] = set()
        self.is_streaming = asyncio.Event()
        self.saw_hang_up = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Note the request, and give the next answer of the script."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.json()
        self.requests.append(Received(path=request.path, headers=headers, body=body))
        self.connections.add(id(request.transport))
        answer = next(self._answers, None)
        if answer is None:
            return web.Response(status=418, text="the script has no more answers")
        try:
            return await answer(self, request)
        except asyncio.CancelledError:  # aiohttp cancels a handler whose client has gone
            self.saw_hang_up.set()
            raise


@asynccontextmanager
async def openai_server(
    *answers: Answer, listening: socket.socket | None = None
) -> AsyncIterator[OpenAIServer]:
    """Run a server for the time of a test, on a port that the system chooses.

    A test that runs several loops passes a listening socket, to have the same port in each.
    """
    sock = socket.create_server(("127.0.0.1", 0)) if listening is None else listening.dup()
    server = OpenAIServer(answers)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.SockSite(runner, sock).start()
    server.url = f"http://127.0.0.1:{sock.getsockname()[1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()


# ------------------------------------------------------------------------------ answers


def stream(*chunks: Mapping[str, Any], done: bool = True) -> Answer:
    """Stream these chunks as events, with `[DONE]` at the end unless it's to be missing."""
    events = [event(chunk) for chunk in chunks]
    return raw_stream(*events, *([b"data: [DONE]\n\n"] if done else []))


def raw_stream(*parts: bytes, content_type: str = "text/event-stream") -> Answer:
    """Stream these bytes as they are."""

    async def give(_: OpenAIServer, request: web.Request) -> web.StreamResponse:
        response = await _begin(request, parts, content_type)
        await response.write_eof()
        return response

    return give


def broken_stream(*chunks: Mapping[str, Any]) -> Answer:
    """Stream these chunks, then drop the connection without a word."""

    async def give(_: OpenAIServer, request: web.Request) -> web.StreamResponse:
        response = await _begin(request, [event(chunk) for chunk in chunks])
        assert request.transport is not None
        request.transport.abort()
        return response

    return give


def silent_stream(*chunks: Mapping[str, Any]) -> Answer:
    """Stream these chunks, then say nothing more for as long as the client waits."""

    async def give(server: OpenAIServer, request: web.Request) -> web.StreamResponse:
        response = await _begin(request, [event(chunk) for chunk in chunks])
        server.is_streaming.set()
        await asyncio.Event().wait()
        return response

    return give


def slow_stream(chunk: Mapping[str, Any], *, every: float) -> Answer:
    """Stream the same chunk again and again, never silent and never done."""

    async def give(_: OpenAIServer, request: web.Request) -> web.StreamResponse:
        response = await _begin(request, [])
        while True:
            await response.write(event(chunk))
            await asyncio.sleep(every)

    return give


def status(
    code: int, body: object, *, headers: Mapping[str, str] | None = None, kind: str = ""
) -> Answer:
    """Answer with a status and a body: an object as JSON, a string as it is."""
    text = body if isinstance(body, str) else json.dumps(body)
    kind = kind or ("text/html" if isinstance(body, str) else "application/json")

    async def give(_: OpenAIServer, __: web.Request) -> web.StreamResponse:
        return web.Response(status=code, text=text, headers=headers, content_type=kind)

    return give


def broken_error_page(code: int) -> Answer:
    """Announce an error page, and drop the connection in the middle of it."""

    async def give(_: OpenAIServer, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=code, headers={"content-length": "1000"})
        await response.prepare(request)
        await response.write(b"<html>")
        assert request.transport is not None
        request.transport.abort()
        return response

    return give


async def _begin(
    request: web.Request, parts: Iterable[bytes], content_type: str = "text/event-stream"
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": content_type})
    await response.prepare(request)
    for part in parts:
        await response.write(part)
    return response


# ------------------------------------------------------------------------------- chunks


def event(data: object) -> bytes:
    """Write one server-sent event."""
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None) -> dict[str, Any]:
    """Write one chunk as OpenAI does."""
    choice = {"index": 0, "delta": dict(delta or {}), "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "served-model",
        "choices": [choice],
    }


def text(content: str, finish: str | None = None) -> dict[str, Any]:
    """Write a chunk that brings text."""
    return chunk({"content": content}, finish)


def call_piece(
    *,
    index: int | None = None,
    id: str | None = None,  # noqa: A002  (its name on the wire)
    name: str | None = None,
    arguments: object = None,
) -> dict[str, Any]:
    """Write a part of a tool call, with only those fields that are given."""
    function = {"name": name, "arguments": arguments}
    piece: dict[str, Any] = {"index": index, "id": id}
    piece = {key: value for key, value in piece.items() if value is not None}
    return {**piece, "function": {k: v for k, v in function.items() if v is not None}}


def call_chunk(*pieces: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    """Write a chunk that brings parts of tool calls."""
    return chunk({"tool_calls": list(pieces)}, finish)


def usage_chunk(prompt_tokens: int, completion_tokens: int) -> dict[str, Any]:
    """Write the last chunk, which has no choices but counts the tokens."""
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return {**chunk(), "choices": [], "usage": usage}
