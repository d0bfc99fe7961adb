"""`parley launch`: what it does."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from dataclasses import dataclass
from typing import Any

import typer

from gateway.cli.doing import calls, screen
from gateway.cli.doing.failure import FAILED, STILL_WAITING
from gateway.cli.doing.following import follow
from gateway.cli.doing.pairs import pairs
from gateway.cli.doing.screen import Progress
from gateway.cli.doing.words import how_to_answer
from gateway.http.client import ApiError, BrokenOff, Client, Reply, outcome, thread_path

_PAUSES = (0.2, 2.0)
_LAUNCH_SECONDS = 60.0
"""How long a pipeline tries to launch: a server that is being restarted is back by then."""
_OVER = frozenset({"finished", "denied", "failed", "cancelled"})


@dataclass(frozen=True)
class Ended:
    """What a launch came to."""

    reply: Reply
    outcome: str


def launch(
    agent: str,
    text: str,
    *,
    wait: float | None,
    thread_key: str,
    metadata: list[str],
    callback_url: str,
    idempotency_key: str,
    as_json: bool,
) -> None:
    """Launch, and print the thread; to `wait` so many seconds, print what came out of it."""
    body: dict[str, object] = {"agent": agent, "text": _text(text)}
    if thread_key:
        body["thread_key"] = thread_key
    if metadata:
        body["metadata"] = pairs(metadata, "--metadata")
    if callback_url:
        body["callback_url"] = callback_url
    headers = {"Idempotency-Key": idempotency_key or secrets.token_hex(16)}
    if wait is None:
        reply = calls.with_client(lambda client, _: _launch(client, body, headers), "launching")
        return screen.data(reply.text if as_json else reply.data["id"])

    async def work(client: Client, line: Progress) -> Ended:
        return await _wait(client, body, headers, line, wait)

    return _tell(calls.with_client(work, "launching"), as_json=as_json)


async def _launch(client: Client, body: object, headers: dict[str, str]) -> Reply:
    """Launch once, whatever the connection does: the key makes trying again harmless."""
    for seconds in _PAUSES:
        try:
            return await client.post("/v1/threads", body, headers)
        except BrokenOff:
            await asyncio.sleep(seconds)
    return await client.post("/v1/threads", body, headers)


async def _wait(
    client: Client, body: object, headers: dict[str, str], line: Progress, seconds: float
) -> Ended:
    """Launch, and follow the thread to its end, or until the time is over."""
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    patience = min(seconds, _LAUNCH_SECONDS)
    launched = await client.post_surely("/v1/threads", body, headers, seconds=patience)
    thread = str(launched.data["id"])
    screen.say(f"launched {thread}")
    teller = _Teller(client, thread)
    try:
        async with asyncio.timeout(None if seconds == float("inf") else max(end - clock(), 0)):
            await follow(client, thread, teller.hear, line)
            now = await client.get_surely(thread_path(thread), seconds=patience)
            return Ended(now, outcome(now))
    except TimeoutError:
        return await _not_yet(client, launched)
    finally:
        await teller.stop()


async def _not_yet(client: Client, launched: Reply) -> Ended:
    """Tell how far it is; where the server can't tell that now, how far it was."""
    try:
        now = await client.get(thread_path(str(launched.data["id"])))
    except ApiError as exc:
        screen.say(f"parley: {exc}")
        return Ended(launched, "unknown")
    return Ended(now, outcome(now))


class _Teller:
    """Tells of questions on stderr: what, whom, where, and how to answer."""

    def __init__(self, client: Client, thread: str) -> None:
        self._client = client
        self._path = thread_path(thread)
        self._telling: set[asyncio.Task[None]] = set()

    def hear(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "QuestionAsked":
                question = event["question"]
                screen.say(f"{question['prompt']}\n  {how_to_answer(question)}")
                self._telling.add(asyncio.create_task(self._tell_where(question["id"])))
            case "VoteCast":
                screen.say(f"{event['by']} has decided; more people must")
            case "QuestionAnswered":
                screen.say(f"answered by {event.get('by') or 'somebody'}")

    async def _tell_where(self, question: str) -> None:
        """Say who is asked, and in which channels; the stream does not know."""
        try:
            told = await self._client.send("GET", self._path, headers={"Accept": "text/plain"})
        except ApiError:
            return  # it is talk only: the connection is taken up again by others
        own = told.text.split(f"  question: {question}\n")
        if len(own) > 1:
            lines = own[0].splitlines()
            screen.say("\n".join(line for line in lines[-2:] if line.startswith("  ")))

    async def stop(self) -> None:
        """Leave nothing behind."""
        for task in self._telling:
            task.cancel()
        await asyncio.gather(*self._telling, return_exceptions=True)


def _text(text: str) -> str:
    given = sys.stdin.read() if text == "-" else text
    if not given.strip():
        raise typer.BadParameter("there is nothing to say: the text is empty")
    return given


def _tell(ended: Ended, *, as_json: bool) -> None:
    """Print the result, and exit as the outcome says."""
    thread = ended.reply.data
    if as_json:
        screen.data(json.dumps(thread | {"outcome": ended.outcome}, ensure_ascii=False))
    elif thread["status"] == "finished":
        screen.data(json.dumps(None) if thread["result"] is None else thread["result"])
    if ended.outcome == "denied":
        screen.say("people did not give leave: the outcome is denied")
    elif ended.outcome != "finished":
        screen.say(f"the thread {thread['id']} is {ended.outcome}: {thread['error'] or ''}")
    if ended.outcome != "finished":
        raise typer.Exit(FAILED if ended.outcome in _OVER else STILL_WAITING)
