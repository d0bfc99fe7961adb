"""Following a thread live, until it is over; broken connections are taken up in silence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, assert_never

from gateway.cli.doing.screen import Progress
from gateway.http.client import Client, Lost, is_over, thread_path

Hear = Callable[[dict[str, Any]], None]

_ENDS = frozenset({"ThreadFinished", "ThreadFailed", "ThreadCancelled"})
_WAKES = frozenset({"MessageReceived", "ThreadResumed"})
_WAITING = {"QuestionAsked": "waiting for an answer", "ThreadPaused": "paused"}
_PATIENCE = 600.0
"""Seconds for a server that is restarted; whoever wants less waits under a timeout."""
_UNDOING_SECONDS = 1.0
"""What a cancelled thread has running ends, and is undone, after its status says so."""


async def follow(client: Client, thread: str, hear: Hear, line: Progress) -> dict[str, Any]:
    """Pass each event on, as it comes; give the thread when it is over."""
    ended = False
    async for heard in client.follow(thread):
        match heard:
            case Lost(why):
                line.show(f"{why}; trying again")
            case dict():
                line.hide()
                hear(heard)
                line.show(f"{thread}: {_WAITING.get(heard['type'], 'running')}")
                ended = heard["type"] in _ENDS or (ended and heard["type"] not in _WAKES)
                if ended and (over := await _over(client, thread, heard["seq"])):
                    return over
            case never:
                assert_never(never)
    raise AssertionError("a stream that is followed has no end")


async def _over(client: Client, thread: str, seq: int) -> dict[str, Any] | None:
    """Give the thread if it is over, and nothing more of it is to be told."""
    now: dict[str, Any] = (await client.get_surely(thread_path(thread), seconds=_PATIENCE)).data
    if not is_over(now):
        return None
    if now["status"] == "cancelled":
        await asyncio.sleep(_UNDOING_SECONDS)
    rest = {"after": seq, "limit": 1}
    path = f"{thread_path(thread)}/events"
    more = (await client.get_surely(path, rest, seconds=_PATIENCE)).data
    return None if more["items"] else now
