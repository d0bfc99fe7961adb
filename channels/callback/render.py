"""What a callback is sent: `{type, timestamp, data: {thread, question}}`, as the API has it. Pure.

A thread's end is told as it was, also when it was resumed before the message got through.
"""

from __future__ import annotations

from typing import Final

from pydantic_core import to_json

from agent_core.json_values import JsonObject
from channels.outgoing import Outgoing

TOLD: Final = frozenset(
    {
        "question.asked",
        "question.settled",
        "thread.finished",
        "thread.failed",
        "thread.cancelled",
    }
)
"""Reminders and escalations are for people: a program was told, and has not forgotten."""


def render(
    message: Outgoing,
    thread: JsonObject | None,
    question: JsonObject | None,
    response_url: str,
) -> bytes:
    """Write the body of a message."""
    data: JsonObject = {"thread": _ended(message, thread or {"id": message.thread})}
    if question is not None:
        data["question"] = {**question, "response_url": response_url or None}
    return to_json(
        {"type": message.kind, "timestamp": _time(message, thread, question), "data": data}
    )


def _ended(message: Outgoing, thread: JsonObject) -> JsonObject:
    """Give the thread as it was when it ended; of any other message, as it is."""
    match message.kind:
        case "thread.finished":
            return {**thread, "status": "finished", "result": message.text, "error": None}
        case "thread.failed":
            return {**thread, "status": "failed", "result": None, "error": message.text}
        case "thread.cancelled":
            return {**thread, "status": "cancelled"}
        case _:
            return thread


def _time(message: Outgoing, thread: JsonObject | None, question: JsonObject | None) -> str | None:
    """Tell when it happened, as near as it is known."""
    if question is not None:
        field = "asked_at" if message.kind == "question.asked" else "settled_at"
        return question.get(field) or question.get("asked_at")
    return (thread or {}).get("updated_at")
