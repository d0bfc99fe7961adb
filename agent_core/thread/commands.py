"""What people and programs may ask of a thread, turned into events, or refused in words. Pure.

Each function looks at the state and gives the events that carry the command out; the caller
appends them. The library and the gateway's intake use the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_core.errors import OpenQuestions, WrongStatus
from agent_core.json_values import Json
from agent_core.thread.answers import CheckArguments, require_open, shape_answer
from agent_core.thread.digest import approval_digest
from agent_core.thread.events import (
    Attachment,
    Event,
    MessageReceived,
    Millis,
    QuestionAnswered,
    QuestionWithdrawn,
    ThreadCancelled,
    ThreadFinished,
    ThreadPaused,
    ThreadResumed,
)
from agent_core.thread.questions import Question, QuestionId
from agent_core.thread.state import ThreadState
from agent_core.thread.steps import status
from agent_core.thread.timers import siblings
from agent_core.thread.times import spoken
from agent_core.thread.transitions import THREAD


def receive(
    state: ThreadState,
    text: str,
    *,
    at: Millis,
    sender: str = "",
    attachments: tuple[Attachment, ...] = (),
) -> list[Event]:
    """Say something more to the agent."""
    _require(state, MessageReceived, "takes no more messages")
    return [MessageReceived(at=at, text=text, sender=sender, attachments=attachments)]


def answer(
    state: ThreadState,
    answers: Mapping[QuestionId, object],
    *,
    at: Millis,
    check_arguments: CheckArguments,
    by: str = "",
    comment: str = "",
) -> list[Event]:
    """Answer questions; if one of the answers is refused, none is taken."""
    events: list[Event] = []
    for key, value in answers.items():
        question = require_open(state, key).question
        shaped = shape_answer(question, value, check_arguments)
        events.append(
            QuestionAnswered(
                at=at,
                question=key,
                value=shaped,
                by=by,
                comment=comment,
                digest=_approved(state, question, shaped),
            )
        )
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


def pause(state: ThreadState, *, at: Millis, by: str = "", reason: str = "") -> list[Event]:
    """Hold the thread where it is."""
    _require(state, ThreadPaused, "can't be paused")
    return [ThreadPaused(at=at, by=by, reason=reason)]


def resume(state: ThreadState, *, at: Millis, by: str = "", instruction: str = "") -> list[Event]:
    """Let a paused thread go on, perhaps with an instruction."""
    if state.lifecycle != "paused":
        raise WrongStatus(f"{_described(state)} and can't be resumed")
    return [ThreadResumed(at=at, by=by, instruction=instruction)]


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
