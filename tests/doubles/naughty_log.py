"""Logs and questions that hold one string in every field that somebody outside can fill."""

from __future__ import annotations

from agent_core.thread import events as ev
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import CallKey, Kind, Option, Question, QuestionId
from agent_core.thread.state import QuestionState, ThreadState, Vote
from agent_core.thread.usage import Usage
from gateway.work.consequences import question_row
from storage.values import QuestionRow

KINDS: tuple[Kind, ...] = ("text", "choice", "approval", "form", "event")


def log_of(text: str, at: Millis, question: str = "q") -> list[Event]:
    """Give an event of every kind, with this text wherever there is room for one."""
    key, call = QuestionId(question), CallKey("3.0")
    said = {"approved": True, "arguments": {text: text, "n": 1}}
    return [
        ev.ThreadLaunched(
            at=at, thread=ThreadId(text), agent=text, requester=text, origin=f"slack:{text}",
            metadata={text: text, "a": [text]}, forked_from=ThreadId(text),
        ),
        ev.MessageReceived(
            at=at, text=text, sender=text, others=(text,),
            attachments=(ev.Attachment(name=text, text=text), ev.Attachment(name=text, note=text)),
        ),
        ev.ModelReplied(
            at=at, text=text, model=text, usage=Usage(1, 1, 1.0),
            calls=(ev.ChosenCall(text, {text: text}), ev.ChosenCall(text, {}, malformed=text)),
        ),
        ev.QuestionAsked(at=at, question=question_of(text, "approval", question)),
        ev.QuestionAnswered(at=at, question=key, value=said, by=text, comment=text, how=text),
        ev.QuestionAnswered(at=at, question=key, value=text, by=f"slack:{text}"),
        ev.QuestionAnswered(at=at, question=key, value={text: [text]}, by=f"{text}:x"),
        ev.VoteCast(at=at, question=key, value=said, by=text, comment=text),
        ev.ApprovalTakenBack(at=at, question=key, by=text, reason=text),
        ev.QuestionEscalated(at=at, question=key, to=(text, text)),
        ev.QuestionWithdrawn(at=at, question=key, reason=text, by=text),
        ev.AnswerRefused(at=at, question=key, reason=text, by=text),
        ev.ToolStarted(at=at, call=call, key=text),
        ev.ProgressNoted(at=at, call=call, text=text),
        ev.ToolReturned(at=at, call=call, result=text),
        ev.ToolReturned(at=at, call=call, result={text: text}),
        ev.ToolFailed(at=at, call=call, reason="exception", error=text),
        ev.ThreadPaused(at=at, by=text, reason=text),
        ev.ThreadResumed(at=at, by=text, instruction=text),
        ev.ThreadMoved(at=at, to=text, by=text),
        ev.ThreadMoved(at=at, to=f"{text}:x", by=text),
        ev.ThreadCancelled(at=at, by=text, reason=text),
        ev.CompensationRan(at=at, call=call, error=text),
        ev.LimitReached(at=at, limit=text, then="ask"),
        ev.ContextCompacted(at=at, summary=text, through=1),
        ev.ThreadFinished(at=at, result=text),
        ev.ThreadFailed(at=at, error=text),
        ev.PersonErased(at=at, name=text, by=text, reason=text),
    ]  # fmt: skip


def question_of(text: str, kind: Kind, key: str = "q") -> Question:
    """Ask something with this text wherever there is room for one."""
    form = {"type": "string", "title": text, "description": text, "default": text}
    choice = {"title": text, "enum": [text, "other"]}
    return Question(
        id=QuestionId(key),
        kind=kind,
        prompt=text,
        context=text,
        options=(Option(text, text), Option("x", text)) if kind == "choice" else (),
        schema={"properties": {text: form, "c": choice}} if kind == "form" else None,
        tool=text if kind == "approval" else "",
        arguments={text: text, "n": 1, "deep": {text: [text]}} if kind == "approval" else None,
        to=(text,),
    )


def row_of(text: str, kind: Kind, at: Millis, key: str, thread: str) -> QuestionRow:
    """Put such a question into the index, with a vote that would change something."""
    question = question_of(text, kind, key)
    vote = Vote(
        at=at,
        value={"approved": True, "arguments": {text: f"{text}!"}},
        by=text,
        comment=text,
    )
    state = ThreadState(id=ThreadId(thread), agent=text, requester=text)
    state.questions[question.id] = QuestionState(
        question=question,
        asked_at=at,
        timer_from=at,
        nudged_at=at,
        votes=(vote,) if kind == "approval" else (),
    )
    return question_row(state, question.id)
