"""`parley audit`: what its commands do, on the database itself."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import typer

from agent_core.thread.events import Millis
from gateway.audit.beginning import begin_anew
from gateway.audit.entries import Entry, iso
from gateway.audit.export import Export
from gateway.audit.key import audit_seal
from gateway.audit.paper import Spoiled, read_paper
from gateway.audit.verification import (
    Finding,
    Report,
    compare,
    marks_in,
    marks_of,
    verify_store,
)
from gateway.cli.doing import screen
from gateway.cli.doing.local import with_store
from gateway.control.keys import kept_secret
from gateway.settings.environment import Settings, load
from storage.seals import Seal
from storage.store import Store

_MOST_FINDINGS = 20


def export(thread: str, since: str) -> None:
    """Print the audit."""
    seal, start = _seal(), _moment(since)

    async def work(store: Store) -> None:
        wanted = Export(store, seal, _now(), thread=thread, since=start)
        async for lines in wanted.lines():
            sys.stdout.buffer.write(lines)
        sys.stdout.buffer.flush()

    with_store(work)


def verify(file: str, against: str, *, as_json: bool) -> None:
    """Look for changes, tell the first of them, and exit with 1 if there are any."""
    seal = _seal()
    with screen.progress("verifying"):
        report = _of_file(file, against, seal) if file else _of_store(against, seal)
    if as_json:
        shown = {"ok": not report.findings, **msgspec.to_builtins(report)}
        screen.data(json.dumps(shown, ensure_ascii=False))
    _tell(report)
    if report.findings:
        raise typer.Exit(1)


def begin(*, as_json: bool) -> None:
    """Seal all that stands there."""
    seal, now = _seal(), _now()
    with screen.progress("sealing"):
        with_store(lambda store: begin_anew(store, seal, now=now))
    screen.say("sealed: from now on every change can be seen")
    if as_json:
        screen.data(json.dumps({"begun": iso(now)}))


def _of_store(against: str, seal: Seal) -> Report:
    async def work(store: Store) -> Report:
        report = await verify_store(store, seal, now=_now())
        if _is_whole(against, seal, Report(), report):
            report.findings += await compare(_entries(against, seal), marks_of(store, seal), seal)
        return report

    return with_store(work)


def _of_file(file: str, against: str, seal: Seal) -> Report:
    report = Report()
    if _is_whole(file, seal, report, report) and _is_whole(against, seal, Report(), report):
        newer = marks_in(_entries(file, seal))
        report.findings += asyncio.run(compare(_entries(against, seal), newer, seal))
    return report


def _is_whole(file: str, seal: Seal, counted: Report, report: Report) -> bool:
    """Read a file to its end, before anything is made of what it says."""
    if not file:
        return False
    threads = set()
    try:
        for entry in _entries(file, seal):
            counted.entries += 1
            threads.add(entry.thread)
    except Spoiled as exc:
        report.findings.append(Finding(f"{file}: {exc}"))
        return False
    counted.threads = len(threads)
    return True


def _entries(file: str, seal: Seal) -> Iterator[Entry]:
    try:
        with Path(file).open("rb") as lines:
            yield from read_paper(lines, seal)
    except OSError as exc:
        raise typer.BadParameter(f"{file} can't be read: {exc.strerror}") from exc


def _tell(report: Report) -> None:
    for finding in report.findings[:_MOST_FINDINGS]:
        whose = f"thread {finding.thread}: " if finding.thread else ""
        screen.say(f"CHANGED  {whose}{finding.what}")
    if (more := len(report.findings) - _MOST_FINDINGS) > 0:
        screen.say(f"and {more} more")
    since = f", sealed since {report.begun}" if report.begun else ""
    told = "nothing was changed" if not report.findings else "this is not what was written"
    counted = f"{report.entries} entries of {report.threads} threads"
    erased = f", {report.erased} of them with words erased" if report.erased else ""
    purged = f", {report.purged} threads purged" if report.purged else ""
    screen.say(f"{told}: {counted}{erased}{purged}{since}")


def _seal() -> Seal:
    return audit_seal(kept_secret(load(Settings)))


def _moment(text: str) -> Millis | None:
    """Read a date, or a date and a time; without a zone it is UTC."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as exc:
        raise typer.BadParameter(f"--since should look like 2026-11-01, not {text!r}") from exc
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return Millis(round(aware.timestamp() * 1000))


def _now() -> Millis:
    return Millis(time.time_ns() // 1_000_000)
