"""The events: immutable facts in the past tense, the only state that there is.

A thread is a list of these. Its sequence numbers are the positions in that list, counted
from 1, so they are not stored in the events. Times are whole milliseconds since 1970 in UTC,
made by the shell; nothing in this package reads a clock. Fields with defaults are left out
when written, which keeps a checkpoint near the size of its messages (docs/adr/0002).
"""

from __future__ import annotations

from typing import Literal, NewType, TypeAlias

import msgspec

from agent_core.json_values import Json, JsonObject
from agent_core.thread.questions import CallKey, Question, QuestionId
from agent_core.thread.usage import NO_USAGE, Usage

SCHEMA_VERSION = 1

ThreadId = NewType("ThreadId", str)
Millis = NewType("Millis", int)

FailureReason = Literal[
    "exception",
    "timeout",
    "unknown_tool",
    "bad_arguments",
    "bad_result",
    "interrupted",
    "outcome_unknown",
    "tool_changed",
    "too_many_resumes",
]
LimitAction = Literal["ask", "finish", "fail"]


class _Event(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    gc=False,
    tag=True,
    tag_field="type",
):
    at: Millis


class ThreadLaunched(_Event, frozen=True):
    """Somebody, or something, started the thread."""

    thread: ThreadId
    agent: str
    requester: str = ""
    person: str = ""
    """Who the requester is, where somebody knows them by more than that identity."""
    audience: tuple[str, ...] = ()
    """Who answers questions that name nobody, if it is not the requester."""
    origin: str = ""
    watchers: tuple[str, ...] = ()
    """Addresses that hear all that people hear, such as a callback."""
    metadata: JsonObject = {}
    forked_from: ThreadId | None = None
    forked_at: int = 0


class Attachment(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    gc=False,
):
    """A file that came with a message: always named, and given as text where it is text."""

    name: str
    media_type: str = ""
    size: int = 0
    text: str = ""
    note: str = ""
    """Why there is no text, or not all of it."""


class MessageReceived(_Event, frozen=True):
    """A person or a program said something to the agent."""

    text: str
    sender: str = ""
    others: tuple[str, ...] = ()
    """Whom the sender has brought into the conversation, such as those in Cc."""
    attachments: tuple[Attachment, ...] = ()


