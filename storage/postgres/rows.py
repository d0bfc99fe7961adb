"""Rows of the tables as the values that the protocol speaks of."""

from __future__ import annotations

from agent_core.thread.events import ThreadId
from storage.postgres.driver import Row
from storage.texts import read_asked, read_events, read_object
from storage.values import (
    ApiKey,
    Claim,
    Delivery,
    InboxRecord,
    Loaded,
    QuestionRow,
    Snapshot,
    ThreadRow,
)


def claim(row: Row) -> Claim:
    """Read a lease."""
    return Claim(row["id"], row["epoch"], row["seq"])


def thread(row: Row) -> ThreadRow:
    """Read a thread's row."""
    return ThreadRow(
        id=row["id"],
        agent=row["agent"],
        status=row["status"],
        origin=row["origin"],
        requester=row["requester"],
        thread_key=row["thread_key"],
        seq=row["seq"],
        handled_seq=row["handled_seq"],
        wake_at=row["wake_at"],
        lease_until=row["lease_until"],
        epoch=row["epoch"],
        summary=read_object(row["summary"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def loaded(row: Row) -> Loaded:
    """Read a thread with its snapshot and the events after it."""
    seq = row["snapshot_seq"]
    snapshot = None if seq is None else Snapshot(seq, row["snapshot_body"])
    return Loaded(thread(row), snapshot, read_events(row["log"] or "", ThreadId(row["id"])))


def question(row: Row) -> QuestionRow:
    """Read a row of the index of questions."""
    return QuestionRow(
        id=row["id"],
        thread=row["thread"],
        status=row["status"],
        asked_at=row["asked_at"],
        expires_at=row["expires_at"],
        body=read_object(row["body"]),
        rank=row["rank"],
        asked=read_asked(row["asked"]),
    )


def delivery(row: Row) -> Delivery:
    """Read a row of the outbox."""
    return Delivery(
        id=row["id"],
        thread=row["thread"],
        seq=row["seq"],
        address=row["address"],
        body=read_object(row["body"]),
        question=row["question"],
        status=row["status"],
        due_at=row["due_at"],
        lease_until=row["lease_until"],
        epoch=row["epoch"],
        attempts=row["attempts"],
        receipt=None if row["receipt"] is None else read_object(row["receipt"]),
        error=row["error"],
    )


def inbox(row: Row) -> InboxRecord:
    """Read what became of a message."""
    return InboxRecord(row["thread"], row["seq"], row["digest"])


def key(row: Row) -> ApiKey:
    """Read an API key."""
    return ApiKey(
        id=row["id"],
        name=row["name"],
        hash=row["hash"],
        scopes=tuple(row["scopes"].split()),
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
    )
