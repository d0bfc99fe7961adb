"""What goes through a store: rows, one write and what becomes of it, claims, pages, hints.

Plain frozen values; nothing here knows what an event means, or how anything is kept. Structs of
msgspec, because a run makes dozens of them and a frozen dataclass costs ten times as much to make;
none can be part of a cycle, so the garbage collector need not look at them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NewType, TypeAlias

from msgspec import Struct

from agent_core.json_values import JsonObject
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId

DeliveryId = NewType("DeliveryId", str)
KeyId = NewType("KeyId", str)

CachedStatus = Literal["running", "waiting", "paused", "finished", "failed", "cancelled"]
"""As the log alone gives it; `queued` is a thread that is due and that nobody has leased."""

ASIDE: tuple[CachedStatus, ...] = ("failed", "paused", "cancelled")
"""Seldom, and looked for among all that have finished: these are found by an index of their own.
Threads pass through the others on their way, where one more index would cost each of them."""

QuestionStatus = Literal["open", "answered", "expired", "withdrawn"]
DeliveryStatus = Literal["pending", "sent", "failed", "settled"]
Scope = Literal["launch", "answer", "control", "read", "admin"]


# --- a thread -------------------------------------------------------------------------------------


class ThreadRow(Struct, frozen=True, kw_only=True, gc=False):
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


class NewThread(Struct, frozen=True, kw_only=True, gc=False):
    """A thread that begins with this commit."""

    agent: str
    origin: str = ""
    requester: str = ""
    thread_key: str = ""


class Snapshot(Struct, frozen=True, gc=False):
    """What a thread's events up to `seq` add up to, so that a long log need not be read again."""

    seq: int
    body: bytes


class Loaded(Struct, frozen=True, gc=False):
    """A thread as it is now: its row, a snapshot if one is worth it, and the events after that."""

    row: ThreadRow
    snapshot: Snapshot | None
    events: list[Event]


# --- what goes with events ------------------------------------------------------------------------


USUAL_RANK = 1
"""Of most questions: only the others are in the index of ranks."""


class QuestionRow(Struct, frozen=True, kw_only=True, gc=False):
    """The index of questions: who is being asked what, across all threads."""

    id: QuestionId
    thread: ThreadId
    status: QuestionStatus
    asked_at: Millis
    expires_at: Millis | None
    body: JsonObject
    """The question and its outcome as the API shows them."""
    rank: int = USUAL_RANK
    """Its place in queues: the lower, the sooner."""
    asked: tuple[str, ...] = ()
    """Who is asked, in lower case; see `Wish.parties`."""


class NewDelivery(Struct, frozen=True, kw_only=True, gc=False):
    """One message to one address, to be sent by whoever claims it."""

    id: DeliveryId
    address: str
    body: JsonObject
    due_at: Millis
    question: QuestionId | None = None


class Delivery(Struct, frozen=True, kw_only=True, gc=False):
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
    """When it is to be sent; of one that failed, when that was."""
    lease_until: Millis | None
    epoch: int
    attempts: int
    receipt: JsonObject | None
    error: str


class DeliveryEnd(Struct, frozen=True, kw_only=True, gc=False):
    """What became of a try at sending."""

    delivery: Delivery
    status: DeliveryStatus
    due_at: Millis | None = None
    receipt: JsonObject | None = None
    error: str = ""
    place: str = ""
    """Where it can be answered: once sent, that is its thread's, if nobody has it."""
    is_untried: bool = False
    """Its lease is given back unused: that was no attempt."""


class FailedWish(Struct, frozen=True, kw_only=True, gc=False):
    """Which of the deliveries that have failed for good."""

    prefix: str
    """How their addresses begin."""
    address: str = ""
    """Only those to this very address."""
    thread: str = ""
    since: Millis | None = None
    """Only those that failed then or later."""
    limit: int = 1000


class InboxKey(Struct, frozen=True, kw_only=True, gc=False):
    """A message from outside, named by its source so that a second copy has no second effect."""

    source: str
    key: str
    digest: str = ""
    """Of the content: the same key with another content is a conflict, not a copy."""
    expires_at: Millis | None = None
    """From then on the key counts as new."""


