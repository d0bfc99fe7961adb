"""What goes through a store: rows, one write and what becomes of it, claims, pages, hints.

Plain frozen values; nothing here knows what an event means, or how anything is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NewType, TypeAlias

from agent_core.json_values import JsonObject
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId

DeliveryId = NewType("DeliveryId", str)
KeyId = NewType("KeyId", str)

CachedStatus = Literal["running", "waiting", "paused", "finished", "failed", "cancelled"]
"""As the log alone gives it; `queued` is a thread that is due and that nobody has leased."""

QuestionStatus = Literal["open", "answered", "expired", "withdrawn"]
DeliveryStatus = Literal["pending", "sent", "failed", "settled"]
Scope = Literal["launch", "answer", "control", "read", "admin"]


# --- a thread -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """What lists and queues know of a thread without reading its log."""

    id: ThreadId
    agent: str
    status: CachedStatus
    origin: str
    requester: str
    thread_key: str
    """Empty, or unique among its agent's threads: a later event of the same pipeline finds it."""
    seq: int
    handled_seq: int
    wake_at: Millis | None
    lease_until: Millis | None
    epoch: int
    summary: JsonObject
    """Result, error, usage, metadata and the like: for lists, never for decisions."""
    created_at: Millis
    updated_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class NewThread:
    """A thread that begins with this commit."""

    agent: str
    origin: str = ""
    requester: str = ""
    thread_key: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a thread's events up to `seq` add up to, so that a long log need not be read again."""

    seq: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Loaded:
    """A thread as it is now: its row, a snapshot if one is worth it, and the events after that."""

    row: ThreadRow
    snapshot: Snapshot | None
    events: list[Event]


# --- what goes with events ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """The index of questions: who is being asked what, across all threads."""

    id: QuestionId
    thread: ThreadId
    status: QuestionStatus
    asked_at: Millis
    expires_at: Millis | None
    body: JsonObject
    """The question and its outcome as the API shows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    """One message to one address, to be sent by whoever claims it."""

    id: DeliveryId
    address: str
    body: JsonObject
    due_at: Millis
    question: QuestionId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message on its way, or at its end."""

    id: DeliveryId
    thread: ThreadId
    seq: int
    """The last event of the commit that caused it: within a thread, the order of sending."""
    address: str
    body: JsonObject
    question: QuestionId | None
    status: DeliveryStatus
    due_at: Millis | None
    lease_until: Millis | None
    epoch: int
    attempts: int
    receipt: JsonObject | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxKey:
    """A message from outside, named by its source so that a second copy has no second effect."""

    source: str
    key: str
    digest: str = ""
    """Of the content: the same key with another content is a conflict, not a copy."""
    expires_at: Millis | None = None
    """From then on the key counts as new."""


@dataclass(frozen=True, slots=True)
class InboxRecord:
    """What became of the first copy."""

    thread: ThreadId
    seq: int
    digest: str


# --- one write ------------------------------------------------------------------------------------


class Keep:
    """Leave a value as it is: `None` would be one."""


KEEP = Keep()


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Everything that one write changes, all of it or nothing."""

    thread: ThreadId
    events: Sequence[Event] = ()
    create: NewThread | None = None
    """The thread begins here, so this implies `seen=0`."""
    seen: int | None = None
    """Only if this is still the last event (0 for a new thread); else `Overtaken`."""
    epoch: int | None = None
    """Only if the lease of this epoch is still held; else `Fenced`.

    A lease that ran out is held until somebody else claims the thread: until then no other
    writer can be harmed, and no two machines need the same clock.
    """
    status: CachedStatus | None = None
    summary: JsonObject | None = None
    wake_at: Millis | Keep | None = KEEP
    questions: Sequence[QuestionRow] = ()
    deliveries: Sequence[NewDelivery] = ()
    inbox: InboxKey | None = None
    now: Millis


@dataclass(frozen=True, slots=True)
class Committed:
    """It is durable; the thread's last event is `seq`."""

    seq: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The inbox had this key: nothing was written, and this became of the first copy."""

    first: InboxRecord


CommitResult: TypeAlias = Committed | Duplicate


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to advance a thread, until the lease ends."""

    thread: ThreadId
    epoch: int
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key, by its hash; the key itself is shown once and kept nowhere."""

    id: KeyId
    name: str
    hash: str
    scopes: tuple[Scope, ...]
    created_at: Millis
    revoked_at: Millis | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A slice of a list, newest first, and where the next begins."""

    items: list[ThreadRow]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """A slice of the questions, oldest first, and where the next begins."""

    items: list[QuestionRow]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a list should hold."""

    status: str = ""
    """A cached status; or `queued`, if `now` is given."""
    agent: str = ""
    now: Millis | None = None
    """With it, a thread that is due and free counts as `queued`, and as nothing else."""
    cursor: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Hint:
    """Something may be due: look again."""

    topic: str
    """A thread's id, `deliveries` or `halt`."""
    seq: int
    """The thread's last event, so that who wrote it can ignore the hint; 0 for other topics."""
    status: str = field(default="", compare=False)
    """How the thread then stood, where the hint could carry it."""
