"""What events mean outside the log: lists, the index of questions, the queue, and what people hear.

Pure. Everything here goes into the same commit as the events, so that nothing can be decided and
not said, or said and not decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from agent_core.json_values import JsonObject
from agent_core.thread.events import (
    ApprovalTakenBack,
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
    ThreadMoved,
    ToolFailed,
    ToolReturned,
    ToolStarted,
    VoteCast,
)
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import QuestionState, Status, ThreadState
from agent_core.thread.steps import Wait, next_step, status_with
from agent_core.thread.timers import expires_at, next_due
from agent_core.thread.verdict import was_denied
from gateway.outbox.delivery_ids import ELSEWHERE, OPERATOR
from gateway.outbox.tidings import reached_nobody, said
from gateway.people.parties import asked, parties
from gateway.people.routing import ORIGIN_ONLY, Routing, audience
from gateway.work.ballots import deciding_body
from storage.values import USUAL_RANK, DeliveryId, NewDelivery, QuestionRow

_UNLISTED = frozenset({ToolStarted, ToolReturned, ToolFailed, ProgressNoted})
"""Events that change nothing of what lists show of a thread."""

_RANKS = {"high": 0, "normal": USUAL_RANK, "low": 2}

_OF_QUESTIONS = frozenset(
    {QuestionAsked, QuestionAnswered, QuestionExpired, QuestionWithdrawn}
    | {QuestionEscalated, QuestionReminded, VoteCast, ApprovalTakenBack}
)
_TOLD = _OF_QUESTIONS | {ThreadFinished, ThreadFailed, ThreadCancelled, ThreadMoved}
"""Events of which people hear: those that `tidings.said` knows."""


class Consequences(msgspec.Struct, kw_only=True):
    """What to commit beside the events."""

    status: Status
    summary: JsonObject | None
    """None where it is as it was."""
    questions: list[QuestionRow]
    parties: tuple[str, ...]
    deliveries: list[NewDelivery]
    rests: bool
    """Nothing is left to do but wait, as far as the log tells."""
    wake_at: Millis | None
    """When somebody must look at the thread: now, at its next timer, or not at all."""


def consequences(
    events: Sequence[Event], after: ThreadState, now: Millis, routing: Routing = ORIGIN_ONLY
) -> Consequences:
    """Work out what these events, the last of `after`, mean for everybody else."""
    step = next_step(after)
    rests = isinstance(step, Wait)
    kinds = {type(event) for event in events}
    is_silent = kinds.isdisjoint(_TOLD)
    is_unlisted = bool(kinds) and kinds <= _UNLISTED
    return Consequences(
        status=status_with(after, step),
        summary=None if is_unlisted else summary(after),
        questions=[] if kinds.isdisjoint(_OF_QUESTIONS) else indexed(events, after),
        parties=parties(events, after, routing.people),
        deliveries=[] if is_silent else list(_deliveries(events, after, now, routing)),
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
        "denied": state.lifecycle == "finished" and was_denied(state),
        "error": state.error,
        "usage": {name: count for name, count in usage.items() if count},
        "title": state.title,
        "metadata": state.metadata,
        "origin": state.origin if state.began_at else None,
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
        rank=_RANKS[current.question.urgency],
        asked=asked(audience(state, current)),
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
        **deciding_body(current),
    }


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
                | VoteCast(question=key)
                | ApprovalTakenBack(question=key)
            ):
                touched[key] = None
    return [key for key in touched if key in after.questions]


def _deliveries(
    events: Sequence[Event], after: ThreadState, now: Millis, routing: Routing
) -> Iterable[NewDelivery]:
    if not after.origin:
        return
    first = after.seq - len(events) + 1
    for seq, event in enumerate(events, start=first):
        body = said(event, after)
        if body is None:
            continue
        doubtful = routing.doubtful(event, after)
        for number, (address, due_at) in enumerate(routing.hearers(event, after, now).items()):
            yield NewDelivery(
                id=DeliveryId(f"{after.id}.{seq}" + (f"{ELSEWHERE}{number}" if number else "")),
                address=address,
                body=body if number or not doubtful else {**body, "asked": doubtful},
                due_at=due_at,
                question=body.get("question"),
            )
        for number, address in enumerate(routing.lookouts(event, after)):
            yield NewDelivery(
                id=DeliveryId(f"{after.id}.{seq}{OPERATOR}{number}"),
                address=address,
                body=reached_nobody(after.id, body.get("question")),
                due_at=now,
            )
