"""`parley events`: what its commands do."""

from __future__ import annotations

import json
import secrets
import sys

import typer

from gateway.cli.doing import calls, screen
from gateway.cli.doing.screen import Progress
from gateway.http.client import Client, Reply


def send(key: str, value: str, *, idempotency_key: str, as_json: bool) -> None:
    """Send an event, once, whatever the connection does."""
    body = {"key": key, "value": _object(sys.stdin.read() if value == "-" else value)}
    headers = {"Idempotency-Key": idempotency_key or secrets.token_hex(16)}

    async def work(client: Client, _line: Progress) -> Reply:
        return await client.post_surely("/v1/events", body, headers)

    reply = calls.with_client(work, "sending")
    if as_json:
        return screen.data(reply.text)
    told = reply.data
    screen.say(told["detail"] or f"{told['effect']}: question {told['question_id']}")
    return screen.data(told["thread_id"] or told["effect"])


def _object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise typer.BadParameter(f"the value is not JSON: {exc}") from exc
    if not isinstance(value, dict):
        raise typer.BadParameter('the value is an object, like {"state": "done"}')
    return value
