"""What the outside sees of threads, questions and events: the public shapes of the HTTP API.

pydantic, because `/openapi.json` is made from these. They are views: built from rows and logs,
never stored, and nothing inside decides by them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ThreadStatus = Literal["queued", "running", "waiting", "paused", "finished", "failed", "cancelled"]
QuestionStatus = Literal["open", "answered", "expired", "withdrawn"]
Kind = Literal["text", "choice", "approval", "form", "event"]


CallbackUrl = Annotated[str, Field(max_length=1800, pattern=r"^(https?://[!-~]+)?$")]
"""As far as a pattern can tell; `channels.callback.addresses` reads it."""


class _View(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class UsageView(_View):
    """What a thread has cost so far."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


class OptionView(_View):
    """One answer to choose from."""

    name: str
    description: str = ""


class ChangeView(_View):
    """An argument that somebody changed before they approved; nested ones as `to.city`."""

    name: str
    before: Any = None
    after: Any = None
    was_there: bool = True
    is_there: bool = True


class VoteView(_View):
    """What somebody said of a question that more than one person decides."""

    by: str
    approved: bool
    comment: str | None = None
    arguments: dict[str, Any] | None = None
    """What they approved, where they changed something: approve the same to agree with them."""
    changes: list[ChangeView] = []
    at: datetime


class QuestionView(_View):
    """A question to people, and what became of it."""

    id: str
    thread_id: str
    kind: Kind
    prompt: str
    context: str = ""
    options: list[OptionView] = []
    form: Annotated[dict[str, Any] | None, Field(alias="schema")] = None
    tool: str | None = None
    arguments: dict[str, Any] | None = None
    audience: list[str] = []
    urgency: Literal["low", "normal", "high"] = "normal"
    status: QuestionStatus = "open"
    answer: Any = None
    answered_by: str | None = None
    comment: str | None = None
    quorum: int = 1
    """How many different people must approve the very same thing."""
    not_requester: bool = False
    """Whoever began the thread can't approve."""
    veto: bool = True
    """One denial is enough."""
    votes: list[VoteView] = []
    """Of a question that more than one person decides, in order."""
    changes: list[ChangeView] = []
    """What the approval changed of the arguments."""
    on_expiry: Literal["deny", "escalate", "tell_agent", "wait"] = "tell_agent"
    """What it means, and what happens, when nobody answers in time."""
    taken_back: bool = False
    """It was approved, and that was taken back before it ran."""
    asked_at: datetime
    settled_at: datetime | None = None
    expires_at: datetime | None = None

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)


class ThreadView(_View):
    """A thread as lists and callers see it."""

    id: str
    agent: str
    status: ThreadStatus
    origin: str = ""
    requester: str = ""
    questions: list[QuestionView] = []
    """The open ones."""
    result: str | None = None
    error: str | None = None
    usage: UsageView = UsageView()
    metadata: dict[str, Any] = {}
    created_at: datetime
    updated_at: datetime
    title: Annotated[str, Field(exclude=True)] = ""
    """How the first message begins: for the inbox's lists."""
    thread_key: Annotated[str, Field(exclude=True)] = ""
    denied: Annotated[bool, Field(exclude=True)] = False
    """People did not give leave: told in a header, as part of the outcome."""


class EventView(BaseModel):
    """An event: its place, its type, its time, and what belongs to the type."""

    model_config = ConfigDict(frozen=True, extra="allow")

    seq: int
    type: str
    at: datetime


class ThreadList(_View):
    """A page of threads, newest first."""

    items: list[ThreadView]
    next_cursor: str | None = None


class QuestionList(_View):
    """A page of questions, oldest first."""

    items: list[QuestionView]
    next_cursor: str | None = None


class EventList(_View):
    """A piece of a log."""

    items: list[EventView]
    next_cursor: str | None = None


class DeliveryView(_View):
    """What was said of an event to one address, or will be."""

    id: str
    event: int
    """The event that it tells of."""
    kind: str
    address: str
    question: str | None = None
    status: Literal["pending", "sent", "failed", "settled"]
    """`settled`: it was a question, and shows how that ended."""
    due_at: datetime | None = None
    attempts: int = 0
    error: str | None = None


class DeliveryList(_View):
    """Everything that was said for a thread, in order."""

    items: list[DeliveryView]
    next_cursor: None = None


class Launch(_View):
    """What it takes to launch a thread."""

    agent: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(min_length=1, max_length=1_000_000)]
    thread_key: Annotated[str, Field(max_length=500)] = ""
    callback_url: CallbackUrl = ""
    metadata: dict[str, Any] = Field(default_factory=dict, json_schema_extra={"default": {}})
    """Made by a factory, because pydantic would copy a default deeply for each launch."""


class Message(_View):
    """Something more to say."""

    text: Annotated[str, Field(min_length=1, max_length=1_000_000)]


class Answer(_View):
    """An answer to one question."""

    value: Any
    comment: Annotated[str, Field(max_length=100_000)] = ""


class Happening(_View):
    """Something that happened, for whoever waits for its key."""

    key: Annotated[str, Field(min_length=1, max_length=300, pattern=r"\S")]
    """White space in it counts as one space, and none at its ends."""
    value: dict[str, Any] = Field(default_factory=dict, json_schema_extra={"default": {}})


class HappeningView(_View):
    """What became of it: a thread has it, or it is kept for one."""

    effect: Literal["resumed", "kept", "late"]
    """`late`: nobody waits for it any more; it is kept all the same."""
    thread_id: str | None = None
    question_id: str | None = None
    """Of the thread that was resumed; for `late`, the last that waited."""
    detail: str = ""


class Resume(_View):
    """Go on, perhaps with an instruction."""

    instruction: Annotated[str, Field(max_length=100_000)] = ""


class Reason(_View):
    """Why."""

    reason: Annotated[str, Field(max_length=10_000)] = ""


class Halt(_View):
    """Why nothing may run."""

    reason: Annotated[str, Field(min_length=1, max_length=10_000)]


class HaltView(_View):
    """Whether the kill switch is pulled."""

    halted: bool
    reason: str = ""


class PurgedView(_View):
    """A thread that was deleted."""

    id: str
    purged: Literal[True] = True


class Move(_View):
    """By which channel a conversation goes on."""

    to: Literal["email", "slack"]


class Fork(_View):
    """Where to cut."""

    at: Annotated[int, Field(ge=1)] | None = None
