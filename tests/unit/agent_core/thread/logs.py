"""Logs for tests: short words for events, and `log`, which sets them a second apart.

No decisions here, and nothing of the code under test but its values: a log may also be one that
never could have happened.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agent_core.json_values import Json, JsonObject
from agent_core.thread import events as ev
from agent_core.thread.events import ChosenCall, Event, FailureReason, Millis, ThreadId
from agent_core.thread.fold import fold
from agent_core.thread.questions import (
    ANY_ONE,
    LIMIT_OPTIONS,
    OUTCOME_OPTIONS,
    CallKey,
    Kind,
    Option,
    Policy,
    Question,
    QuestionId,
    ResumeTo,
    Waiting,
)
from agent_core.thread.state import Call, QuestionState, ThreadState
from agent_core.thread.transitions import CallStatus
from agent_core.thread.usage import Usage

START = Millis(1_791_000_000_000)  # 2026-10-03 04:00 UTC
UNSET = Millis(0)
CALL = CallKey("3.0")
"""The first call of a log that begins with a launch, a message and a reply."""


def log(*parts: Event | float) -> list[Event]:
    """Date events: each comes a second after the one before, or after as many as are given."""
    now, wait, dated = START, 0.0, list[Event]()
    for part in parts:
        if isinstance(part, (int, float)):
            wait = part
        else:
            now = Millis(now + round(wait * 1000))
            dated.append(replace(part, at=now))
            wait = 1
    return dated


def state_of(*parts: Event | float) -> ThreadState:
    """Fold a log."""
    return fold(log(*parts))


def call_in(state: ThreadState, key: str = CALL) -> Call:
    """Look a call up."""
    return state.calls[CallKey(key)]


def question_in(state: ThreadState, key: str = "q1") -> QuestionState:
    """Look a question up."""
    return state.questions[QuestionId(key)]


# The thread


def launched(*, requester: str = "ada", metadata: JsonObject | None = None) -> Event:
    """Somebody started thread t1."""
    return ev.ThreadLaunched(
        at=UNSET,
        thread=ThreadId("t1"),
        agent="support",
        requester=requester,
        origin="slack:T1/C1",
        metadata=metadata or {},
    )


def said(text: str = "refund order 123", sender: str = "ada") -> Event:
    """A message came."""
    return ev.MessageReceived(at=UNSET, text=text, sender=sender)


def chose(tool: str = "refund", **arguments: Json) -> ChosenCall:
    """Choose a tool with these arguments."""
    return ChosenCall(tool, arguments, "sig")


def replied(text: str = "", *calls: ChosenCall, usage: Usage = Usage(), seen: int = 0) -> Event:  # noqa: B008 (frozen)
    """The model said or chose something."""
    return ev.ModelReplied(at=UNSET, text=text, calls=calls, usage=usage, seen=seen)


def paused(by: str = "", reason: str = "") -> Event:
    """A person said wait."""
    return ev.ThreadPaused(at=UNSET, by=by, reason=reason)


def resumed(by: str = "", instruction: str = "") -> Event:
    """A person said go on."""
    return ev.ThreadResumed(at=UNSET, by=by, instruction=instruction)


def moved(to: str = "email:ada@example.com", by: str = "ada") -> Event:
    """A person said to go on elsewhere."""
    return ev.ThreadMoved(at=UNSET, to=to, by=by)


def cancelled(by: str = "", reason: str = "") -> Event:
    """A person said stop."""
    return ev.ThreadCancelled(at=UNSET, by=by, reason=reason)


def finished(result: str | None = None) -> Event:
    """The agent is done."""
    return ev.ThreadFinished(at=UNSET, result=result)


def broke(error: str = "the model did not reply") -> Event:
    """The agent can't go on."""
    return ev.ThreadFailed(at=UNSET, error=error)


def limited(then: ev.LimitAction = "finish", limit: str = "MaxSteps(3)") -> Event:
    """A limit tripped."""
    return ev.LimitReached(at=UNSET, limit=limit, then=then)


def compacted(through: int, summary: str = "In short.", usage: Usage = Usage()) -> Event:  # noqa: B008 (frozen)
    """The model sees a summary from here on."""
    return ev.ContextCompacted(at=UNSET, summary=summary, through=through, usage=usage)


# Calls


def started(
    call: str = CALL, *, key: str = "", attempt: int = 1, compensable: bool = False
) -> Event:
    """A tool is about to run."""
    return ev.ToolStarted(
        at=UNSET,
        call=CallKey(call),
        key=key or f"t1/{call}",
        attempt=attempt,
        compensable=compensable,
    )


def noted(text: str = "half-way", call: str = CALL) -> Event:
    """A tool told how far it is."""
    return ev.ProgressNoted(at=UNSET, call=CallKey(call), text=text)


def returned(result: Json = "done", call: str = CALL) -> Event:
    """A tool ran to its end."""
    return ev.ToolReturned(at=UNSET, call=CallKey(call), result=result)


def failed(reason: FailureReason = "exception", error: str = "boom", call: str = CALL) -> Event:
    """A call ended without a result of its tool."""
    return ev.ToolFailed(at=UNSET, call=CallKey(call), reason=reason, error=error)


def undone(call: str = CALL, *, attempt: int = 1, error: str = "", settled: bool = True) -> Event:
    """A call was undone, or that was tried."""
    return ev.CompensationRan(
        at=UNSET, call=CallKey(call), attempt=attempt, error=error, settled=settled
    )


