"""Tidings: what people hear of an event, in a form that any channel can render. Pure."""

from __future__ import annotations

from agent_core.json_values import JsonObject
from agent_core.thread.events import (
    ApprovalTakenBack,
    Event,
    QuestionAnswered,
    QuestionAsked,
    QuestionEscalated,
    QuestionExpired,
    QuestionReminded,
    QuestionWithdrawn,
    ThreadCancelled,
    ThreadFailed,
    ThreadFinished,
    ThreadId,
    ThreadMoved,
    VoteCast,
)
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState


def said(event: Event, after: ThreadState) -> JsonObject | None:
    """Tell people what concerns them; nothing of what doesn't."""
    return _of_a_question(event) or _of_the_thread(event, after)


def reached_nobody(thread: ThreadId, question: QuestionId | None) -> JsonObject:
    """Tell operators what is lost, by ids: they need not be of those who may read it."""
    if question is None:
        what, todo = "How it ended", f"`parley threads show {thread}` shows it."
    else:
        what = f"The question {question}"
        todo = f"`parley questions answer {question}` answers it, if you may."
    text = (
        f"{what} of thread {thread} reached nobody: no address is left to try. {todo} "
        "`parley people check` tells whom no channel reaches."
    )
    return {"kind": "notice", "text": text}


def _of_a_question(event: Event) -> JsonObject | None:
    match event:
        case QuestionAsked(question=question):
            return {"kind": "question.asked", "question": question.id}
        case (
            QuestionAnswered(question=key)
            | QuestionExpired(question=key)
            | QuestionWithdrawn(question=key)
        ):
            return {"kind": "question.settled", "question": key}
        case ApprovalTakenBack(question=key):
            return {"kind": "question.settled", "question": key, "again": True}
        case VoteCast(question=key):
            return {"kind": "question.voted", "question": key}
        case QuestionReminded(question=key):
            return {"kind": "question.reminded", "question": key}
        case QuestionEscalated(question=key, to=to):
            return {"kind": "question.escalated", "question": key, "to": list(to)}
        case _:
            return None


def _of_the_thread(event: Event, after: ThreadState) -> JsonObject | None:
    match event:
        case ThreadFinished():
            return {"kind": "thread.finished", "text": after.final_result()}
        case ThreadFailed(error=error):
            return {"kind": "thread.failed", "text": error}
        case ThreadCancelled(reason=reason):
            return {"kind": "thread.cancelled", "text": reason}
        case ThreadMoved():
            return {"kind": "notice", "text": _continued(after)}
        case _:
            return None


def _continued(after: ThreadState) -> str:
    """Say at the new place how it stands."""
    begin = f"This conversation with {after.agent} continues here: reply to go on."
    if after.lifecycle == "finished":
        return f"{begin}\n\nThe result so far:\n\n{after.final_result()}"
    asked = [current.question.prompt for current in after.waiting_questions()]
    waits = "".join(f"\n\nIt waits for an answer: {prompt}" for prompt in asked)
    return f"{begin}{waits}"
