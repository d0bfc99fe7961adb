"""A thread in the store: read it, and commit what was decided about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from agent_core.thread.events import Event, Millis, QuestionAsked, ThreadId
from agent_core.thread.fold import fold
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState
from gateway.consequences import Consequences, consequences, indexed, wake_at
from storage.store import Store
from storage.values import Commit, CommitResult, InboxKey, NewThread, Snapshot, ThreadRow

FOLD = 1
"""Raise it when `fold` makes another state of the same events: older snapshots no longer count."""


class _Kept(msgspec.Struct):
    """A snapshot: a state, and which fold made it."""

    fold: int
    state: ThreadState


_read_kept = msgspec.json.Decoder(_Kept).decode
_write_kept = msgspec.json.Encoder().encode

_WORTH_A_SNAPSHOT = 200
"""Events after the last snapshot. Reading costs 13 µs an event: this keeps it under 3 ms."""


@dataclass(frozen=True, slots=True)
class StoredThread:
    """A thread as it is now."""

    row: ThreadRow
    state: ThreadState
    snapshot_seq: int


async def read_thread(store: Store, thread: ThreadId) -> StoredThread | None:
    """Give a thread's row and what its log adds up to."""
    loaded = await store.load(thread)
    if loaded is None:
        return None
    snapshot = loaded.snapshot
    if snapshot is None:
        return StoredThread(loaded.row, fold(loaded.events), 0)
    base = _kept_state(snapshot)
    if base is None:
        whole = await store.load(thread, after=0)
        return None if whole is None else StoredThread(whole.row, fold(whole.events), 0)
    return StoredThread(loaded.row, fold(loaded.events, onto=base), snapshot.seq)


def _kept_state(snapshot: Snapshot) -> ThreadState | None:
    """Read a snapshot, unless other code wrote it: the log is what counts."""
    try:
        kept = _read_kept(snapshot.body)
    except msgspec.DecodeError:
        return None
    return kept.state if kept.fold == FOLD else None


async def read_on(store: Store, state: ThreadState) -> ThreadState:
    """Bring a state up to date with what others have appended."""
    loaded = await store.load(state.id, after=state.seq)
    return state if loaded is None or not loaded.events else fold(loaded.events, onto=state)


async def keep_snapshot(store: Store, state: ThreadState, kept_seq: int) -> None:
    """Keep a snapshot if the log has grown enough since the last one."""
    if state.seq - kept_seq >= _WORTH_A_SNAPSHOT:
        await store.save_snapshot(state.id, Snapshot(state.seq, _write_kept(_Kept(FOLD, state))))


async def commit_outside(
    store: Store,
    before: ThreadState,
    events: list[Event],
    *,
    now: Millis,
    inbox: InboxKey | None = None,
    create: NewThread | None = None,
) -> tuple[CommitResult, Commit]:
    """Commit what came from outside: it wakes whoever should look at the thread."""
    after = fold(events, onto=before)
    what = consequences(events, after, now)
    commit = _commit(before, events, after, what, now, inbox=inbox, create=create)
    return await store.commit(commit), commit


def row_after(commit: Commit, before: ThreadRow | None = None) -> ThreadRow:
    """Give the row as a commit has left it, without reading it again."""
    begun = before or _new_row(commit)
    return replace(
        begun,
        seq=begun.seq + len(commit.events),
        status=commit.status or begun.status,
        summary=begun.summary if commit.summary is None else commit.summary,
        updated_at=commit.now,
    )


def _new_row(commit: Commit) -> ThreadRow:
    new = commit.create or NewThread(agent="")
    return ThreadRow(
        id=commit.thread,
        agent=new.agent,
        status="running",
        origin=new.origin,
        requester=new.requester,
        thread_key=new.thread_key,
        seq=0,
        handled_seq=0,
        wake_at=commit.now,
        lease_until=None,
        epoch=0,
        summary={},
        created_at=commit.now,
        updated_at=commit.now,
    )


async def commit_fork(
    store: Store, events: list[Event], *, copied: int, now: Millis, create: NewThread
) -> None:
    """Commit a fork: what was copied is the original's business, only the rest is news."""
    after = fold(events)
    what = consequences(events[copied:], after, now)
    theirs = _asked_in(events[:copied])
    what = replace(
        what,
        questions=[row for row in what.questions if row.id not in theirs],
        deliveries=[one for one in what.deliveries if one.question not in theirs],
    )
    await store.commit(_commit(ThreadState(), events, after, what, now, create=create))


async def commit_import(
    store: Store, events: list[Event], *, now: Millis, create: NewThread
) -> None:
    """Commit a thread from elsewhere: its questions are ours now, but people have heard of them."""
    after = fold(events)
    theirs = _asked_in(events[: after.forked_at])  # of the thread that it was forked from
    questions = [row for row in indexed(events, after) if row.id not in theirs]
    what = replace(consequences((), after, now), questions=questions)
    await store.commit(_commit(ThreadState(), events, after, what, now, create=create))


def _asked_in(events: Sequence[Event]) -> set[QuestionId]:
    return {event.question.id for event in events if isinstance(event, QuestionAsked)}


def _commit(
    before: ThreadState,
    events: list[Event],
    after: ThreadState,
    what: Consequences,
    now: Millis,
    *,
    inbox: InboxKey | None = None,
    create: NewThread | None = None,
) -> Commit:
    return Commit(
        thread=after.id,
        events=events,
        create=create,
        seen=before.seq,
        status=what.status,
        summary=what.summary,
        wake_at=wake_at(after, now),
        questions=what.questions,
        deliveries=what.deliveries,
        inbox=inbox,
        now=now,
    )


async def commit_work(
    store: Store, before: ThreadState, events: list[Event], *, now: Millis, epoch: int
) -> ThreadState:
    """Commit what a worker did, as long as its lease is its own."""
    after = fold(events, onto=before)
    what = consequences(events, after, now)
    await store.commit(
        Commit(
            thread=after.id,
            events=events,
            seen=before.seq,
            epoch=epoch,
            status=what.status,
            summary=what.summary,
            questions=what.questions,
            deliveries=what.deliveries,
            now=now,
        )
    )
    return after
