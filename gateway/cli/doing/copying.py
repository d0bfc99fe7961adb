"""`parley db copy` and `parley db reopen`: what they do, and what the operator must do next."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import msgspec
import typer

from agent_core.loop.world import World
from gateway.audit.beginning import read_record, record_name
from gateway.audit.key import audit_seal
from gateway.audit.verification import Report, verify_store
from gateway.cli.doing import screen
from gateway.cli.doing.bars import Advance, bars
from gateway.control.keys import kept_secret, secret_file
from gateway.settings.environment import Settings, SettingsError, load
from storage.copying.copying import Copied, Copying
from storage.copying.source import Source, alone, beside, reopen
from storage.copying.target import opened, public_name
from storage.errors import BadStoreUrl
from storage.locations import File, Location, Server, locate
from storage.seals import Seal
from storage.urls import open_store


def copy(source: str, target: str, *, ahead: bool, as_json: bool) -> None:
    """Take an installation along, and tell what is left to do."""
    path, url = _ends(source, target)
    begun = time.monotonic()
    with bars("rows") as advance:
        if ahead:
            tables = asyncio.run(_ahead(path, url, advance))
        else:
            tables = asyncio.run(_to_end(path, url, advance))
    seconds = time.monotonic() - begun
    # No table at all: it was copied to the end before, and servers may be at work there.
    ahead = ahead and bool(tables)
    _tell_tables(tables, seconds)
    report = Report() if ahead else _verified(path, url)
    if as_json:
        screen.data(_summary(tables, report, seconds, finished=not ahead))
    _tell_next(path, url, ahead=ahead)
    _tell_findings(report)


def reopen_(source: str, *, as_json: bool) -> None:
    """Let servers use an SQLite file again that had been left for another database."""
    place = _located(source, "SQLITE_URL")
    if not isinstance(place, File):
        raise SettingsError("SQLITE_URL should look like sqlite:///parley.db")
    gone = reopen(place.path)
    if gone is None:
        screen.say(f"{place.path} had not moved: servers can use it")
    else:
        screen.say(f"servers can use {place.path} again. Let none run on {gone.to}, or the same")
        screen.say("threads would go on twice.")
    if as_json:
        screen.data(json.dumps({"moved_to": gone.to if gone else None}))


def _ends(source: str, target: str) -> tuple[Path, str]:
    match _located(source, "SQLITE_URL"), _located(target, "POSTGRES_URL"):
        case File(path), Server(url):
            return path, url
        case Server(), File():
            raise SettingsError(
                "from PostgreSQL to SQLite nothing can be copied, only the other way. Threads can "
                "be taken along one by one: `parley threads export` and `parley threads import`"
            )
    raise SettingsError(
        "give the SQLite file first and then the PostgreSQL database: "
        "`parley db copy sqlite:///parley.db postgresql://user:password@host/name`"
    )


def _located(url: str, name: str) -> Location:
    try:
        return locate(url)
    except BadStoreUrl as exc:
        raise SettingsError(f"{name}: {exc}") from exc


async def _ahead(path: Path, url: str, advance: Advance) -> list[Copied]:
    with beside(path) as source:
        _check_secret(source, path)
        async with opened(url) as target:
            return await Copying(source, target, advance).ahead()


async def _to_end(path: Path, url: str, advance: Advance) -> list[Copied]:
    with alone(path) as source:
        _check_secret(source, path)
        async with opened(url) as target:
            return await Copying(source, target, advance).to_end(now=World().now())


def _check_secret(source: Source, path: Path) -> None:
    """Raise OtherKey, or a SettingsError, before anything is copied that nobody could open."""
    record = source.kept(*record_name())
    if record is not None:
        read_record(record, _seal(path))


def _seal(path: Path) -> Seal:
    return audit_seal(kept_secret(load(Settings, database_url=f"sqlite:///{path}")))


def _verified(path: Path, url: str) -> Report:
    """Read the target as an auditor would, with the key of the source."""

    async def work() -> Report:
        store = open_store(url)
        await store.open()
        try:
            if await store.recall(*record_name(), now=World().now()) is None:
                return Report()  # no server with a key has ever run there
            return await verify_store(store, _seal(path), now=World().now())
        finally:
            await store.close()

    with screen.progress("verifying the audit"):
        return asyncio.run(work())


def _tell_tables(tables: list[Copied], seconds: float) -> None:
    for table in tables:
        screen.say(f"{table.table:<12} {table.rows:>10} rows, {table.written} written")
    written = sum(table.written for table in tables)
    screen.say(f"{written} rows written in {seconds:.1f} s" if tables else "it was copied before")


def _tell_next(path: Path, url: str, *, ahead: bool) -> None:
    name, kept = public_name(url), secret_file(path).absolute()
    secret = f"what stands in {kept}" if kept.exists() else "the one that was set for this server"
    screen.say((_THEN_STOP if ahead else _THEN_START).format(name=name, secret=secret, path=path))


_THEN_STOP = """\
Copied ahead into {name}, which can't be used yet. The server may go on.
To end: stop it, and give the same command without --ahead. It takes along what has changed since,
proves that both sides are the same, and changes over."""

_THEN_START = """\
All of it is in {name}, the same by count and digest. To go on there, set on every machine:
  PARLEY_DATABASE_URL to the URL of the target
  PARLEY_SECRET_KEY to {secret}
{path} stays as it is, and no server opens it any more."""


def _tell_findings(report: Report) -> None:
    for finding in report.findings:
        whose = f"thread {finding.thread}: " if finding.thread else ""
        screen.say(f"CHANGED  {whose}{finding.what}")
    if report.findings:
        screen.say("The copy is whole. What the audit finds was so in the source before.")
        raise typer.Exit(1)
    if report.begun:
        screen.say(f"audit verified: {report.entries} entries of {report.threads} threads")


def _summary(tables: list[Copied], report: Report, seconds: float, *, finished: bool) -> str:
    shown = {
        "finished": finished,
        "rows": sum(table.rows for table in tables),
        "written": sum(table.written for table in tables),
        "seconds": round(seconds, 3),
        "tables": msgspec.to_builtins(tables),
        "audit": {"ok": not report.findings, **msgspec.to_builtins(report)} if finished else None,
    }
    return json.dumps(shown, ensure_ascii=False)