# Questions


def approval(
    key: str = "q1",
    call: str | None = CALL,
    *,
    tool: str = "refund",
    waiting: Waiting = Waiting(),  # noqa: B008 (frozen)
    policy: Policy = ANY_ONE,
    to: tuple[str, ...] = (),
) -> Question:
    """May it run?"""
    return Question(
        id=QuestionId(key),
        kind="approval",
        prompt=f"May I run {tool}?",
        purpose="approval",
        call=CallKey(call) if call else None,
        tool=tool,
        arguments={"order": "123"},
        waiting=waiting,
        policy=policy,
        to=to,
    )


def ask(
    key: str = "q1",
    call: str | None = CALL,
    *,
    kind: Kind = "text",
    resume_to: ResumeTo = "next",
    wait: bool = True,
    handler: str = "",
    options: Sequence[Option] = (),
    schema: JsonObject | None = None,
    waiting: Waiting = Waiting(),  # noqa: B008 (frozen)
) -> Question:
    """A tool's own question."""
    return Question(
        id=QuestionId(key),
        kind=kind,
        prompt=f"What of {key}?",
        call=CallKey(call) if call else None,
        resume_to=resume_to,
        wait=wait,
        handler=handler,
        options=tuple(options),
        schema=schema,
        waiting=waiting,
    )


def doubt(key: str = "q1", call: str = CALL) -> Question:
    """Did it take effect?"""
    return Question(
        id=QuestionId(key),
        kind="choice",
        prompt="Did it take effect?",
        purpose="outcome",
        call=CallKey(call),
        options=OUTCOME_OPTIONS,
    )


def may_go_on(key: str = "q1", waiting: Waiting = Waiting()) -> Question:  # noqa: B008 (frozen)
    """A limit tripped: shall the agent go on?"""
    return Question(
        id=QuestionId(key),
        kind="choice",
        prompt="Shall I go on?",
        purpose="limit",
        options=LIMIT_OPTIONS,
        waiting=waiting,
    )


def what_now(key: str = "q1") -> Question:
    """Too many tools failed: what now?"""
    return Question(id=QuestionId(key), kind="text", prompt="What now?", purpose="failures")


def asked(question: Question, replaces: str | None = None) -> Event:
    """People were asked."""
    instead = QuestionId(replaces) if replaces else None
    return ev.QuestionAsked(at=UNSET, question=question, replaces=instead)


def answered(
    value: Json, key: str = "q1", *, by: str = "otto", comment: str = "", digest: str = ""
) -> Event:
    """Somebody answered."""
    return ev.QuestionAnswered(
        at=UNSET, question=QuestionId(key), value=value, by=by, comment=comment, digest=digest
    )


def voted(
    value: Json, key: str = "q1", *, by: str = "otto", person: str = "", digest: str = ""
) -> Event:
    """Somebody voted, and more are needed."""
    return ev.VoteCast(
        at=UNSET, question=QuestionId(key), value=value, by=by, person=person, digest=digest
    )


def taken_back(key: str = "q1", by: str = "otto", reason: str = "") -> Event:
    """Somebody changed their mind before it ran."""
    return ev.ApprovalTakenBack(at=UNSET, question=QuestionId(key), by=by, reason=reason)


def reminded(key: str = "q1") -> Event:
    """People were reminded."""
    return ev.QuestionReminded(at=UNSET, question=QuestionId(key))


def escalated(*to: str, key: str = "q1") -> Event:
    """Others were asked too."""
    return ev.QuestionEscalated(at=UNSET, question=QuestionId(key), to=to)


def expired(key: str = "q1") -> Event:
    """Nobody answered."""
    return ev.QuestionExpired(at=UNSET, question=QuestionId(key))


def withdrawn(key: str = "q1", reason: str = "", by: str = "") -> Event:
    """The question was taken back."""
    return ev.QuestionWithdrawn(at=UNSET, question=QuestionId(key), reason=reason, by=by)


def erased(name: str = "erased person #a1", by: str = "cli", reason: str = "") -> Event:
    """Somebody was taken out of the log."""
    row = ev.ErasedRow(seq=2, link="aa", record="bb", now="cc")
    return ev.PersonErased(at=UNSET, name=name, rows=(row,), by=by, reason=reason)


def refused(key: str = "q1", reason: str = "too late", by: str = "eve") -> Event:
    """An answer was not taken."""
    return ev.AnswerRefused(at=UNSET, question=QuestionId(key), reason=reason, by=by)


YES = {"approved": True}
NO = {"approved": False}

SPOKEN = (launched(), said())
CHOSEN = (*SPOKEN, replied("", chose(order="123")))
RUNNING = (*CHOSEN, started())
CALL_IN: dict[CallStatus, tuple[Event, ...]] = {
    "chosen": CHOSEN,
    "gated": (*CHOSEN, asked(approval())),
    "approved": (*CHOSEN, asked(approval()), answered(YES)),
    "running": RUNNING,
    "waiting": (*RUNNING, asked(ask())),
    "ready": (*RUNNING, asked(ask(resume_to="self")), answered("blue")),
    "unsure": (*RUNNING, asked(doubt())),
    "settled": (*RUNNING, returned()),
}
"""For each status of a call, a log that leaves call 3.0 in it."""
