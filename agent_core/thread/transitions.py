"""The state machines, as tables: what may happen when, and where it leads.

Three nouns have a life of their own. A **thread** moves by its events; a **call** (a tool that
the model chose) by what an event means for it; a **question** from open to one end, which
only an approval that is taken back before it ran can change.
Whatever is not in a table is impossible, and raises an error that names both sides.
`docs/state-machine.md` is generated from here (`python -m docs.state_machine`).

A thread's public status adds two words that need more than the log: an active thread is
`waiting` when only people can move it, and `queued` until a worker has it.
"""

from __future__ import annotations

from typing import Literal, TypeVar

from agent_core.errors import ImpossibleEvent

Lifecycle = Literal["new", "active", "paused", "finished", "failed", "cancelled"]

CallStatus = Literal[
    "chosen",  # by the model; nothing has happened yet
    "gated",  # a person was asked whether it may run
    "approved",  # and said yes
    "running",  # started; after a crash, nobody knows how far it got
    "waiting",  # the tool itself asked somebody
    "ready",  # and may now go on
    "unsure",  # a person was asked what became of it
    "settled",  # it has its one result
]
CallTrigger = Literal[
    "gate asked",
    "approved",
    "taken back",
    "denied",
    "started",
    "asked",
    "one of several answered",
    "answered",
    "answered, runs on",
    "doubted",
    "happened",
    "run again",
    "skipped",
    "returned",
    "failed",
    "expired",
    "withdrawn",
    "cancelled",
]

QuestionStatus = Literal["open", "answered", "expired", "withdrawn"]

THREAD: dict[tuple[Lifecycle, str], Lifecycle] = {
    ("new", "ThreadLaunched"): "active",
    # At work.
    ("active", "MessageReceived"): "active",
    ("active", "ModelReplied"): "active",
    ("active", "ToolStarted"): "active",
    ("active", "ProgressNoted"): "active",
    ("active", "ToolReturned"): "active",
    ("active", "ToolFailed"): "active",
    ("active", "QuestionAsked"): "active",
    ("active", "QuestionAnswered"): "active",
    ("active", "VoteCast"): "active",
    ("active", "ApprovalTakenBack"): "active",
    ("active", "QuestionReminded"): "active",
    ("active", "QuestionEscalated"): "active",
    ("active", "QuestionExpired"): "active",
    ("active", "QuestionWithdrawn"): "active",
    ("active", "AnswerRefused"): "active",
    ("active", "LimitReached"): "active",
    ("active", "ContextCompacted"): "active",
    ("active", "ThreadMoved"): "active",
    ("active", "PersonErased"): "active",
    ("active", "ThreadPaused"): "paused",
    ("active", "ThreadFinished"): "finished",
    ("active", "ThreadFailed"): "failed",
    ("active", "ThreadCancelled"): "cancelled",
    # Paused: nothing starts; what can't be stopped ends, and people may go on talking.
    ("paused", "MessageReceived"): "paused",
    ("paused", "ProgressNoted"): "paused",
    ("paused", "ToolReturned"): "paused",
    ("paused", "ToolFailed"): "paused",
    ("paused", "QuestionAsked"): "paused",
    ("paused", "QuestionAnswered"): "paused",
    ("paused", "VoteCast"): "paused",
    ("paused", "ApprovalTakenBack"): "paused",
    ("paused", "QuestionReminded"): "paused",
    ("paused", "QuestionEscalated"): "paused",
    ("paused", "QuestionExpired"): "paused",
    ("paused", "QuestionWithdrawn"): "paused",
    ("paused", "AnswerRefused"): "paused",
    ("paused", "ThreadMoved"): "paused",
    ("paused", "PersonErased"): "paused",
    ("paused", "ThreadResumed"): "active",
    ("paused", "ThreadFinished"): "finished",
    ("paused", "ThreadCancelled"): "cancelled",
    # Finished: a new message takes it up again, with its whole history.
    ("finished", "MessageReceived"): "active",
    ("finished", "AnswerRefused"): "finished",
    ("finished", "ThreadMoved"): "finished",
    ("finished", "PersonErased"): "finished",
    # Failed: a retry takes it up again, and so does somebody who writes.
    ("failed", "MessageReceived"): "active",
    ("failed", "QuestionAsked"): "failed",
    ("failed", "QuestionAnswered"): "failed",
    ("failed", "VoteCast"): "failed",
    ("failed", "ApprovalTakenBack"): "failed",
    ("failed", "QuestionReminded"): "failed",
    ("failed", "QuestionEscalated"): "failed",
    ("failed", "QuestionExpired"): "failed",
    ("failed", "QuestionWithdrawn"): "failed",
    ("failed", "AnswerRefused"): "failed",
    ("failed", "ThreadMoved"): "failed",
    ("failed", "PersonErased"): "failed",
    ("failed", "ThreadResumed"): "active",
    ("failed", "ThreadFinished"): "finished",
    ("failed", "ThreadCancelled"): "cancelled",
    # Cancelled: for good; what still runs ends, then what was done is undone.
    ("cancelled", "ProgressNoted"): "cancelled",
    ("cancelled", "ToolReturned"): "cancelled",
    ("cancelled", "ToolFailed"): "cancelled",
    ("cancelled", "CompensationRan"): "cancelled",
    ("cancelled", "AnswerRefused"): "cancelled",
    ("cancelled", "PersonErased"): "cancelled",
}

