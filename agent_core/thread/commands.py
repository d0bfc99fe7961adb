"""What people and programs may ask of a thread, turned into events, or refused in words. Pure.

Each function looks at the state and gives the events that carry the command out; the caller
appends them. The library and the gateway's intake use the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from agent_core.errors import OpenQuestions, TooLate, UnknownQuestion, WrongStatus
from agent_core.json_values import Json
from agent_core.thread.answers import CheckArguments, require_open, settled_words, shape_answer
from agent_core.thread.digest import approval_digest
from agent_core.thread.events import (
    ApprovalTakenBack,
    Attachment,
    Event,
    MessageReceived,
    Millis,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    ThreadCancelled,
    ThreadFinished,
    ThreadMoved,
    ThreadPaused,
    ThreadResumed,
    VoteCast,
)
from agent_core.thread.questions import Question, QuestionId
from agent_core.thread.state import Call, QuestionState, ThreadState, Vote
from agent_core.thread.steps import status
from agent_core.thread.timers import siblings
from agent_core.thread.times import spoken
from agent_core.thread.transitions import THREAD
from agent_core.thread.voting import (
    Canonical,
    Decider,
    decides,
    require_may_decide,
    themselves,
)


def receive(
    state: ThreadState,
    text: str,
    *,
    at: Millis,
    sender: str = "",
    others: tuple[str, ...] = (),
    attachments: tuple[Attachment, ...] = (),
) -> list[Event]:
    """Say something more to the agent."""
    _require(state, MessageReceived, "takes no more messages")
    return [
        MessageReceived(at=at, text=text, sender=sender, others=others, attachments=attachments)
    ]


def answer(
    state: ThreadState,
    answers: Mapping[QuestionId, object],
    *,
    at: Millis,
    check_arguments: CheckArguments,
    by: str = "",
    person: str = "",
    canonical: Canonical = themselves,
    comment: str = "",
    how: str = "",
) -> list[Event]:
    """Answer questions; if one of the answers is refused, none is taken.

    `person` is who `by` is, where the caller knows; `canonical` tells whose identities belong
    together. Where several people decide, it is a vote until enough have said the same.
    """
    decider = Decider(by=by, person=person, canonical=canonical)
    events: list[Event] = []
    for key, value in answers.items():
        current = require_open(state, key)
        question = current.question
        shaped = shape_answer(question, value, check_arguments)
        require_may_decide(state, question, shaped, decider)
        said = {
            "at": at,
            "value": shaped,
            "by": by,
            "person": decider.recorded(),
            "comment": comment,
            "digest": _approved(state, question, shaped),
        }
        kind = QuestionAnswered if decides(current, Vote(**said), decider) else VoteCast
        events.append(kind(question=key, how=how, **said))
    _require(state, QuestionAnswered, "takes no more answers")
    return events


def withdraw(
    state: ThreadState, key: QuestionId, *, at: Millis, reason: str = "", by: str = ""
) -> list[Event]:
    """Take a question back, with the others of the same tool; the call is told."""
    require_open(state, key)
    return [
        QuestionWithdrawn(at=at, question=one, reason=reason, by=by)
        for one in (key, *siblings(state, key))
    ]


def take_back(
    state: ThreadState,
    key: QuestionId,
    *,
    at: Millis,
    new_question: QuestionId,
    by: str = "",
    reason: str = "",
) -> list[Event]:
    """Take back an approval of what has not begun to run: it is asked anew, as it was at first."""
    current = _known(state, key)
    question = current.question
    if current.status != "answered" or question.purpose != "approval" or question.call is None:
        raise TooLate(f"question {key} is {_standing(current)}: there is no approval to take back")
    call = state.calls.get(question.call)
    if call is None or call.status != "approved" or (state.lifecycle, _TAKEN_BACK) not in THREAD:
        raise TooLate(f"it is too late to take that back: {_went_on(question, call)}")
    return [
        ApprovalTakenBack(at=at, question=key, by=by, reason=reason),
        QuestionAsked(at=at, question=replace(question, id=new_question)),
    ]


def pause(state: ThreadState, *, at: Millis, by: str = "", reason: str = "") -> list[Event]:
    """Hold the thread where it is."""
    _require(state, ThreadPaused, "can't be paused")
    return [ThreadPaused(at=at, by=by, reason=reason)]


def resume(state: ThreadState, *, at: Millis, by: str = "", instruction: str = "") -> list[Event]:
    """Let a paused thread go on, perhaps with an instruction."""
    if state.lifecycle != "paused":
        raise WrongStatus(f"{_described(state)} and can't be resumed")
    return [ThreadResumed(at=at, by=by, instruction=instruction)]


def move(state: ThreadState, to: str, *, at: Millis, by: str = "") -> list[Event]:
    """Let the conversation go on at another address; nothing if it is there."""
    _require(state, ThreadMoved, "can't be moved")
    return [] if to == state.origin else [ThreadMoved(at=at, to=to, by=by)]


def retry(state: ThreadState, *, at: Millis, by: str = "", instruction: str = "") -> list[Event]:
    """Let a failed thread try again from where it stood."""
    if state.lifecycle != "failed":
        raise WrongStatus(f"{_described(state)} and can't be retried")
    return [ThreadResumed(at=at, by=by, instruction=instruction)]


def cancel(state: ThreadState, *, at: Millis, by: str = "", reason: str = "") -> list[Event]:
    """Stop the thread for good: questions withdrawn, every open call settled."""
    _require(state, ThreadCancelled, "can't be cancelled")
    return [
        *_withdraw_all(state, at=at, by=by, reason="the thread was cancelled"),
        ThreadCancelled(at=at, by=by, reason=reason),
    ]


def close(
    state: ThreadState, *, at: Millis, withdraw_open: bool, result: str | None = None, by: str = ""
) -> list[Event]:
    """Finish the thread here; people's open questions are withdrawn only when told so."""
    _require(state, ThreadFinished, "can't be closed")
    if any(state.calls[key].status == "running" for key in state.open_calls):
        raise WrongStatus("a tool of this thread was started and has no result; it can't be closed")
    if state.open_questions and not withdraw_open:
        waiting = ", ".join(state.open_questions)
        raise OpenQuestions(f"people are still being asked ({waiting}); withdraw them to close")
    return [
        *_withdraw_all(state, at=at, by=by, reason="the thread was closed"),
        ThreadFinished(at=at, result=result),
    ]


