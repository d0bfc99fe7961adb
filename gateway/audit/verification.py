"""Finding changes: in the database by its chains, and beside an earlier export line by line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple, TypeAlias

import msgspec

from agent_core.thread.events import Millis, ThreadId
from gateway.audit.beginning import OtherKey, begun
from gateway.audit.entries import Entry, entries
from gateway.audit.export import every_log, iso
from storage.seals import Seal, fault
from storage.store import Store

_STRAY = "there are events or deliveries of it, but the thread itself is gone"


class Finding(msgspec.Struct, frozen=True):
    """Something that is not as it was written."""

    what: str
    thread: str = ""


class Report(msgspec.Struct, kw_only=True):
    """What was looked at, and what was found."""

    threads: int = 0
    entries: int = 0
    begun: str = ""
    findings: list[Finding] = msgspec.field(default_factory=list)


class Mark(NamedTuple):
    """What tells a row from every other."""

    seq: int
    record: str


Marks: TypeAlias = Callable[[str], Awaitable[set[Mark] | None]]
"""Gives what is there of a thread; None if the thread is not."""


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
        if wrong := fault(seal, log):
            report.findings.append(Finding(wrong, log.thread))
    for name in await store.audit().strays():
        report.findings.append(Finding(_STRAY, name))
    report.begun = "" if since is None else iso(since)
    if since is None and report.threads:
        report.findings.insert(0, Finding(_NOT_BEGUN))
    return report


_NOT_BEGUN = (
    "the audit has not begun, or its record was removed: no server has run here with a secret key"
)


async def compare(older: Iterable[Entry], newer: Marks) -> list[Finding]:
    """Name the first entry of each thread that an earlier export had, and is there no more."""
    findings = []
    for thread, told in groupby(older, key=lambda entry: entry.thread):
        there = await newer(thread)
        before = list(told)
        if there is None:
            findings.append(Finding("it is gone: the earlier export has it", thread))
        elif lost := next(_lost(before, there), None):
            findings.append(Finding(_words(lost), thread))
    return findings


def marks_of(store: Store) -> Marks:
    """Look at what a database has."""

    async def look(thread: str) -> set[Mark] | None:
        log = await store.audit().log(ThreadId(thread))
        return None if log is None else {Mark(one.seq, one.record) for one in entries(log)}

    return look


def marks_in(paper: Iterable[Entry]) -> Marks:
    """Look at what an export has."""
    there: dict[str, set[Mark]] = {}
    for entry in paper:
        there.setdefault(entry.thread, set()).add(Mark(entry.seq, entry.record))

    async def look(thread: str) -> set[Mark] | None:
        return there.get(thread)

    return look


def _lost(before: Iterable[Entry], there: set[Mark]) -> Iterator[Entry]:
    return (entry for entry in before if Mark(entry.seq, entry.record) not in there)


def _words(lost: Entry) -> str:
    who = f" ({lost.who})" if lost.who else ""
    return f"{lost.what}{who} of {lost.at}, event {lost.seq}, was changed or removed since"
