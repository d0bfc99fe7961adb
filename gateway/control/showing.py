"""From rows and events to the public views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from agent_core.json_values import JsonObject
from agent_core.thread.events import Event, Millis
from agent_core.thread.times import as_datetime
from gateway.control.views import DeliveryView, EventView, QuestionView, ThreadStatus, ThreadView
from gateway.outbox.delivery_ids import told_of
from storage.values import Delivery, QuestionRow, ThreadRow


def show_thread(row: ThreadRow, now: Millis) -> ThreadView:
    """Show a thread from its row alone; what newer code keeps there besides is none of ours."""
    summary: dict[str, Any] = {
        "metadata": {},
        "questions": [],
        "origin": row.origin,
        **row.summary,
    }
    questions = [_question(body) for body in summary.pop("questions")]
    told = {
        "id": row.id,
        "agent": row.agent,
        "status": _status(row, now),
        "requester": row.requester,
        "thread_key": row.thread_key,
        "questions": questions,
        "created_at": as_datetime(row.created_at),
        "updated_at": as_datetime(row.updated_at),
    }
    return ThreadView.model_validate({**told, **summary}, extra="ignore")


def show_question(row: QuestionRow) -> QuestionView:
    """Show a question from the index."""
    return _question(row.body)


def show_delivery(row: Delivery) -> DeliveryView:
    """Show what was said to one address."""
    return DeliveryView(
        id=row.id,
        event=told_of(row.id),
        kind=row.body["kind"],
        address=row.address,
        question=row.question,
        status=row.status,
        due_at=None if row.due_at is None else as_datetime(row.due_at),
        attempts=row.attempts,
        error=row.error or None,
    )


def show_events(events: Sequence[Event], after: int) -> list[EventView]:
    """Show a piece of a log that begins behind `after`."""
    return [_event(seq, event) for seq, event in enumerate(events, start=after + 1)]


def _status(row: ThreadRow, now: Millis) -> ThreadStatus:
    if row.status != "running":
        return row.status
    held = row.lease_until is not None and row.lease_until > now
    return "running" if held else "queued"


def _question(body: JsonObject) -> QuestionView:
    times: JsonObject = {
        name: None if body[name] is None else as_datetime(body[name])
        for name in ("asked_at", "settled_at", "expires_at")
    }
    if "votes" in body:
        times["votes"] = [{**one, "at": as_datetime(one["at"])} for one in body["votes"]]
    return QuestionView.model_validate({**body, **times}, extra="ignore")


def _event(seq: int, event: Event) -> EventView:
    body = msgspec.to_builtins(event)
    body["at"] = as_datetime(event.at)
    return EventView(seq=seq, **body)
