"""What a thread's events add up to. Values only: `fold` makes them, nobody else changes them.

The state is itself plain data that msgspec can write, so a store may keep a snapshot of it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from agent_core.json_values import Json, JsonObject
from agent_core.thread.events import (
    ContextCompacted,
    MessageReceived,
    Millis,
    ModelReplied,
    QuestionAnswered,
    QuestionExpired,
    QuestionWithdrawn,
    ThreadId,
    ThreadResumed,
)
from agent_core.thread.questions import CallKey, Question, QuestionId
from agent_core.thread.transitions import CallStatus, Lifecycle, QuestionStatus
from agent_core.thread.usage import NO_USAGE, Usage

Outcome = Literal[
    "returned", "failed", "answered", "denied", "expired", "withdrawn", "cancelled", "confirmed"
]
Status = Literal["running", "waiting", "paused", "finished", "failed", "cancelled"]

LateNews: TypeAlias = QuestionAnswered | QuestionExpired | QuestionWithdrawn
"""How a question ended that the agent did not stand still for."""

Entry: TypeAlias = MessageReceived | ModelReplied | LateNews | ThreadResumed | ContextCompacted
"""The events that the model gets to see, in the order in which it should see them."""


class CallResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The one result of a call: how it came about, and what it says."""

    outcome: Outcome
    value: Json = None
    reason: str = ""
    by: str = ""
    comment: str = ""


class Call(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A tool that the model chose, and how far it has come."""

    key: CallKey
    tool: str
    arguments: JsonObject
    signature: str = ""
    malformed: str = ""
    status: CallStatus = "chosen"
    edited: bool = False
    approved_digest: str = ""
    approval_comment: str = ""
    idempotency_key: str = ""
    attempt: int = 0
    compensable: bool = False
    questions: tuple[QuestionId, ...] = ()
    """Those that the tool itself asked, in order: its memory when it runs again."""
    resumed_by: QuestionId | None = None
    handler: str = ""
    resumes: int = 0
    result: CallResult | None = None


class Vote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What somebody said of a question that more than one person decides."""

    at: Millis
    value: Json
    by: str
    person: str = ""
    comment: str = ""
    digest: str = ""


class QuestionState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A question, and what became of it."""

    question: Question
    status: QuestionStatus = "open"
    stands_for: QuestionId | None = None
    """The id that its asker knows it by, if this is a copy, as in a fork."""
    asked_at: Millis
    votes: tuple[Vote, ...] = ()
    """Of those who have decided so far, in order; a person's last one counts."""
    escalated_to: tuple[str, ...] = ()
    escalations: int = 0
    reminders: int = 0
    """Since it was asked, or last escalated."""
    timer_from: Millis
    """When the present wait began: at the asking, or at the last escalation."""
    nudged_at: Millis
    """When people last heard of it: asked, escalated or reminded."""
    settled_at: Millis | None = None
    settled_by: str = ""
    taken_back: bool = False
    """It was approved, and that was taken back before anything ran."""
    value: Json = None
    comment: str = ""


class Meter(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a run has used since a person last set it going: what limits are held against."""

    steps: int = 0
    usage: Usage = Usage()
    active_ms: int = 0
    same_calls: int = 0
    """How many times in a row the model has now chosen the very same call."""


class Compensation(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What became of undoing a call."""

    call: CallKey
    attempts: int = 0
    error: str = ""
    settled: bool = False


class ThreadState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """All that is known of a thread after its events so far."""

    id: ThreadId = ThreadId("")
    agent: str = ""
    requester: str = ""
    requester_person: str = ""
    """Who the requester is, where somebody knew them by more than that identity."""
    audience: tuple[str, ...] = ()
    origin: str = ""
    began_at: str = ""
    """Where it was launched, if it has moved since."""
    watchers: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    """Everybody who has begun it, said something in it, answered, or was brought in, in order."""
    title: str = ""
    """How the first message begins: what lists call the thread."""
    metadata: JsonObject = {}
    forked_at: int = 0
    lifecycle: Lifecycle = "new"
    seq: int = 0
    created_at: Millis = Millis(0)
    updated_at: Millis = Millis(0)
    entries: list[tuple[int, Entry]] = []
    unseen: bool = False
    """Something has come that the model has not seen."""
    calls: dict[CallKey, Call] = {}
    open_calls: dict[CallKey, None] = {}
    questions: dict[QuestionId, QuestionState] = {}
    open_questions: dict[QuestionId, None] = {}
    effects: list[CallKey] = []
    """Calls that can be undone and took effect, or may have, in order."""
    compensations: dict[CallKey, Compensation] = {}
    usage: Usage = Usage()
    steps: int = 0
    run_usage: Usage = Usage()
    active_ms: int = 0
    same_calls: int = 0
    last_input_tokens: int = 0
    model: str = ""
    replied_seq: int = 0
    """The model's last reply."""
    last_call: str = ""
    failures_in_a_row: int = 0
    stopping: str = ""
    """A limit tripped and the run is to end with what there is; this names it."""
    stopped_at: Millis = Millis(0)
    """When it was paused or cancelled."""
    paused_by: str = ""
    pause_reason: str = ""
    cancelled_by: str = ""
    cancel_reason: str = ""
    result: str | None = None
    error: str = ""

    @property
    def meter(self) -> Meter:
        """What the present run has used."""
        return Meter(self.steps, self.run_usage, self.active_ms, self.same_calls)

    def reset_meter(self) -> None:
        """Count from here: a person has set the run going."""
        self.steps = self.active_ms = self.same_calls = 0
        self.run_usage = NO_USAGE

    def add_usage(self, usage: Usage) -> None:
        """Count a model call, in all and for the run."""
        self.usage += usage
        self.run_usage += usage

    def last_words(self) -> str:
        """Give the text of the model's last reply."""
        for _, entry in reversed(self.entries):
            if isinstance(entry, ModelReplied):
                return entry.text
        return ""

    def final_result(self) -> str:
        """Give the result of a finished thread: its own, or the last words."""
        return self.last_words() if self.result is None else self.result

    def copy(self) -> ThreadState:
        """Copy the containers; what they hold is immutable."""
        return msgspec.structs.replace(
            self,
            entries=self.entries.copy(),
            calls=self.calls.copy(),
            open_calls=self.open_calls.copy(),
            questions=self.questions.copy(),
            open_questions=self.open_questions.copy(),
            effects=self.effects.copy(),
            compensations=self.compensations.copy(),
        )

    def waiting_questions(self) -> tuple[QuestionState, ...]:
        """The questions that people can answer now, oldest first."""
        return tuple(self.questions[key] for key in self.open_questions)