CALL: dict[tuple[CallStatus, CallTrigger], CallStatus] = {
    ("chosen", "gate asked"): "gated",
    ("chosen", "started"): "running",
    ("chosen", "failed"): "settled",
    ("chosen", "cancelled"): "settled",
    ("gated", "gate asked"): "gated",
    ("gated", "approved"): "approved",
    ("gated", "denied"): "settled",
    ("gated", "expired"): "settled",
    ("gated", "withdrawn"): "settled",
    ("gated", "cancelled"): "settled",
    ("approved", "gate asked"): "gated",
    ("approved", "taken back"): "chosen",
    ("approved", "started"): "running",
    ("approved", "failed"): "settled",
    ("approved", "cancelled"): "settled",
    ("running", "started"): "running",
    ("running", "asked"): "waiting",
    ("running", "doubted"): "unsure",
    ("running", "returned"): "settled",
    ("running", "failed"): "settled",
    ("running", "cancelled"): "running",
    ("waiting", "asked"): "waiting",
    ("waiting", "one of several answered"): "waiting",
    ("waiting", "answered"): "settled",
    ("waiting", "answered, runs on"): "ready",
    ("waiting", "expired"): "settled",
    ("waiting", "withdrawn"): "settled",
    ("waiting", "cancelled"): "settled",
    ("ready", "gate asked"): "gated",
    ("ready", "started"): "running",
    ("ready", "failed"): "settled",
    ("ready", "cancelled"): "settled",
    ("unsure", "doubted"): "unsure",
    ("unsure", "happened"): "settled",
    ("unsure", "run again"): "ready",
    ("unsure", "skipped"): "settled",
    ("unsure", "expired"): "settled",
    ("unsure", "withdrawn"): "settled",
    ("unsure", "cancelled"): "settled",
}

QUESTION: dict[tuple[QuestionStatus, str], QuestionStatus] = {
    ("open", "QuestionAnswered"): "answered",
    ("open", "VoteCast"): "open",
    ("open", "QuestionReminded"): "open",
    ("open", "QuestionEscalated"): "open",
    ("open", "QuestionExpired"): "expired",
    ("open", "QuestionWithdrawn"): "withdrawn",
    ("open", "QuestionAsked"): "withdrawn",  # replaced by a new copy, as in a fork
    ("answered", "ApprovalTakenBack"): "withdrawn",  # before it ran; another one is asked
}

_State = TypeVar("_State", bound=str)
_Trigger = TypeVar("_Trigger", bound=str)


def move(
    table: dict[tuple[_State, _Trigger], _State], noun: str, state: _State, trigger: _Trigger
) -> _State:
    """Look up where a trigger leads; what the table doesn't have can't happen."""
    try:
        return table[state, trigger]
    except KeyError:
        raise ImpossibleEvent(f"{noun} that is {state} doesn't take: {trigger}") from None
