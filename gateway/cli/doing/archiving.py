"""`parley threads archive` and `parley threads restore`: what they do."""

from __future__ import annotations

import json
from http import HTTPStatus
from pathlib import Path

import typer

from agent_core.thread.checkpoint import Log
from gateway.audit.key import audit_seal
from gateway.cli.doing import calls, screen
from gateway.cli.doing.letting_go import age_of, confirm, opened, statuses_of, whoever
from gateway.cli.doing.screen import Progress
from gateway.control.keys import kept_secret
from gateway.control.memory import SealedMemory
from gateway.http.client import ApiError, Client
from gateway.retention.archive_files import SpoiledArchive, read_archive
from gateway.retention.archiving import Archiving, Outcome
from gateway.retention.plans import events_of
from gateway.retention.purging import Purging, Which
from gateway.settings.environment import Settings, load
from storage.sealed import SealedLog
from storage.seals import Seal, fault
from storage.store import Store

_MOST_SHOWN = 20


def archive(
    older_than: str,
    folder: Path,
    status: str,
    agent: str,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Move threads that ended long ago into files."""
    if not folder.is_dir():
        raise typer.BadParameter(f"--to: there is no folder {folder}")
    which = Which(older_than_ms=age_of(older_than), statuses=statuses_of(status), agent=agent)

    async def look(store: Store, seal: Seal, mails: SealedMemory) -> int:
        return len([one async for one in Purging(store, seal, mails).candidates(which)])

    async def work(store: Store, seal: Seal, mails: SealedMemory) -> list[Outcome]:
        purging = Purging(store, seal, mails)
        archiving = Archiving(store, seal, purging, folder)
        done = [one async for one in archiving.archive_all(which, by=whoever())]
        await purging.forget_the_rest()
        return done

    found = opened(look)
    done: list[Outcome] = []
    if dry_run or not found:
        screen.say(f"{found} threads would be archived")
    else:
        confirm(f"move {found} threads into files in {folder}", yes=yes)
    if not dry_run:  # if none: an earlier run may have been cut off, and what is left is done now
        with screen.progress("archiving"):
            done = opened(work)
    _tell_archived(done, found, dry_run=dry_run, as_json=as_json)


def _tell_archived(done: list[Outcome], found: int, *, dry_run: bool, as_json: bool) -> None:
    gone = [one for one in done if one.file]
    left = [one for one in done if not one.file]
    for one in left[:_MOST_SHOWN]:
        screen.say(f"thread {one.thread} stays: {one.why}")
    if done:
        screen.say(f"{len(gone)} threads archived, {len(left)} stay")
    if as_json:
        shown = {
            "dry_run": dry_run,
            "found": found,
            "archived": {one.thread: one.file for one in gone},
            "left": {one.thread: one.why for one in left},
        }
        screen.data(json.dumps(shown, ensure_ascii=False))


def restore(file: Path, threads: list[str], *, as_json: bool) -> None:
    """Give threads of an archive to the server, as if they came from another installation."""
    seal = audit_seal(kept_secret(load(Settings)))
    wanted = _checked(file, threads, seal)

    async def work(client: Client, line: Progress) -> list[str]:
        return [one for log in wanted if (one := await _give(client, line, log))]

    back = calls.with_client(work, "restoring")
    screen.say(f"{len(back)} threads are back")
    if as_json:
        screen.data(json.dumps({"restored": back}))
    else:
        screen.data("\n".join(back))


def _checked(file: Path, threads: list[str], seal: Seal) -> list[SealedLog]:
    """Read the file to its end, before anything is made of it."""
    logs = [log for log in read_archive(file) if not threads or log.thread in threads]
    missing = set(threads) - {log.thread for log in logs}
    if missing:
        raise typer.BadParameter(f"{file} has no thread {', '.join(sorted(missing))}")
    for log in logs:
        if wrong := fault(seal, log):
            raise SpoiledArchive(f"{file}, thread {log.thread}: {wrong}")
    return logs


async def _give(client: Client, line: Progress, log: SealedLog) -> str:
    """Have it imported; one that is there already stays as it is."""
    line.show(f"restoring {log.thread}")
    checkpoint = Log()
    checkpoint.extend(events_of(log))
    try:
        await client.send("POST", "/v1/threads/import", content=checkpoint.text())
    except ApiError as exc:
        if exc.status != HTTPStatus.CONFLICT:
            raise
        line.hide()
        screen.say(f"thread {log.thread} is here already")
        return ""
    return log.thread
