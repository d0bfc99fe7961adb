"""What events mean for a question, and for the call that waits for it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent_core.errors import ImpossibleEvent
from agent_core.thread import call_fold
from agent_core.thread.events import (
    ApprovalTakenBack,
    QuestionAnswered,
    QuestionAsked,
    QuestionEscalated,
    QuestionExpired,
    QuestionReminded,
    QuestionWithdrawn,
    VoteCast,
)
from agent_core.thread.questions import CallKey, Question, QuestionId
from agent_core.thread.state import CallResult, LateNews, QuestionState, ThreadState, Vote
from agent_core.thread.transitions import QUESTION, CallTrigger, move


def asked(state: ThreadState, event: QuestionAsked) -> None:
    """Open a question, perhaps in the place of another copy of it."""
    question = event.question
    if question.id in state.questions:
        raise ImpossibleEvent(f"question {question.id} was asked before")
    stands_for = None
    if event.replaces is not None:
        before = _move(state, event.replaces, "QuestionAsked", settled_at=event.at)
        stands_for = before.stands_for or event.replaces
    state.questions[question.id] = QuestionState(
        question=question,
        stands_for=stands_for,
        asked_at=event.at,
        timer_from=event.at,
        nudged_at=event.at,
    )
    state.open_questions[question.id] = None
    if question.call is None:
        return
    if question.wait:
        _hold_call(state, question, question.call, event.replaces)
    elif question.call in state.calls:
        _remember(state, question, question.call, event.replaces)


def answered(state: ThreadState, event: QuestionAnswered) -> None:
    """Close a question with its answer, and let go what waited for it."""
    current = _move(
        state,
        event.question,
        "QuestionAnswered",
        votes=_votes(state, event),
        settled_at=event.at,
        settled_by=event.by,
        value=event.value,
        comment=event.comment,
    )
    question = current.question
    if question.call is None or not question.wait:
        _answered_for_thread(state, event, question)
        return
    match question.purpose:
        case "approval":
            _answered_approval(state, event, question.call)
        case "outcome":
            _answered_outcome(state, event, question.call)
        case _:
            _answered_ask(state, event, question, question.call)


def voted(state: ThreadState, event: VoteCast) -> None:
    """Keep a vote; whether it decides was decided before."""
    _move(state, event.question, "VoteCast", votes=_votes(state, event))


def taken_back(state: ThreadState, event: ApprovalTakenBack) -> None:
    """Close an approved question as if it had been withdrawn; what it let run needs another."""
    current = _move(
        state,
        event.question,
        "ApprovalTakenBack",
        settled_at=event.at,
        settled_by=event.by,
        taken_back=True,
        value=None,
        comment=event.reason,
    )
    question = current.question
    if question.purpose != "approval" or question.call is None:
        raise ImpossibleEvent(f"question {event.question} approved nothing to take back")
    call_fold.advance(
        state,
        question.call,
        "taken back",
        arguments=question.arguments or {},
        edited=False,
        approved_digest="",
        approval_comment="",
    )


def reminded(state: ThreadState, event: QuestionReminded) -> None:
    """Begin the wait for the next reminder."""
    count = _current(state, event.question).reminders + 1
    _move(state, event.question, "QuestionReminded", nudged_at=event.at, reminders=count)


def escalated(state: ThreadState, event: QuestionEscalated) -> None:
    """Begin a new wait, with more people."""
    current = _current(state, event.question)
    _move(
        state,
        event.question,
        "QuestionEscalated",
        escalated_to=current.escalated_to + event.to,
        escalations=current.escalations + 1,
        reminders=0,
        timer_from=event.at,
        nudged_at=event.at,
    )


def expired(state: ThreadState, event: QuestionExpired) -> None:
    """Close a question that nobody answered in time."""
    current = _move(state, event.question, "QuestionExpired", settled_at=event.at)
    result = CallResult(outcome="expired", reason=current.question.waiting.on_expiry)
    _end_unanswered(state, event, current.question, "expired", result)


def withdrawn(state: ThreadState, event: QuestionWithdrawn) -> None:
    """Close a question that was taken back."""
    current = _move(
        state, event.question, "QuestionWithdrawn", settled_at=event.at, settled_by=event.by
    )
    result = CallResult(outcome="withdrawn", value=event.reason, by=event.by)
    _end_unanswered(state, event, current.question, "withdrawn", result)


def _end_unanswered(
    state: ThreadState,
    event: QuestionExpired | QuestionWithdrawn,
    question: Question,
    trigger: CallTrigger,
    result: CallResult,
) -> None:
    if question.call is not None and question.wait:
        # Of several questions that one tool asked, the first to end unanswered settles the call.
        if question.call in state.open_calls:
            unknown = CallResult(outcome="failed", reason="outcome_unknown")
            ending = unknown if question.purpose == "outcome" else result
            call_fold.settle(state, question.call, trigger, ending)
    elif question.purpose == "limit":
        state.stopping = "a limit, and nobody said to go on"
    else:
        _tell_model(state, event, question)


def _hold_call(
    state: ThreadState, question: Question, key: CallKey, replaces: QuestionId | None
) -> None:
    match question.purpose:
        case "approval":
            call_fold.advance(state, key, "gate asked", approved_digest="")
        case "outcome":
            call_fold.note_effect(state, call_fold.advance(state, key, "doubted"))
        case _:
            _check_alone(state, question, key)
            held = call_fold.advance(state, key, "asked")
            _remember(state, question, key, replaces)
            if question.resume_to in ("next", "event"):
                # The tool itself has run to its end: cancelling from here on must undo it.
                call_fold.note_effect(state, held)


def _check_alone(state: ThreadState, question: Question, key: CallKey) -> None:
    """Hold tools to one pause at a time; only asks, which run it again anyway, come together."""
    others = (one.question for one in state.waiting_questions() if one.question.call == key)
    beside = [one.resume_to for one in others if one.wait and one.id != question.id]
    if beside and {question.resume_to, *beside} != {"ask"}:
        raise ImpossibleEvent(f"call {key} waits for something else already")


def _remember(
    state: ThreadState, question: Question, key: CallKey, replaces: QuestionId | None
) -> None:
    """Add to what the tool has asked, in the place of the copy that this one stands in for."""
    call = state.calls[key]
    if replaces in call.questions:
        asked_so_far = tuple(question.id if one == replaces else one for one in call.questions)
    else:
        asked_so_far = (*call.questions, question.id)
    state.calls[key] = replace(call, questions=asked_so_far)


def _answered_for_thread(state: ThreadState, event: QuestionAnswered, question: Question) -> None:
    if question.purpose != "limit":
        _tell_model(state, event, question)
    elif event.value == "stop":
        state.stopping = "a limit, and a person said to stop"
    else:
        state.reset_meter()


def _tell_model(state: ThreadState, event: LateNews, question: Question) -> None:
    """Nothing stood still for this alone: the model hears of it as a message."""
    if question.purpose == "failures":
        state.failures_in_a_row = 0
    state.entries.append((state.seq, event))
    state.unseen = True


def _answered_approval(state: ThreadState, event: QuestionAnswered, key: CallKey) -> None:
    said = {"approved_digest": event.digest, "approval_comment": event.comment}
    match event.value:
        case {"approved": True, "arguments": dict(edited)}:
            call_fold.advance(state, key, "approved", **said, arguments=edited, edited=True)
        case {"approved": True}:
            call_fold.advance(state, key, "approved", **said)
        case _:
            result = CallResult(outcome="denied", by=event.by, comment=event.comment)
            call_fold.settle(state, key, "denied", result)


def _answered_ask(
    state: ThreadState, event: QuestionAnswered, question: Question, key: CallKey
) -> None:
    if key not in state.open_calls:
        return  # it ended unanswered in another of its questions; this one comes too late
    call = state.calls[key]
    match question.resume_to:
        case "next":
            result = CallResult(
                outcome="answered", value=event.value, by=event.by, comment=event.comment
            )
            call_fold.settle(state, key, "answered", result)
        case "ask":
            still_open = [one for one in call.questions if one in state.open_questions]
            more = any(state.questions[one].question.wait for one in still_open)
            trigger: CallTrigger = "one of several answered" if more else "answered, runs on"
            call_fold.advance(state, key, trigger)
        case _:
            call_fold.advance(
                state,
                key,
                "answered, runs on",
                resumed_by=question.id,
                handler=question.handler or call.handler,
                resumes=call.resumes + 1,
            )


def _answered_outcome(state: ThreadState, event: QuestionAnswered, key: CallKey) -> None:
    match event.value:
        case "it_happened":
            result = CallResult(outcome="confirmed", by=event.by, comment=event.comment)
            call_fold.settle(state, key, "happened", result)
        case "run_again":
            call_fold.advance(state, key, "run again")
        case _:
            result = CallResult(
                outcome="failed", reason="outcome_unknown", by=event.by, comment=event.comment
            )
            call_fold.settle(state, key, "skipped", result)


def _votes(state: ThreadState, event: QuestionAnswered | VoteCast) -> tuple[Vote, ...]:
    """Add a vote to those before; where one person decides, the answer says it all."""
    current = _current(state, event.question)
    if current.question.policy.quorum == 1:
        return ()
    vote = Vote(
        at=event.at,
        value=event.value,
        by=event.by,
        person=event.person,
        comment=event.comment,
        digest=event.digest,
    )
    return (*current.votes, vote)


def _current(state: ThreadState, key: QuestionId) -> QuestionState:
    current = state.questions.get(key)
    if current is None:
        raise ImpossibleEvent(f"there is no question {key}")
    return current


def _move(state: ThreadState, key: QuestionId, trigger: str, **changes: Any) -> QuestionState:  # noqa: ANN401 (fields of QuestionState)
    current = _current(state, key)
    status = move(QUESTION, f"question {key}", current.status, trigger)
    moved = replace(current, status=status, **changes)
    state.questions[key] = moved
    if status != "open":
        state.open_questions.pop(key, None)
    return moved
