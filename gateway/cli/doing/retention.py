"""`parley threads purge` and `parley people erase`: what they do, on the database itself."""

from __future__ import annotations

import json

import msgspec
import typer

from agent_core.loop.world import World
from agent_core.thread.times import as_datetime
from gateway.cli.doing import screen
from gateway.cli.doing.letting_go import age_of, confirm, opened, statuses_of, whoever
from gateway.control.keys import kept_secret
from gateway.control.memory import SealedMemory
from gateway.inbox.sessions import OWNER, Sessions
from gateway.retention.erasing import Erasing, Order
from gateway.retention.persona import Persona, UnknownPerson, identities_of, key
from gateway.retention.purging import Purging, Which
from gateway.retention.reports import Report
from gateway.settings.config import Config, load_config
from gateway.settings.environment import Settings, load
from storage.retention import Ended
from storage.seals import Seal
from storage.store import Store

_MOST_SHOWN = 20


# --- threads --------------------------------------------------------------------------------------


def purge(
    older_than: str, statuses: str, agent: str, *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Delete threads that ended long ago."""
    which = Which(older_than_ms=age_of(older_than), statuses=statuses_of(statuses), agent=agent)

    async def look(store: Store, seal: Seal, mails: SealedMemory) -> list[Ended]:
        return [one async for one in Purging(store, seal, mails).candidates(which)]

    async def work(store: Store, seal: Seal, mails: SealedMemory) -> list[Ended]:
        purging = Purging(store, seal, mails)
        gone = [one async for one in purging.purge_all(which, by=whoever())]
        await purging.forget_the_rest()
        return gone

    found = opened(look)
    if dry_run:
        return _tell_purged(found, dry_run=True, as_json=as_json)
    if found:  # if none: an earlier run may have been cut off, and what is left is done now
        confirm(f"delete {len(found)} threads for good", yes=yes)
    with screen.progress("purging"):
        gone = opened(work)
    return _tell_purged(gone, dry_run=False, as_json=as_json)


def _tell_purged(gone: list[Ended], *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        ids = [one.thread for one in gone]
        screen.data(json.dumps({"dry_run": dry_run, "purged": len(gone), "threads": ids}))
    elif dry_run:
        for one in gone:
            moment = as_datetime(one.updated_at).isoformat(timespec="minutes")
            screen.data(f"{one.thread}  {one.status}  {one.agent}  {moment}")
    would = "would be" if dry_run else "were"
    screen.say(f"{len(gone)} threads {would} purged")


# --- people ---------------------------------------------------------------------------------------


def erase(
    who: str, reason: str, *, also_waiting: bool, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Erase somebody."""
    config = load_config(load(Settings).config)
    try:
        identities = identities_of(who, config.people)
    except UnknownPerson as exc:
        raise typer.BadParameter(str(exc)) from exc
    if any(one in key(reason) for one in identities):
        raise typer.BadParameter("--reason names them: it stays in the log, so it must not")

    async def order(erasing: Erasing) -> Order:
        them = await erasing.find(identities)
        return Order(them=them, by=whoever(), reason=reason, also_waiting=also_waiting)

    async def look(store: Store, seal: Seal, mails: SealedMemory) -> Report:
        erasing = Erasing(store, seal, mails)
        return await erasing.look(await order(erasing))

    async def work(store: Store, seal: Seal, mails: SealedMemory) -> Report:
        erasing = Erasing(store, seal, mails)
        wanted = await order(erasing)
        await _sign_out(store, wanted.them)
        return await erasing.carry_out(wanted)

    with screen.progress("looking"):
        found = opened(look)
    if not dry_run and (also_waiting or not found.busy):
        confirm(_question(who, found), yes=yes)
        with screen.progress("erasing"):
            found = opened(work)
    if as_json:
        screen.data(json.dumps(msgspec.to_builtins(found), ensure_ascii=False))
    _tell(found, config, identities)
    if not dry_run and not found.done:
        raise typer.Exit(1)


async def _sign_out(store: Store, them: Persona) -> None:
    """End their sessions of the inbox, which know who they are."""
    sessions = Sessions(SealedMemory(store, OWNER, kept_secret(load(Settings))), World().now)
    await sessions.revoke(lambda _, one: them.is_them(one.identity) or them.is_them(one.name))


def _question(who: str, found: Report) -> str:
    count = sum(one.entries for one in found.threads)
    return f"erase {who}: {count} entries of {len(found.threads)} threads, {found.mails} mails"


def _tell(report: Report, config: Config, identities: frozenset[str]) -> None:
    entries = sum(one.entries for one in report.threads)
    what = f"{entries} entries of {len(report.threads)} threads, {report.mails} kept mails"
    if not report.dry_run:
        screen.say(f"erased: {what}; in their place stands {report.name!r}")
    else:
        screen.say(f"{what} would be erased; in their place would stand {report.name!r}")
    for busy in report.busy[:_MOST_SHOWN]:
        waits = (
            f"; waits for them, or must know them: {', '.join(busy.questions)}"
            if busy.questions
            else ""
        )
        screen.say(f"  thread {busy.thread}: {busy.why}{waits}")
    if report.busy and not report.done:
        screen.say(_END_FIRST if report.dry_run else _AGAIN)
    _tell_left(report)
    if any(key(one.name) in identities for one in config.people):
        screen.say("parley.toml still lists them: take them out there, and restart")


def _tell_left(report: Report) -> None:
    """Say what is not gone, and who must look."""
    for one in report.left[:_MOST_SHOWN]:
        screen.say(f"  thread {one.thread}: still named or quoted {one.count} times")
    if report.left:
        screen.say(
            f"{len(report.left)} threads speak of them in words of others, of a model or a tool: "
            "look, and purge what must go (DELETE /v1/threads/ID, or `parley threads purge`)"
        )
    if report.mails_left:
        screen.say(f"{report.mails_left} kept mails of others name their address")
    for name in report.keys:
        screen.say(f"the API key {name!r} is named after them: `parley keys revoke`")
    for thread in report.unreadable:
        screen.say(f"thread {thread} is damaged and was left alone")
    if report.done:
        screen.say(_COPIES if report.scoured else f"{_NOT_SCOURED}; {_COPIES}")


_END_FIRST = (
    "end those threads first, or say --also-waiting: then questions that wait for them alone, or "
    "that they voted on, are withdrawn, and the agents are told"
)
_AGAIN = "not there yet: end those threads, and give the same command again"
_COPIES = (
    "backups, audit exports and PostgreSQL's own log keep what they have: see docs/retention.md"
)
_NOT_SCOURED = "old rows stay in the database's files until they are vacuumed"
