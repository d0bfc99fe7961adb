"""A commit whose connection broke before the answer came: was it written, or not?

It says which event it comes after, so it can be made again without harm: if the first try was
written after all, the second is refused, and the log holds our very events in that place. So
whoever asked is told what became of it, and nothing is done twice.

What came from outside is tried for a moment, and then its sender is told to come again. What a
worker did is tried until it is written or somebody else has the thread: it may be the result of a
tool that has had its effect, and to lose it would mean to ask people what became of it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from agent_core.loop.journal import Overtaken
from storage.errors import StoreBusy, StoreError, StoreReadOnly, StoreUnreachable
from storage.postgres import rows, statements
from storage.postgres.batching import Job
from storage.postgres.driver import Driver
from storage.values import Commit, CommitResult, Committed, Delivery, Duplicate

_log = logging.getLogger(__name__)

Submit: TypeAlias = Callable[[Job], Awaitable[CommitResult]]

_PASSING = (StoreUnreachable, StoreBusy, StoreReadOnly)
"""What a restart, a crowd or a failover looks like from here."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 2.0


def can_recover(commit: Commit, error: StoreError) -> bool:
    """Tell whether a commit may be made again after this error."""
    if commit.seen is None or not commit.events:
        return False
    return isinstance(error, StoreUnreachable if commit.epoch is None else _PASSING)


class Recovery:
    """Makes commits again, on a driver whose connections come and go."""

    def __init__(self, driver: Driver, submit: Submit, *, patience_s: float) -> None:
        """Submit again, for so long if nobody's work depends on it."""
        self._driver = driver
        self._submit = submit
        self._patience_s = patience_s

    async def recover(self, job: Job, error: StoreError) -> CommitResult:
        """Find out what became of a commit, or make it again; raise if that can't be known."""
        _log.warning("a commit is made again: %s", error)
        deadline = time.monotonic() + self._patience_s
        pause = _FIRST_PAUSE_S
        while True:
            try:
                return await self._again(job)
            except StoreError as exc:
                is_over = job.commit.epoch is None and time.monotonic() + pause > deadline
                if is_over or not can_recover(job.commit, exc):
                    raise
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    async def _again(self, job: Job) -> CommitResult:
        try:
            result = await self._submit(job)
        except (Overtaken, StoreError) as exc:
            if isinstance(exc, _PASSING) or not await self._is_written(job):
                raise
        else:
            if not isinstance(result, Duplicate) or not await self._is_written(job):
                return result
        return await self._written(job)

    async def _is_written(self, job: Job) -> bool:
        """Tell whether the log has our events where we meant them to be."""
        ours = job.texts.events
        arguments = (job.commit.thread, job.commit.seen, len(ours))
        found = await self._driver.fetch(statements.EVENTS, *arguments, again=True)
        return bool(found) and found[0]["log"] == ",".join(ours)

    async def _written(self, job: Job) -> Committed:
        """Give what the answer would have said: with the leases that are ours by their very end."""
        commit = job.commit
        seq = (commit.seen or 0) + len(commit.events)
        [row] = await self._driver.fetch(statements.THREAD, commit.thread, again=True)
        thread = rows.thread(row)
        is_leased = commit.lease_ms is not None and (
            thread.lease_until == commit.now + commit.lease_ms
        )
        leased = await self._leased(commit) if commit.send_lease_ms else ()
        return Committed(seq, thread.epoch if is_leased else None, leased)

    async def _leased(self, commit: Commit) -> tuple[Delivery, ...]:
        ours = {one.id for one in commit.deliveries}
        until = commit.now + (commit.send_lease_ms or 0)
        found = await self._driver.fetch(statements.DELIVERIES, commit.thread, again=True)
        return tuple(
            one
            for one in map(rows.delivery, found)
            if one.id in ours and one.epoch == 1 and one.lease_until == until
        )