class ChosenCall(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """A tool that the model chose, with its arguments: a choice, not yet a run."""

    tool: str
    arguments: JsonObject
    signature: str = ""
    """Fingerprint of the tool's parameters at that time; empty if there was no such tool."""
    malformed: str = ""
    """What the model wrote in place of a JSON object, if it did."""


class ModelReplied(_Event, frozen=True):
    """The model said something, chose tools, or both."""

    text: str = ""
    calls: tuple[ChosenCall, ...] = ()
    usage: Usage = NO_USAGE
    model: str = ""
    """Which model it was, if it was another than the time before."""
    seen: int = 0
    """The last event that the model had seen; 0 stands for the one just before this."""


class ToolStarted(_Event, frozen=True):
    """A tool is about to run: committed before it does."""

    call: CallKey
    key: str
    attempt: int = 1
    compensable: bool = False


class ProgressNoted(_Event, frozen=True):
    """A running tool told how far it is."""

    call: CallKey
    text: str


class ToolReturned(_Event, frozen=True):
    """A tool ran to its end."""

    call: CallKey
    result: Json = None


class ToolFailed(_Event, frozen=True):
    """A call ended without a result of its tool, for this reason."""

    call: CallKey
    reason: FailureReason
    error: str = ""


class QuestionAsked(_Event, frozen=True):
    """People were asked something; `replaces` names the copy that this one stands in for."""

    question: Question
    replaces: QuestionId | None = None


class QuestionAnswered(_Event, frozen=True):
    """The first valid answer came, or the vote that decided."""

    question: QuestionId
    value: Json
    by: str = ""
    person: str = ""
    """Who that is, where somebody knows them by more than that identity."""
    comment: str = ""
    how: str = ""
    """How they were known to be who they are, such as `slack` or `dmarc example.com`."""
    digest: str = ""
    """For an approval: what exactly was approved, the tool with its (edited) arguments."""


class VoteCast(_Event, frozen=True):
    """Somebody approved or denied, and more people are needed to decide."""

    question: QuestionId
    value: Json
    by: str
    person: str = ""
    comment: str = ""
    how: str = ""
    digest: str = ""


class ApprovalTakenBack(_Event, frozen=True):
    """What was approved had not begun to run, and must be approved anew."""

    question: QuestionId
    by: str = ""
    reason: str = ""


class QuestionReminded(_Event, frozen=True):
    """Nobody had answered for a while, and people were reminded."""

    question: QuestionId


class QuestionEscalated(_Event, frozen=True):
    """The question went to others as well."""

    question: QuestionId
    to: tuple[str, ...]


class QuestionExpired(_Event, frozen=True):
    """Nobody answered in time. That is not a denial."""

    question: QuestionId


class QuestionWithdrawn(_Event, frozen=True):
    """The question no longer matters, or was taken back."""

    question: QuestionId
    reason: str = ""
    by: str = ""


class AnswerRefused(_Event, frozen=True):
    """Somebody answered who was too late, not allowed to, or not understood."""

    question: QuestionId
    reason: str
    by: str = ""


class ThreadPaused(_Event, frozen=True):
    """A person said "wait"."""

    by: str = ""
    reason: str = ""


class ThreadResumed(_Event, frozen=True):
    """A person let a paused thread go on, or a failed one try again."""

    by: str = ""
    instruction: str = ""


class ThreadMoved(_Event, frozen=True):
    """The conversation goes on at another address: what comes is told there."""

    to: str
    by: str = ""


class ThreadCancelled(_Event, frozen=True):
    """Stopped for good; what was done is undone where the tools know how."""

    by: str = ""
    reason: str = ""


class CompensationRan(_Event, frozen=True):
    """One try at undoing a call; `settled` when there will be no further one."""

    call: CallKey
    attempt: int = 1
    error: str = ""
    settled: bool = True


class LimitReached(_Event, frozen=True):
    """A limit of the agent's tripped: which, and what the agent does then."""

    limit: str
    then: LimitAction


class ContextCompacted(_Event, frozen=True):
    """From here on the model sees a summary in place of all up to event `through`."""

    summary: str
    through: int
    usage: Usage = NO_USAGE


class ThreadFinished(_Event, frozen=True):
    """The agent is done; without a `result` of its own, its last words are the result."""

    result: str | None = None


class ThreadFailed(_Event, frozen=True):
    """The agent can't go on by itself; a retry goes on from here."""

    error: str


class ErasedRow(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    gc=False,
):
    """An event, or a delivery, whose text was replaced: by keyed digests, so that none gives away.

    `storage.seals` checks them. A fork's copy names rows of the original, and counts for nothing.
    """

    seq: int
    delivery: str = ""
    """The delivery's id; empty for an event."""
    link: str
    """What it was in the chain when it was written."""
    record: str
    """What an export of that time knows it by, hashed once more with the key."""
    now: str
    """What it is instead."""


class PersonErased(_Event, frozen=True):
    """Somebody's words and names were taken out of the log; its shape, and who was who, stay."""

    name: str
    """What stands in their place, the same everywhere."""
    rows: tuple[ErasedRow, ...] = ()
    by: str = ""
    reason: str = ""


Event: TypeAlias = (
    ThreadLaunched
    | MessageReceived
    | ModelReplied
    | ToolStarted
    | ProgressNoted
    | ToolReturned
    | ToolFailed
    | QuestionAsked
    | QuestionAnswered
    | VoteCast
    | ApprovalTakenBack
    | QuestionReminded
    | QuestionEscalated
    | QuestionExpired
    | QuestionWithdrawn
    | AnswerRefused
    | ThreadPaused
    | ThreadResumed
    | ThreadMoved
    | ThreadCancelled
    | CompensationRan
    | LimitReached
    | ContextCompacted
    | ThreadFinished
    | ThreadFailed
    | PersonErased
)
