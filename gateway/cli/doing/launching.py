"""`parley launch`: what it does."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from typing import Any

import typer

from gateway.cli.doing import calls, screen
from gateway.cli.doing.following import follow
from gateway.cli.doing.pairs import pairs
from gateway.cli.doing.screen import Progress
from gateway.cli.doing.words import how_to_answer
from gateway.client import BrokenOff, Client, Reply, thread_path

_PAUSES = (0.2, 2.0)


def launch(
    agent: str,
    text: str,
    *,
    wait: bool,
    thread_key: str,
    metadata: list[str],
    idempotency_key: str,
    as_json: bool,
) -> None:
    """Launch, and print the thread; with `wait`, print what came out of it."""
    body: dict[str, object] = {"agent": agent, "text": _text(text)}
    if thread_key:
        body["thread_key"] = thread_key
    if metadata:
        body["metadata"] = pairs(metadata, "--metadata")
    headers = {"Idempotency-Key": idempotency_key or secrets.token_hex(16)}

    async def work(client: Client, line: Progress) -> Reply:
        reply = await _launch(client, body, headers)
        if not wait:
            return reply
        thread = reply.data["id"]
        await follow(client, thread, _tell_question, line)
        return await client.get(thread_path(thread))

    reply = calls.with_client(work, "launching")
    _print(reply, wait=wait, as_json=as_json)


async def _launch(client: Client, body: object, headers: dict[str, str]) -> Reply:
    """Launch once, whatever the connection does: the key makes trying again harmless."""
    for seconds in _PAUSES:
        try:
            return await client.post("/v1/threads", body, headers)
        except BrokenOff:
            await asyncio.sleep(seconds)
    return await client.post("/v1/threads", body, headers)


def _text(text: str) -> str:
    given = sys.stdin.read() if text == "-" else text
    if not given.strip():
        raise typer.BadParameter("there is nothing to say: the text is empty")
    return given


def _tell_question(event: dict[str, Any]) -> None:
    if event["type"] == "QuestionAsked":
        question = event["question"]
        screen.say(f"{question['prompt']}\n  {how_to_answer(question)}")


def _print(reply: Reply, *, wait: bool, as_json: bool) -> None:
    thread = reply.data
    if as_json:
        screen.data(reply.text)
    elif not wait:
        screen.data(thread["id"])
    elif thread["status"] == "finished":
        screen.data(json.dumps(None) if thread["result"] is None else thread["result"])
    else:
        screen.say(f"the thread {thread['id']} is {thread['status']}: {thread['error'] or ''}")
    if wait and thread["status"] != "finished":
        raise typer.Exit(1)
