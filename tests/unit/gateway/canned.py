"""A server that says what a test told it to, over a real socket, and remembers what it was asked.

It runs in a thread of its own: the command line under test has an event loop of its own.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]

THREAD: dict[str, Any] = {
    "id": "th_1",
    "agent": "desk",
    "status": "finished",
    "origin": "web:th_1",
    "requester": "otto",
    "questions": [],
    "result": "All done.",
    "error": None,
    "usage": {"input_tokens": 1200, "output_tokens": 34, "cost": 0.0},
    "metadata": {},
    "created_at": "2026-11-16T09:30:00Z",
    "updated_at": "2026-11-16T09:31:00Z",
}
QUESTION: dict[str, Any] = {
    "id": "q_1",
    "thread_id": "th_1",
    "kind": "approval",
    "prompt": "May I refund order 1042?",
    "context": "",
    "options": [],
    "schema": None,
    "tool": "refund",
    "arguments": {"order": "1042", "amount": 59.9},
    "audience": [],
    "urgency": "normal",
    "status": "open",
    "answer": None,
    "answered_by": None,
    "comment": None,
    "asked_at": "2026-11-16T09:30:30Z",
    "expires_at": None,
}
AT = "2026-11-16T09:30:00Z"
EVENTS: list[dict[str, Any]] = [
    {"seq": 1, "type": "ThreadLaunched", "at": AT, "thread": "th_1", "agent": "desk"},
    {"seq": 2, "type": "MessageReceived", "at": AT, "text": "Refund 1042", "sender": "otto"},
    {
        "seq": 3,
        "type": "ModelReplied",
        "at": AT,
        "text": "One moment.",
        "calls": [{"tool": "refund", "arguments": {"order": "1042", "amount": 59.9}}],
    },
    {"seq": 4, "type": "ToolStarted", "at": AT, "call": "3.0", "key": "k"},
    {"seq": 5, "type": "ToolReturned", "at": AT, "call": "3.0", "result": "Refunded."},
    {"seq": 6, "type": "ThreadFinished", "at": "2026-11-17T09:30:00Z", "result": "All done."},
]


@dataclass(frozen=True)
class Asked:
    """One request, as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: str


@dataclass
class Canned:
    """What to answer, by method and path."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)

    def on(self, method: str, path: str, body: object, status: int = 200, **headers: str) -> None:
        """Answer with JSON, or with a text as it is."""
        text = body if isinstance(body, str) else json.dumps(body)
        kind = "application/json" if status < 300 else "application/problem+json"

        async def answer(_request: web.Request) -> web.StreamResponse:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            return web.Response(text=text, status=status, content_type=kind, headers=given)

        self.answers[method, path] = answer

    def problem(self, method: str, path: str, status: int, detail: str, **headers: str) -> None:
        """Answer with a problem."""
        self.on(method, path, {"title": "No", "detail": detail}, status, **headers)

    def stream(self, thread: str, pieces: list[list[dict[str, Any]]]) -> None:
        """Stream events live, one piece for each time that somebody connects; pages come whole."""
        events = [event for piece in pieces for event in piece]
        left = list(pieces)

        async def answer(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Accept") != "text/event-stream":
                after = int(request.query.get("after", 0))
                items = [event for event in events if event["seq"] > after]
                return web.json_response({"items": items, "next_cursor": None})
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b": hello\n\n")
            for event in left.pop(0) if left else []:
                await response.write(f"id: {event['seq']}\ndata: {json.dumps(event)}\n\n".encode())
            return response

        self.answers["GET", f"/v1/threads/{thread}/events"] = answer

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = (await request.read()).decode()
        path = request.rel_url.raw_path
        headers = dict(request.headers)
        self.asked.append(Asked(request.method, path, dict(request.query), headers, body))
        answer = self.answers.get((request.method, path))
        if answer is None:
            return web.json_response({"title": "No", "detail": f"no {path}"}, status=404)
        return await answer(request)

    async def _serve(self, started: threading.Event, stop: asyncio.Event) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        started.set()
        await stop.wait()
        await runner.cleanup()


@contextmanager
def canned_server() -> Iterator[Canned]:
    """Run one."""
    canned, started = Canned(), threading.Event()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(
        target=lambda: loop.run_until_complete(canned._serve(started, stop)), daemon=True
    )
    thread.start()
    assert started.wait(10)
    yield canned
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()