def _approved(state: ThreadState, question: Question, value: Json) -> str:
    """Fingerprint what was approved; edited arguments are what was approved."""
    is_approval = question.purpose == question.kind == "approval"
    if not is_approval or question.call is None or not value["approved"]:
        return ""
    call = state.calls[question.call]
    return approval_digest(call.tool, call.signature, value.get("arguments", call.arguments))


_TAKEN_BACK = ApprovalTakenBack.__name__


def _known(state: ThreadState, key: QuestionId) -> QuestionState:
    current = state.questions.get(key)
    if current is None:
        raise UnknownQuestion(f"this thread never asked a question {key!r}")
    return current


def _standing(current: QuestionState) -> str:
    return "still open" if current.status == "open" else settled_words(current)


def _went_on(question: Question, call: Call | None) -> str:
    """Say what has become of a call that was approved, or denied."""
    if call is None or call.result is None:
        return f"{question.tool} has begun to run"
    return f"{question.tool} is over ({call.result.outcome})"


def _withdraw_all(state: ThreadState, *, at: Millis, by: str, reason: str) -> list[Event]:
    return [
        QuestionWithdrawn(at=at, question=key, reason=reason, by=by) for key in state.open_questions
    ]


def _require(state: ThreadState, event: type, refusal: str) -> None:
    if (state.lifecycle, event.__name__) not in THREAD:
        raise WrongStatus(f"{_described(state)} and {refusal}")


def _described(state: ThreadState) -> str:
    by = {"paused": state.paused_by, "cancelled": state.cancelled_by}.get(state.lifecycle)
    who = f" (by {by}, {spoken(state.stopped_at)})" if by else ""
    return f"the thread is {status(state)}{who}"
