"""What events mean outside the log: lists, the index of questions, the queue, and what people hear.

Pure. Everything here goes into the same commit as the events, so that nothing can be decided and
not said, or said and not decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from agent_core.json_values import JsonObject
from agent_core.thread.events import (
    Event,
    Millis,
    ProgressNoted,
    QuestionAnswered,
    QuestionAsked,
    QuestionEscalated,
    QuestionExpired,
    QuestionReminded,
    QuestionWithdrawn,
    ThreadCancelled,
    ThreadFailed,
    ThreadFinished,
    ToolFailed,
    ToolReturned,
    ToolStarted,
)
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import QuestionState, Status, ThreadState
from agent_core.thread.steps import Wait, next_step, status_with
from agent_core.thread.timers import expires_at, next_due
from storage.values import DeliveryId, NewDelivery, QuestionRow

_UNLISTED = frozenset({ToolStarted, ToolReturned, ToolFailed, ProgressNoted})
"""Events that change nothing of what lists show of a thread."""

_OF_QUESTIONS = frozenset(
    {QuestionAsked, QuestionAnswered, QuestionExpired, QuestionWithdrawn}
    | {QuestionEscalated, QuestionReminded}
)
_TOLD = _OF_QUESTIONS | {ThreadFinished, ThreadFailed, ThreadCancelled}
"""Events of which people hear: those that `_said` knows."""


class Consequences(msgspec.Struct, kw_only=True):
    """What to commit beside the events."""

    status: Status
    summary: JsonObject | None
    """None where it is as it was."""
    questions: list[QuestionRow]
    deliveries: list[NewDelivery]
    rests: bool
    """Nothing is left to do but wait, as far as the log tells."""
    wake_at: Millis | None
    """When somebody must look at the thread: now, at its next timer, or not at all."""


def consequences(events: Sequence[Event], after: ThreadState, now: Millis) -> Consequences:
    """Work out what these events, the last of `after`, mean for everybody else."""
    step = next_step(after)
    rests = isinstance(step, Wait)
    kinds = {type(event) for event in events}
    is_unlisted = bool(kinds) and kinds <= _UNLISTED
    return Consequences(
        status=status_with(after, step),
        summary=None if is_unlisted else summary(after),
        questions=[] if kinds.isdisjoint(_OF_QUESTIONS) else indexed(events, after),
        deliveries=[] if kinds.isdisjoint(_TOLD) else list(_deliveries(events, after, now)),
        rests=rests,
        wake_at=next_due(after) if rests else now,
    )


def indexed(events: Sequence[Event], after: ThreadState) -> list[QuestionRow]:
    """Write the questions that these events opened, changed or closed, for the index."""
    return [question_row(after, key) for key in _touched(events, after)]


def wake_at(state: ThreadState, now: Millis) -> Millis | None:
    """Tell when somebody must look at the thread: now, at its next timer, or not at all."""
    return next_due(state) if isinstance(next_step(state), Wait) else now


def summary(state: ThreadState) -> JsonObject:
    """Write what lists show of a thread; what is empty goes without saying, as in the views."""
    usage: JsonObject = {
        "input_tokens": state.usage.input_tokens,
        "output_tokens": state.usage.output_tokens,
        "cost": state.usage.cost,
    }
    shown: JsonObject = {
        "result": state.final_result() if state.lifecycle == "finished" else None,
        "error": state.error,
        "usage": {name: count for name, count in usage.items() if count},
        "metadata": state.metadata,
        "questions": [question_body(state, one) for one in state.waiting_questions()],
    }
    return {name: value for name, value in shown.items() if value}


def question_row(state: ThreadState, key: QuestionId) -> QuestionRow:
    """Write a question for the index."""
    current = state.questions[key]
    return QuestionRow(
        id=key,
        thread=state.id,
        status=current.status,
        asked_at=current.asked_at,
        expires_at=expires_at(current),
        body=question_body(state, current),
    )


def question_body(state: ThreadState, current: QuestionState) -> JsonObject:
    """Write a question as the API shows it, with times in milliseconds."""
    question = current.question
    return {
        "id": question.id,
        "thread_id": state.id,
        "kind": question.kind,
        "prompt": question.prompt,
        "context": question.context,
        "options": [msgspec.to_builtins(option) for option in question.options],
        "schema": question.schema,
        "tool": question.tool or None,
        "arguments": question.arguments,
        "audience": list(audience(state, current)),
        "urgency": question.urgency,
        "status": current.status,
        "answer": current.value,
        "answered_by": current.settled_by or None,
        "comment": current.comment or None,
        "asked_at": current.asked_at,
        "settled_at": current.settled_at,
        "expires_at": expires_at(current),
    }


def audience(state: ThreadState, current: QuestionState) -> tuple[str, ...]:
    """Give who may answer: those named, else the thread's own; and whom it went on to."""
    own = state.audience or ((state.requester,) if state.requester else ())
    return (*(current.question.to or own), *current.escalated_to)


def _touched(events: Sequence[Event], after: ThreadState) -> Iterable[QuestionId]:
    touched: dict[QuestionId, None] = {}
    for event in events:
        match event:
            case QuestionAsked(question=question, replaces=replaces):
                touched[question.id] = None
                if replaces is not None:
                    touched[replaces] = None
            case (
                QuestionAnswered(question=key)
                | QuestionExpired(question=key)
                | QuestionWithdrawn(question=key)
                | QuestionEscalated(question=key)
            ):
                touched[key] = None
    return [key for key in touched if key in after.questions]


def _deliveries(events: Sequence[Event], after: ThreadState, now: Millis) -> Iterable[NewDelivery]:
    if not after.origin:
        return
    first = after.seq - len(events) + 1
    for seq, event in enumerate(events, start=first):
        body = _said(event, after)
        if body is not None:
            yield NewDelivery(
                id=DeliveryId(f"{after.id}.{seq}"),
                address=after.origin,
                body=body,
                due_at=now,
                question=body.get("question"),
            )


def _said(event: Event, after: ThreadState) -> JsonObject | None:
    """Tell people what concerns them, in a form that any channel can render."""
    match event:
        case QuestionAsked(question=question):
            return {"kind": "question.asked", "question": question.id}
        case QuestionAnswered(question=key) | QuestionExpired(question=key):
            return {"kind": "question.settled", "question": key}
        case QuestionWithdrawn(question=key):
            return {"kind": "question.settled", "question": key}
        case QuestionReminded(question=key):
            return {"kind": "question.reminded", "question": key}
        case QuestionEscalated(question=key, to=to):
            return {"kind": "question.escalated", "question": key, "to": list(to)}
        case ThreadFinished():
            return {"kind": "thread.finished", "text": after.final_result()}
        case ThreadFailed(error=error):
            return {"kind": "thread.failed", "text": error}
        case ThreadCancelled(reason=reason):
            return {"kind": "thread.cancelled", "text": reason}
        case _:
            return None
