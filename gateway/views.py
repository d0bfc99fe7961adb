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


class Launch(_View):
    """What it takes to launch a thread."""

    agent: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(min_length=1, max_length=1_000_000)]
    thread_key: Annotated[str, Field(max_length=500)] = ""
    callback_url: Annotated[str, Field(max_length=2000)] = ""
    metadata: dict[str, Any] = Field(default_factory=dict, json_schema_extra={"default": {}})
    """Made by a factory, because pydantic would copy a default deeply for each launch."""


class Message(_View):
    """Something more to say."""

    text: Annotated[str, Field(min_length=1, max_length=1_000_000)]


class Answer(_View):
    """An answer to one question."""

    value: Any
    comment: Annotated[str, Field(max_length=100_000)] = ""


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


class Fork(_View):
    """Where to cut."""

    at: Annotated[int, Field(ge=1)] | None = None
