"""Finding changes: in the database by its chains, and beside an earlier export line by line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, TypeAlias

import msgspec

from agent_core.thread.events import Millis, ThreadId
from gateway.audit.beginning import OtherKey, begun
from gateway.audit.entries import Entry, entries, erased_records, iso, keyed
from gateway.audit.export import every_log, every_tombstone
from gateway.audit.tombstones import PURGED, contradiction, is_ours, purged_entry
from storage.seals import Seal, fault
from storage.store import Store

_NOT_OURS = "it is said to have been purged, and that was not written with the key"
_STRAY = "there are events or deliveries of it, but the thread itself is gone"


class Finding(msgspec.Struct, frozen=True):
    """Something that is not as it was written."""

    what: str
    thread: str = ""


class Report(msgspec.Struct, kw_only=True):
    """What was looked at, and what was found."""

    threads: int = 0
    entries: int = 0
    erased: int = 0
    """Entries whose words were replaced by who had the key."""
    purged: int = 0
    """Threads that were deleted by who had the key."""
    begun: str = ""
    findings: list[Finding] = msgspec.field(default_factory=list)


class Mark(NamedTuple):
    """What tells a row from every other."""

    seq: int
    record: str


@dataclass
class There:
    """What is there of a thread."""

    marks: set[Mark] = field(default_factory=set)
    """Of its rows as they are; of one whose words were erased, also as it was, by `was`."""
    purged: Entry | None = None

    def add(self, entry: Entry) -> None:
        """Take an entry along."""
        self.marks.add(Mark(entry.seq, entry.record))
        if entry.was:
            self.marks.add(Mark(entry.seq, entry.was))
        if entry.what == PURGED:
            self.purged = entry


Marks: TypeAlias = Callable[[str], Awaitable[There | None]]
"""Gives what is there of a thread; None if there is nothing."""


async def verify_store(store: Store, seal: Seal, *, now: Millis) -> Report:
    """Check every thread against its chain."""
    report = Report()
    try:
        since = await begun(store, seal, now=now)
    except OtherKey as exc:  # then no chain fits, and to name them all would help nobody
        report.findings.append(Finding(str(exc)))
        return report
    async for log in every_log(store):
        report.threads += 1
        report.entries += len(log.events) + len(log.deliveries)
        report.erased += len(erased_records(seal, log))
        if wrong := fault(seal, log):
            report.findings.append(Finding(wrong, log.thread))
    for name in await store.audit().strays():
        report.findings.append(Finding(_STRAY, name))
    async for stone in every_tombstone(store):
        report.purged += 1
        if not is_ours(seal, stone):
            report.findings.append(Finding(_NOT_OURS, stone.thread))
    report.begun = "" if since is None else iso(since)
    if since is None and report.threads:
        report.findings.insert(0, Finding(_NOT_BEGUN))
    return report


_NOT_BEGUN = (
    "the audit has not begun, or its record was removed: no server has run here with a secret key"
)


async def compare(older: Iterable[Entry], newer: Marks, seal: Seal) -> list[Finding]:
    """Name the first entry of each thread that an earlier export had, and is there no more."""
    findings = []
    for thread, told in groupby(older, key=lambda entry: entry.thread):
        if wrong := _difference(list(told), await newer(thread), seal):
            findings.append(Finding(wrong, thread))
    return findings


def _difference(before: list[Entry], there: There | None, seal: Seal) -> str:
    """Say what is missing; what was erased or purged by who had the key is not."""
    if there is None:
        return "it is gone: the earlier export has it"
    lost = [entry for entry in before if not _marks(entry, seal) & there.marks]
    if lost and there.purged is not None:
        alive = [entry for entry in before if entry.what != PURGED]
        return contradiction(seal, alive, there.purged)
    return _words(lost[0]) if lost else ""


def _marks(entry: Entry, seal: Seal) -> set[Mark]:
    """Give all by which an entry can be found again."""
    names = (entry.record, keyed(seal, entry.record), *((entry.was,) if entry.was else ()))
    return {Mark(entry.seq, name) for name in names}


def marks_of(store: Store, seal: Seal) -> Marks:
    """Look at what a database has."""

    async def look(thread: str) -> There | None:
        log = await store.audit().log(ThreadId(thread))
        stone = await store.retention().tombstone(ThreadId(thread))
        there = There()
        for entry in () if log is None else entries(log, seal):
            there.add(entry)
        if stone is not None and is_ours(seal, stone):
            there.add(purged_entry(stone))
        return there if there.marks else None

    return look


def marks_in(paper: Iterable[Entry]) -> Marks:
    """Look at what an export has."""
    found: dict[str, There] = {}
    for entry in paper:
        found.setdefault(entry.thread, There()).add(entry)

    async def look(thread: str) -> There | None:
        return found.get(thread)

    return look


def _words(lost: Entry) -> str:
    who = f" ({lost.who})" if lost.who else ""
    return f"{lost.what}{who} of {lost.at}, event {lost.seq}, was changed or removed since"
