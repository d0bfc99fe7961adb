"""How a lane's jobs are done: writes together in one transaction, reads each by itself.

A batch costs one fsync. A job that fails has seldom changed anything; if it has, the batch is done
anew with a savepoint for each job, so that it takes only its own changes back. When SQLite gives
the whole transaction up (a full disk, a failing one), each job is done alone: those that still fit
succeed, and nobody pays for another's size.

Leases need no fsync of their own. A process that is killed leaves them with the system, which
writes them; a power cut that loses them ends whoever held them, too; and the next fsync takes along
all that was written before it, so no event is ever on the disk without the claim that led to it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from storage.sqlite.failures import translated
from storage.sqlite.lanes import Job, Outcome, Perform
from storage.sqlite.moving import refuse_if_moved


class Fleeting:
    """A job whose loss in a power cut harms nobody: alone it costs no fsync."""

    __slots__ = ("_job",)

    def __init__(self, job: Job) -> None:
        """Wrap the job."""
        self._job = job

    def __call__(self, connection: sqlite3.Connection) -> Outcome:
        """Do it."""
        return self._job(connection)


class _HalfDone(Exception):
    """A job has failed after it had changed something."""


class _TransactionLost(Exception):
    """SQLite has rolled everything back by itself."""


def writing(path: Path, *, shared: bool = False) -> Perform:
    """Write batches to the database at `path`, with an fsync for each that has to last.

    Whoever shares the file has no lock on it: it may have moved since it was opened.
    """
    synchronous = ""

    def write(connection: sqlite3.Connection, jobs: Sequence[Job]) -> list[Outcome]:
        nonlocal synchronous
        wanted = "NORMAL" if all(isinstance(job, Fleeting) for job in jobs) else "FULL"
        if wanted != synchronous:
            connection.execute(f"PRAGMA synchronous={wanted}")
            synchronous = wanted
        if shared:
            jobs = [_unless_moved(job, path) for job in jobs]
        return [_named(outcome, path) for outcome in _write(connection, jobs)]

    return write


def _unless_moved(job: Job, path: Path) -> Job:
    """Look first, within the same transaction: what is written to a file that was left is lost."""

    def checked(connection: sqlite3.Connection) -> Outcome:
        refuse_if_moved(connection, path)
        return job(connection)

    return checked


def reading(path: Path) -> Perform:
    """Read from the database at `path`."""

    def read(connection: sqlite3.Connection, jobs: Sequence[Job]) -> list[Outcome]:
        return [_named(_read(connection, job), path) for job in jobs]

    return read


def _named(outcome: Outcome, path: Path) -> Outcome:
    return translated(outcome, path) if isinstance(outcome, sqlite3.Error) else outcome


def _read(connection: sqlite3.Connection, job: Job) -> Outcome:
    try:
        return job(connection)
    except Exception as exc:  # noqa: BLE001 (it is raised where the job came from)
        return exc


def _write(connection: sqlite3.Connection, jobs: Sequence[Job]) -> Sequence[Outcome]:
    if len(jobs) == 1:
        return [_alone(connection, jobs[0])]
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as exc:  # locked: to try each job alone would wait as often
        return [exc] * len(jobs)
    try:
        try:
            outcomes = [_straight(connection, job) for job in jobs]
        except _HalfDone:
            connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            outcomes = [_in_savepoint(connection, job) for job in jobs]
        connection.execute("COMMIT")
    except (sqlite3.Error, _TransactionLost):
        _roll_back(connection)
        return [_alone(connection, job) for job in jobs]
    return outcomes


def _straight(connection: sqlite3.Connection, job: Job) -> Outcome:
    before = connection.total_changes
    try:
        return job(connection)
    except Exception as exc:
        if not connection.in_transaction:
            raise _TransactionLost from exc
        if connection.total_changes != before:
            raise _HalfDone from exc
        return exc


def _in_savepoint(connection: sqlite3.Connection, job: Job) -> Outcome:
    connection.execute("SAVEPOINT job")
    try:
        result = job(connection)
    except Exception as exc:
        if not connection.in_transaction:
            raise _TransactionLost from exc
        connection.execute("ROLLBACK TO job")
        result = exc
    connection.execute("RELEASE job")
    return result


def _alone(connection: sqlite3.Connection, job: Job) -> Outcome:
    try:
        connection.execute("BEGIN IMMEDIATE")
        result = job(connection)
        connection.execute("COMMIT")
    except Exception as exc:  # noqa: BLE001 (it is raised where the job came from)
        _roll_back(connection)
        return exc
    return result


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        with suppress(sqlite3.Error):  # the first error is the one to tell
            connection.execute("ROLLBACK")