class InboxRecord(Struct, frozen=True, gc=False):
    """What became of the first copy."""

    thread: ThreadId
    seq: int
    digest: str


# --- one write ------------------------------------------------------------------------------------


class Keep:
    """Leave a value as it is: `None` would be one."""


KEEP = Keep()


class Commit(Struct, frozen=True, kw_only=True, gc=False):
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
    places: Sequence[str] = ()
    """Addresses that become this thread's; what is said there belongs to it."""
    parties: Sequence[str] = ()
    """Who has a part in the thread from now on, in lower case; see `Wish.parties`."""
    now: Millis
    lease_ms: int | None = None
    """Also lease the thread to whoever commits, if nobody holds it; `Committed.epoch` says so.

    Not with `epoch`: who has the lease need not ask for it.
    """
    release: bool = False
    """With `epoch`: give the lease back in the same write.

    All up to the new last event counts as handled, so `seen` must be given, and `wake_at` to say
    when the thread is due again.
    """
    send_lease_ms: int | None = None
    """Also lease the deliveries to whoever commits; `Committed.deliveries` are those leased.

    Where an earlier one is still pending for the same thread and address, or one is not due yet,
    it is left to `claim_deliveries`.
    """


class Committed(Struct, frozen=True, gc=False):
    """It is durable; the thread's last event is `seq`."""

    seq: int
    epoch: int | None = None
    """The lease that `lease_ms` asked for, if the thread was free."""
    deliveries: tuple[Delivery, ...] = ()
    """What `send_lease_ms` has leased, in order."""


class Duplicate(Struct, frozen=True, gc=False):
    """The inbox had this key: nothing was written, and this became of the first copy."""

    first: InboxRecord


CommitResult: TypeAlias = Committed | Duplicate


class Claim(Struct, frozen=True, gc=False):
    """The right to advance a thread, until the lease ends."""

    thread: ThreadId
    epoch: int
    seq: int


class ApiKey(Struct, frozen=True, kw_only=True, gc=False):
    """A key, by its hash; the key itself is shown once and kept nowhere."""

    id: KeyId
    name: str
    hash: str
    scopes: tuple[Scope, ...]
    created_at: Millis
    revoked_at: Millis | None = None


class Page(Struct, frozen=True, gc=False):
    """A slice of a list, newest first, and where the next begins."""

    items: list[ThreadRow]
    next_cursor: str | None


class QuestionPage(Struct, frozen=True, gc=False):
    """A slice of the questions, oldest first, and where the next begins."""

    items: list[QuestionRow]
    next_cursor: str | None


class Wish(Struct, frozen=True, kw_only=True, gc=False):
    """What a list should hold."""

    status: str = ""
    """A cached status; or `queued`, if `now` is given."""
    agent: str = ""
    requester: str = ""
    """For threads: only those that this person asked for in a channel, so not over the API."""
    parties: Sequence[str] = ()
    """Everything that somebody is known as, in lower case.

    Only threads in which one of them has a part, or questions that one of them is asked. Of a
    question from before there was an index nobody knows whom it asks: it is given, too.
    """
    rank: int | None = None
    """For questions: only those of this rank."""
    now: Millis | None = None
    """With it, a thread that is due and free counts as `queued`, and as nothing else."""
    cursor: str = ""
    limit: int = 50


class Hint(Struct, frozen=True, gc=False, eq=False):
    """Something may be due: look again."""

    topic: str
    """A thread's id, `deliveries` or `halt`."""
    seq: int
    """The thread's last event, so that who wrote it can ignore the hint; 0 for other topics."""
    status: str = ""
    """How the thread then stood, where the hint could carry it."""
    is_due: bool = True
    """Whether there may be something to claim; else it is for those who watch the thread."""

    def __eq__(self, other: object) -> bool:
        """Compare what is hinted at, not what a hint may carry or not."""
        if not isinstance(other, Hint):
            return NotImplemented
        return (self.topic, self.seq) == (other.topic, other.seq)

    def __hash__(self) -> int:
        """Go by what is compared."""
        return hash((self.topic, self.seq))
