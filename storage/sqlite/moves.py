"""The statement that moves a thread's row: only the columns that change, only the conditions set.

A column that is named is written, to its index as well, also when its value stays. So there is a
statement for each combination that is asked for, made once: SQLite then finds it by its text.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import TypeAlias

from storage.texts import Written
from storage.values import Commit, Keep

_STATUS, _SUMMARY, _WAKE, _CHAIN, _RELEASE, _LEASE, _SEEN, _EPOCH = (1 << bit for bit in range(8))

_Value: TypeAlias = str | int | bytes | None

_SETS = {
    _STATUS: "status = ?",
    _SUMMARY: "summary = ?",
    _WAKE: "wake_at = ?",
    _CHAIN: "chain = chained(chain, ?)",
    _RELEASE: "lease_until = NULL, handled_seq = seq + ?",
    _LEASE: "epoch = epoch + 1, lease_until = ?",
}
_CONDITIONS = {
    _SEEN: "seq = ?",
    _EPOCH: "epoch = ? AND lease_until IS NOT NULL",
    _LEASE: "(lease_until IS NULL OR lease_until <= ?)",
}


def move(connection: sqlite3.Connection, commit: Commit, texts: Written) -> int | None:
    """Write the row; gives the last event, or None if a condition does not hold."""
    flags, values = _changes(commit, texts)
    if commit.release:
        flags |= _RELEASE
        values.append(len(texts.events))
    flags |= _conditions(commit, values)
    done = connection.execute(_statement(flags), values)
    if commit.seen is not None:  # then we know what comes out, and asking would cost more
        return commit.seen + len(texts.events) if done.rowcount else None
    row = done.fetchone()
    return None if row is None else int(row[0])


def move_and_lease(
    connection: sqlite3.Connection, commit: Commit, texts: Written, lease_ms: int
) -> tuple[int, int] | None:
    """Write the row and lease it; gives the last event and the epoch, or None if it is not free."""
    flags, values = _changes(commit, texts)
    values.append(commit.now + lease_ms)
    flags |= _LEASE | _conditions(commit, values)
    values.append(commit.now)
    row: tuple[int, int] | None = connection.execute(_statement(flags), values).fetchone()
    return row


def _changes(commit: Commit, texts: Written) -> tuple[int, list[_Value]]:
    flags = 0
    values: list[_Value] = [len(texts.events), commit.now]
    if commit.status is not None:
        flags |= _STATUS
        values.append(commit.status)
    if texts.summary is not None:
        flags |= _SUMMARY
        values.append(texts.summary)
    if not isinstance(commit.wake_at, Keep):
        flags |= _WAKE
        values.append(commit.wake_at)
    if texts.growth:
        flags |= _CHAIN
        values.append(texts.growth)
    return flags, values


def _conditions(commit: Commit, values: list[_Value]) -> int:
    flags = 0
    values.append(commit.thread)
    if commit.seen is not None:
        flags |= _SEEN
        values.append(commit.seen)
    if commit.epoch is not None:
        flags |= _EPOCH
        values.append(commit.epoch)
    return flags


@cache
def _statement(flags: int) -> str:
    sets = "".join(f", {text}" for flag, text in _SETS.items() if flags & flag)
    where = "".join(f" AND {text}" for flag, text in _CONDITIONS.items() if flags & flag)
    returning = " RETURNING seq, epoch" if flags & _LEASE or not flags & _SEEN else ""
    return f"UPDATE threads SET seq = seq + ?, updated_at = ?{sets} WHERE id = ?{where}{returning}"
