"""Scenes for the tests: a thread in a few words, and lives of the server around it."""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from typing import Any

from gateway.playground.scene import Life, Scene, Seen

START = datetime(2026, 11, 16, 12, 0, tzinfo=UTC).timestamp()


def iso(second: float) -> str:
    """Write a time, in seconds after the start."""
    return datetime.fromtimestamp(START + second, UTC).isoformat()


def event(seq: int, second: float, kind: str, **fields: object) -> dict[str, Any]:
    """Write an event as the API does."""
    return {"seq": seq, "type": kind, "at": iso(second), **fields}


def asking(*, origin: str = "slack:T:C:1") -> list[dict[str, Any]]:
    """Write a log that stands at a question, asked in second 3."""
    return [
        event(1, 1, "ThreadLaunched", agent="release", origin=origin),
        event(2, 2, "ModelReplied", text="", calls=[{"tool": "roll_back", "arguments": {}}]),
        event(3, 3, "QuestionAsked", question={"id": "q1", "prompt": "May I?", "kind": "approval"}),
    ]


def answered() -> list[dict[str, Any]]:
    """Write a log whose tool runs since second 5."""
    return [
        *asking(),
        event(4, 4, "QuestionAnswered", question="q1", value={"approved": True}, by="you"),
        event(5, 5, "ToolStarted", call="2.0", key="th_1/2.0"),
    ]


def seen(
    events: list[dict[str, Any]],
    *,
    status: str = "waiting",
    origin: str = "slack:T:C:1",
    copies: dict[str, str] | None = None,
) -> Seen:
    """Make a thread; `copies` says how each copy of its question stands, by address."""
    deliveries = [
        {"address": address, "question": "q1", "kind": "question.asked", "status": stands}
        for address, stands in (copies or {}).items()
    ]
    thread = {"id": "th_1", "agent": "release", "origin": origin, "status": status, "questions": []}
    return Seen(thread=thread, events=events, deliveries=deliveries)


def killed(second: float) -> list[Life]:
    """Give a life that was killed in that second, and the next, which answers a second later."""
    return [
        Life(
            pid=1,
            started=START,
            ready=START + 0.5,
            ended=START + second,
            code=-signal.SIGKILL,
        ),
        Life(pid=2, started=START + second, ready=START + second + 1),
    ]


def scene(*threads: Seen, lives: list[Life] | None = None) -> Scene:
    """Put a scene together."""
    return Scene(lives=lives or [], threads=threads)
