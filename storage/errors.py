"""Every error that a store raises, in one tree, split by who must act.

    ParleyError
    └── StoreError                  a store can't do it; nothing was written, unless it says so
        ├── UnknownThread           the caller: no thread of that id
        ├── ThreadKeyTaken          the caller: another thread of that agent has the key
        ├── PlaceTaken              the caller: another thread has that place
        ├── IdTaken                 the caller: that question, delivery or API key is there already
        ├── NameTooLong             the caller: an index takes no id, key or address of that length
        ├── BadCursor               the caller: this did not come from a list
        ├── Fenced                  the worker: its lease is gone, somebody else may go on
        ├── StoreBusy               try again, after `retry_after` seconds
        ├── StoreUnreachable        try again: no connection, or the store is closed
        ├── StoreFull               the operator: no room left on the disk, or within the quota
        ├── StoreReadOnly           the operator: this process may not write there
        ├── StoreInUse              the operator: another server has this file
        ├── BadStoreUrl             the operator: PARLEY_DATABASE_URL names no store
        │   └── PooledByTransaction the operator: the pool before PostgreSQL must be by session
        ├── StoreMoved              the operator: the installation is in another database now
        ├── HalfCopied              the operator: `parley db copy` into this database must be ended
        ├── SchemaTooOld            the operator: run `parley db upgrade`
        ├── SchemaTooNew            the operator: newer code has been here; run that
        └── Unreadable              the operator: not a database, damaged, or not ours

`Overtaken` is not here: it is a signal of the loop (agent_core.loop.journal). A value that is not
JSON is refused with `NotJson` before anything is written. Exceptions of a database's driver are
translated where the driver is called, and stay as the cause.
"""

from __future__ import annotations

from agent_core.errors import ParleyError


class StoreError(ParleyError):
    """A store can't do what was asked; nothing was written, unless it says so."""


class UnknownThread(StoreError):
    """There is no thread of that id, so nothing can be appended to it."""


class ThreadKeyTaken(StoreError):
    """Another thread of the same agent has that key: the caller may want to find and resume it."""


class PlaceTaken(StoreError):
    """Another thread has that place: the caller may want to find it and go on there."""


class IdTaken(StoreError):
    """A question of that id was asked elsewhere; or that delivery, or API key, is there already."""


class NameTooLong(StoreError):
    """An id, key or address is longer than an index of the database takes."""


class BadCursor(StoreError):
    """The cursor did not come from a list."""


class Fenced(StoreError):
    """The lease is gone; whoever has the thread now decides."""


class StoreBusy(StoreError):
    """Too much is going on just now: the same request may pass later."""

    def __init__(self, message: str, *, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StoreUnreachable(StoreError):
    """The database can't be reached, or the store was closed."""


class StoreFull(StoreError):
    """There is no room left; what was there before is intact."""


class StoreReadOnly(StoreError):
    """We may not write to the database or to its folder."""


class StoreInUse(StoreError):
    """Another server works on the same file: one is the limit on SQLite."""


class BadStoreUrl(StoreError):
    """The URL names no store that we have."""


class StoreMoved(StoreError):
    """What was here is in another database now; nothing may go on here."""


class HalfCopied(StoreError):
    """The database is being filled from another one, and not whole yet."""


class PooledByTransaction(BadStoreUrl):
    """The server is behind a pool that gives our sessions to others between two transactions."""

    def __init__(self, detail: str = "") -> None:
        told = (
            "PARLEY_DATABASE_URL leads to a pool by transaction, as of pgbouncer: we need sessions"
            " of our own, to LISTEN in; set pool_mode = session there, or name PostgreSQL itself"
        )
        super().__init__(f"{told} {detail.strip()}".strip())


class SchemaTooOld(StoreError):
    """The database was made by older code and must be upgraded on purpose."""


class SchemaTooNew(StoreError):
    """The database was upgraded by newer code; this code would damage it."""


class Unreadable(StoreError):
    """What is there can't be read: damaged, not a database, or written by newer code."""
