"""A model server on a local socket, by turns well, slow, away, or talking nonsense."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, TypeAlias

from aiohttp import web

Mood: TypeAlias = Literal["well", "slow", "away", "nonsense"]

_SLOW_SECONDS = 2.0
_NONSENSE = (
    b'data: {"choices": [{"index"\n\n',
    b"data: 42\n\ndata: [DONE]\n\n",
    b"<html>Bad Gateway</html>",
    b"",
)
"""What is no reply at all: the call has to be made again."""


class Brain:
    """Decides what the desk does next, from what it is shown alone."""

    def __init__(self, chance: random.Random, people: list[str]) -> None:
        self.mood: Mood = "well"
        self.url = ""
        self.calls = 0
        self._chance = chance
        self._people = people

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Reply, in the mood of the moment."""
        self.calls += 1
        messages = (await request.json())["messages"]
        if self.mood == "away":
            return web.Response(status=503)
        if self.mood == "slow":
            await asyncio.sleep(_SLOW_SECONDS)
        if self.mood == "nonsense":
            return await self._babble(request)
        return await _stream(request, _event(self._decide(messages)) + b"data: [DONE]\n\n")

    async def _babble(self, request: web.Request) -> web.StreamResponse:
        if self._chance.random() < 0.5:
            return await _stream(request, self._chance.choice(_NONSENSE))
        bad = self._chance.choice(
            [_call("c0", "no_such_tool", {"order": "?"}), _call("c0", "pay", {"amount": []})]
        )
        return await _stream(request, _event({"tool_calls": [bad]}) + b"data: [DONE]\n\n")

    def _decide(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Ask somebody, then pay and book in one turn, then tell; ids count from zero, always."""
        order = re.search(r"order-[\w-]+", str(messages))
        assert order is not None
        done = {
            call["function"]["name"]
            for message in messages
            for call in message.get("tool_calls") or ()
            if call["function"]["name"] == "contact_human"
            or "order" in call["function"]["arguments"]
        }
        if "contact_human" not in done:
            return {"tool_calls": [_call("c0", "contact_human", self._question(order[0]))]}
        if "book" not in done:
            paid = [
                _call("c0", "pay", {"order": order[0]}),
                _call("c1", "book", {"order": order[0]}),
            ]
            return {"tool_calls": [{**call, "index": n} for n, call in enumerate(paid)]}
        return {"content": f"done {order[0]}"}

    def _question(self, order: str) -> dict[str, Any]:
        person = self._people[sum(order.encode()) % len(self._people)]
        return {
            "question": f"Which account is {order} on?",
            "kind": "choice",
            "options": ["north", "south"],
            "to": [person],
        }


def _call(key: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": 0, "id": key, "type": "function", "function": function}


def _event(delta: dict[str, Any]) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "double"}
    end = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events = [{**chunk, "choices": [choice]}, end]
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in events)


async def _stream(request: web.Request, body: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    with suppress(ConnectionResetError):  # who asked was killed
        await response.prepare(request)
        await response.write(body)
        await response.write_eof()
    return response


@asynccontextmanager
async def brain(chance: random.Random, people: list[str]) -> AsyncIterator[Brain]:
    """Run one, on a port that the system chooses."""
    made = Brain(chance, people)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", made.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield made
    finally:
        await runner.cleanup()
