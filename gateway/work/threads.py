"""A thread in the store: read it, and commit what was decided about it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import structs

from agent_core.thread.events import Event, Millis, QuestionAsked, ThreadId
from agent_core.thread.fold import fold, fold_into
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState
from gateway.people.parties import parties
from gateway.people.routing import ORIGIN_ONLY, Routing
from gateway.shortcuts.nearby import Nearby
from gateway.shortcuts.states import Known
from gateway.work.consequences import Consequences, consequences, indexed
from storage.store import Store
from storage.values import (
    KEEP,
    Claim,
    Commit,
    CommitResult,
    Committed,
    InboxKey,
    NewThread,
    Snapshot,
    ThreadRow,
)

FOLD = 3
"""Raise it when `fold` makes another state of the same events: older snapshots no longer count."""


class _Kept(msgspec.Struct):
    """A snapshot: a state, and which fold made it."""

    fold: int
    state: ThreadState


_read_kept = msgspec.json.Decoder(_Kept).decode
_write_kept = msgspec.json.Encoder().encode

_WORTH_A_SNAPSHOT = 200
"""Events after the last snapshot. Reading costs 13 µs an event: this keeps it under 3 ms."""


async def read_thread(store: Store, thread: ThreadId) -> Known | None:
    """Give a thread's row and what its log adds up to."""
    loaded = await store.load(thread)
    if loaded is None:
        return None
    snapshot = loaded.snapshot
    if snapshot is None:
        return Known(fold(loaded.events), 0, loaded.row)
    base = _kept_state(snapshot)
    if base is None:
        whole = await store.load(thread, after=0)
        return None if whole is None else Known(fold(whole.events), 0, whole.row)
    return Known(fold_into(base, loaded.events), snapshot.seq, loaded.row)


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


async def keep_snapshot(store: Store, state: ThreadState, kept_seq: int) -> bool:
    """Keep a snapshot if the log has grown enough since the last one; tell whether it had."""
    if state.seq - kept_seq < _WORTH_A_SNAPSHOT:
        return False
    await store.save_snapshot(state.id, _snapshot(state))
    return True


def snapshot_of(state: ThreadState) -> Snapshot | None:
    """Give a snapshot of a thread, if its log is so long that it may have one."""
    return None if state.seq < _WORTH_A_SNAPSHOT else _snapshot(state)


def _snapshot(state: ThreadState) -> Snapshot:
    return Snapshot(state.seq, _write_kept(_Kept(FOLD, state)))


async def commit_outside(
    store: Store,
    before: ThreadState,
    events: list[Event],
    *,
    now: Millis,
    inbox: InboxKey | None = None,
    create: NewThread | None = None,
    places: Sequence[str] = (),
    nearby: Nearby | None = None,
    known: Known | None = None,
    routing: Routing = ORIGIN_ONLY,
) -> tuple[CommitResult, Commit]:
    """Commit what came from outside: it wakes whoever should look at the thread.

    If that is the engine of this process, the thread is leased to it and handed over at once.
    """
    nearby = nearby or Nearby()
    after = fold(events, onto=before)
    what = consequences(events, after, now, routing)
    is_for_us = what.wake_at == now and not nearby.is_at(after.id)  # who is at it hears of it
    engine = nearby.engine if is_for_us else None
    lease_ms = None if engine is None else engine.reserve()
    try:
        commit = _commit(
            before,
            events,
            after,
            what,
            now,
            inbox=inbox,
            create=create,
            places=places,
            lease_ms=lease_ms,
            send_lease_ms=nearby.send_lease_ms() if what.deliveries else None,
        )
        result = await store.commit(commit)
    finally:
        if engine is not None and lease_ms is not None:
            engine.unreserve()
    if isinstance(result, Committed):
        nearby.pass_on(result.deliveries)
        now_known = Known(after) if known is None else known.moved_to(after)
        if engine is not None and result.epoch is not None:
            nearby.states.forget(after.id)  # the engine's from here on, until it comes to rest
            engine.take(Claim(after.id, result.epoch, result.seq), now_known)
        else:
            nearby.states.keep(now_known)
    return result, commit


