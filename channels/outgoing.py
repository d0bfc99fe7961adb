"""What goes out to people, before a channel gives it a form of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.json_values import Json, JsonObject
from agent_core.thread.changes import Change

OutgoingKind = Literal[
    "question.asked",
    "question.reminded",
    "question.escalated",
    "question.voted",
    "question.settled",
    "thread.finished",
    "thread.failed",
    "thread.cancelled",
    "notice",
]
"""`notice` is in words of the gateway itself: to an operator, or where a conversation moves to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the answers that a choice offers."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What somebody said of a question that more than one person decides."""

    by: str
    """An actor's id or a person's name."""
    approved: bool
    comment: str = ""
    arguments: JsonObject | None = None
    """What they approved, where they changed something."""
    changes: Sequence[Change] = ()
    """The same, argument by argument; `one.words()` says it in a line."""
    at: int = 0
    """Milliseconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCard:
    """A question as people see it, as it is at the moment of sending."""

    id: str
    thread: str
    kind: Literal["text", "choice", "approval", "form", "event"]
    prompt: str
    context: str = ""
    options: Sequence[Choice] = ()
    schema: JsonObject | None = None
    tool: str = ""
    arguments: JsonObject | None = None
    audience: Sequence[str] = ()
    """Ids of actors, names and roles of people, or places; as in `Actor.id`."""
    urgency: Literal["low", "normal", "high"] = "normal"
    status: Literal["open", "answered", "expired", "withdrawn"] = "open"
    answer: Json = None
    answered_by: str = ""
    """An actor's id or a person's name."""
    comment: str = ""
    quorum: int = 1
    """How many different people must approve the very same thing."""
    not_requester: bool = False
    """Whoever began the thread can't approve."""
    votes: Sequence[Vote] = ()
    """Of a question that more than one person decides, in order."""
    changes: Sequence[Change] = ()
    """What the approval changed of the arguments; `one.words()` says it in a line."""
    expiry_denies: bool = False
    """When nobody answers in time, that counts as a no."""
    taken_back: bool = False
    """It was approved, and that was taken back before it ran; status is `withdrawn`."""
    asked_at: int = 0
    """Milliseconds since 1970."""
    settled_at: int | None = None
    expires_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One message to one address; `id` is the same for every try, so a channel can look first."""

    id: str
    thread: str
    address: str
    kind: OutgoingKind
    text: str = ""
    """The result, the error, or the reason; Markdown, as the agent wrote it."""
    question: QuestionCard | None = None
    asked: Sequence[str] = ()
    """Who is asked, as this channel knows them; it may tell who can't see it (`Sent`)."""
    attempt: int = 1
    """From the second on, the first may have got through: look before sending again."""
    tries: int = 1
    """Of a copy that is settled: how often it was sent. From the second on there may be others of
    it, which nobody has a receipt of: look for them."""
