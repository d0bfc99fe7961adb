"""The rows of one cycle, made by hand: what any store writes who keeps what we keep. Pure.

As many transactions as a crash at any moment asks for: the launch, the reply with its question,
the answer, the tool's start, the tool's end, the last reply with the end. What is sent rides along
with the next of them. Nothing is parsed, decided or read.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from bench.gateway.stopwatch import ANSWER, DONE, QUESTION, REFUNDED, REPLY, REQUEST

NOW = 1_700_000_000_000

_SUMMARY = json.dumps({"result": None, "error": None, "usage": {}, "metadata": {}, "questions": []})
_ASKED = json.dumps({"prompt": REPLY, "arguments": QUESTION, "status": "open", "answer": None})
_FULL = json.dumps({"result": DONE, "error": None, "usage": {}, "metadata": {}, "questions": []})


class Rows(NamedTuple):
    """One transaction, by the kind of row; empty is nothing of that kind."""

    begun: tuple[str, str, str] | None = None
    """A thread: its id, address and summary."""
    moved: tuple[str, int, str, str] | None = None
    """A thread: its id, last event, status and summary."""
    events: tuple[tuple[str, int, str], ...] = ()
    question: tuple[str, str, str, str] | None = None
    """Its id, thread, status and body."""
    said: tuple[str, str, int, str, str] | None = None
    """A delivery: its id, thread, event, address and body."""
    sent: str = ""
    """A delivery's id."""


def transactions(thread: str) -> list[Rows]:
    """Give what a cycle writes, each when the one before is durable."""
    address, question = f"web:{thread}", f"q_{thread}"

    def event(seq: int, kind: str, **fields: object) -> tuple[str, int, str]:
        body = {"type": kind, "at": NOW, **fields}
        return thread, seq, json.dumps(body, separators=(",", ":"))

    def say(seq: int, kind: str) -> tuple[str, str, int, str, str]:
        body = json.dumps({"kind": kind, "question": question})
        return f"{thread}.{seq}", thread, seq, address, body

    asked = {"id": question, **QUESTION}
    return [
        Rows(
            begun=(thread, address, _SUMMARY),
            events=(
                event(1, "thread.launched", thread=thread, agent="desk", origin=address),
                event(2, "message.received", text=REQUEST, sender="ann"),
            ),
        ),
        Rows(
            moved=(thread, 4, "waiting", _SUMMARY + _ASKED),
            events=(
                event(3, "model.replied", text=REPLY, calls=[QUESTION]),
                event(4, "question.asked", question=asked),
            ),
            question=(question, thread, "open", _ASKED),
            said=say(4, "question.asked"),
        ),
        Rows(
            moved=(thread, 5, "running", _SUMMARY),
            events=(event(5, "question.answered", question=question, value=ANSWER, by="otto"),),
            question=(question, thread, "answered", _ASKED),
            said=say(5, "question.settled"),
            sent=f"{thread}.4",
        ),
        Rows(
            moved=(thread, 6, "running", _SUMMARY), events=(event(6, "tool.started", **QUESTION),)
        ),
        Rows(
            moved=(thread, 7, "running", _SUMMARY),
            events=(event(7, "tool.returned", value=REFUNDED),),
            sent=f"{thread}.5",
        ),
        Rows(
            moved=(thread, 9, "finished", _FULL),
            events=(event(8, "model.replied", text=DONE), event(9, "thread.finished")),
            said=say(9, "thread.finished"),
        ),
    ]