def row_after(commit: Commit, before: ThreadRow | None = None) -> ThreadRow:
    """Give the row as a commit has left it, without reading it again; but for the lease."""
    if before is None:
        return _new_row(commit)
    return structs.replace(
        before,
        seq=before.seq if commit.seen is None else commit.seen + len(commit.events),
        status=commit.status or before.status,
        summary=before.summary if commit.summary is None else commit.summary,
        updated_at=commit.now,
    )


def _new_row(commit: Commit) -> ThreadRow:
    new = commit.create or NewThread(agent="")
    return ThreadRow(
        id=commit.thread,
        agent=new.agent,
        status=commit.status or "running",
        origin=new.origin,
        requester=new.requester,
        thread_key=new.thread_key,
        seq=len(commit.events),
        handled_seq=0,
        wake_at=commit.now,
        lease_until=None if commit.lease_ms is None else Millis(commit.now + commit.lease_ms),
        epoch=0,
        summary=commit.summary or {},
        created_at=commit.now,
        updated_at=commit.now,
    )


def row_of(state: ThreadState) -> ThreadRow:
    """Write a row of a thread that was launched here, with what never changes in it."""
    return ThreadRow(
        id=state.id,
        agent=state.agent,
        status="running",
        origin=state.origin,
        requester=state.requester,
        thread_key="",
        seq=state.seq,
        handled_seq=0,
        wake_at=None,
        lease_until=None,
        epoch=0,
        summary={},
        created_at=state.created_at,
        updated_at=state.updated_at,
    )


async def commit_fork(
    store: Store,
    events: list[Event],
    *,
    copied: int,
    now: Millis,
    create: NewThread,
    routing: Routing = ORIGIN_ONLY,
) -> None:
    """Commit a fork: what was copied is the original's business, only the rest is news."""
    after = fold(events)
    what = consequences(events[copied:], after, now, routing)
    theirs = _asked_in(events[:copied])
    what = structs.replace(
        what,
        questions=[row for row in what.questions if row.id not in theirs],
        deliveries=[one for one in what.deliveries if one.question not in theirs],
        parties=parties(events, after, routing.people),
    )
    await store.commit(_commit(ThreadState(), events, after, what, now, create=create))


async def commit_import(
    store: Store,
    events: list[Event],
    *,
    now: Millis,
    create: NewThread,
    routing: Routing = ORIGIN_ONLY,
) -> None:
    """Commit a thread from elsewhere: its questions are ours now, but people have heard of them."""
    after = fold(events)
    theirs = _asked_in(events[: after.forked_at])  # of the thread that it was forked from
    questions = [row for row in indexed(events, after) if row.id not in theirs]
    what = structs.replace(
        consequences((), after, now),
        questions=questions,
        parties=parties(events, after, routing.people),
    )
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
    places: Sequence[str] = (),
    lease_ms: int | None = None,
    send_lease_ms: int | None = None,
) -> Commit:
    return Commit(
        thread=after.id,
        events=events,
        create=create,
        seen=before.seq,
        status=what.status,
        summary=what.summary,
        wake_at=what.wake_at,
        questions=what.questions,
        parties=what.parties,
        deliveries=what.deliveries,
        inbox=inbox,
        places=places,
        now=now,
        lease_ms=lease_ms,
        send_lease_ms=send_lease_ms,
    )


def work_commit(
    events: Sequence[Event],
    after: ThreadState,
    *,
    now: Millis,
    epoch: int,
    may_release: bool = False,
    send_lease_ms: int | None = None,
    routing: Routing = ORIGIN_ONLY,
) -> Commit:
    """Write what a worker did, the last events of `after`; it counts while its lease is its own.

    With `may_release` the lease is given back in the same commit, if nothing is left to do.
    """
    what = consequences(events, after, now, routing)
    release = may_release and what.rests and not _is_running(after)
    return Commit(
        thread=after.id,
        events=events,
        seen=after.seq - len(events),
        epoch=epoch,
        status=what.status,
        summary=what.summary,
        wake_at=what.wake_at if release else KEEP,
        questions=what.questions,
        parties=what.parties,
        deliveries=what.deliveries,
        now=now,
        release=release,
        send_lease_ms=send_lease_ms if what.deliveries else None,
    )


def _is_running(state: ThreadState) -> bool:
    """Tell whether a tool runs, as it may in a thread that was paused meanwhile."""
    return any(state.calls[key].status == "running" for key in state.open_calls)
