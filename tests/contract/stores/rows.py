"""What the tests write: small threads, questions and deliveries."""

from __future__ import annotations

from agent_core.json_values import JsonObject
from agent_core.thread.events import MessageReceived, Millis, ThreadId, ThreadLaunched
from agent_core.thread.questions import QuestionId
from storage.store import Store
from storage.values import (
    Claim,
    Commit,
    Committed,
    DeliveryId,
    InboxKey,
    NewDelivery,
    NewThread,
    QuestionRow,
    QuestionStatus,
)

NOW = Millis(1_800_000_000_000)
LEASE = 30_000
T1 = ThreadId("t1")
T2 = ThreadId("t2")


def later(milliseconds: int) -> Millis:
    """Give a time after NOW, or before it."""
    return Millis(NOW + milliseconds)


def said(text: str, at: Millis = NOW) -> MessageReceived:
    """Make an event."""
    return MessageReceived(at=at, text=text)


def launching(
    thread: str = "t1",
    *,
    agent: str = "support",
    requester: str = "otto",
    origin: str = "web:1",
    key: str = "",
    wake_at: Millis | None = None,
    now: Millis = NOW,
    inbox: InboxKey | None = None,
) -> Commit:
    """Begin a thread with one event."""
    name = ThreadId(thread)
    return Commit(
        thread=name,
        events=[ThreadLaunched(at=now, thread=name, agent=agent)],
        create=NewThread(agent=agent, thread_key=key, origin=origin, requester=requester),
        wake_at=wake_at,
        inbox=inbox,
        now=now,
    )


def saying(thread: str, *texts: str, now: Millis = NOW) -> Commit:
    """Append messages, on no condition and without a wake."""
    return Commit(thread=ThreadId(thread), events=[said(text, now) for text in texts], now=now)


def question(
    name: str = "q1",
    thread: str = "t1",
    *,
    status: QuestionStatus = "open",
    asked_at: Millis = NOW,
    body: JsonObject | None = None,
) -> QuestionRow:
    """Make a row of the index."""
    return QuestionRow(
        id=QuestionId(name),
        thread=ThreadId(thread),
        status=status,
        asked_at=asked_at,
        expires_at=None,
        body={"prompt": "May I?"} if body is None else body,
    )


def delivery(
    name: str = "d1", address: str = "slack:T1/C1", *, due_at: Millis = NOW
) -> NewDelivery:
    """Make a message to somebody."""
    return NewDelivery(id=DeliveryId(name), address=address, body={"text": name}, due_at=due_at)


async def committed(store: Store, commit: Commit) -> int:
    """Write it, and give the thread's last event."""
    result = await store.commit(commit)
    assert isinstance(result, Committed), result
    return result.seq


async def launched(store: Store, thread: str = "t1", *, wake_at: Millis | None = None) -> None:
    """Begin a thread."""
    await committed(store, launching(thread, wake_at=wake_at))


async def claimed(store: Store, now: Millis = NOW) -> Claim:
    """Claim the one thread that is due."""
    [claim] = await store.claim(now=now, lease_ms=LEASE, limit=10)
    return claim
