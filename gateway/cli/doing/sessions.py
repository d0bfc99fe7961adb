"""`parley sessions`: what its commands do, on the database itself."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agent_core.loop.world import World
from agent_core.thread.times import as_datetime, spoken
from gateway.cli.doing import screen
from gateway.cli.doing.local import with_store
from gateway.cli.doing.screen import Column
from gateway.control.keys import kept_secret
from gateway.control.memory import SealedMemory
from gateway.control.service import NotFound
from gateway.inbox.sessions import OWNER, Session, Sessions
from gateway.settings.environment import Settings, load

_Result = TypeVar("_Result")

_COLUMNS = (
    Column("session", whole=True),
    Column("name"),
    Column("by"),
    Column("since"),
    Column("last seen"),
)


def list_(*, as_json: bool) -> None:
    """List who is signed in."""
    found = _with_sessions(lambda sessions: sessions.listed())
    if as_json:
        items = [_shown(*one) for one in found]
        return screen.data(json.dumps({"items": items, "next_cursor": None}, ensure_ascii=False))
    if not found:
        return screen.say("nobody is signed in")
    return screen.print_table(_COLUMNS, [_row(*one) for one in found])


def revoke(who: str, *, as_json: bool) -> None:
    """Sign somebody out."""
    ended = _with_sessions(
        lambda sessions: sessions.revoke(lambda name, one: who in (name, one.name))
    )
    if not ended:
        raise NotFound(f"nobody is signed in as {who!r}; `parley sessions list` shows who is")
    if as_json:
        return screen.data(json.dumps({"revoked": ended}))
    screen.say(f"{who} is signed out")
    return screen.data(str(ended))


def _with_sessions(work: Callable[[Sessions], Awaitable[_Result]]) -> _Result:
    secret = kept_secret(load(Settings))
    return with_store(lambda store: work(Sessions(SealedMemory(store, OWNER, secret), World().now)))


def _shown(name: str, session: Session) -> dict[str, object]:
    return {
        "id": name,
        "name": session.name,
        "by": session.how,
        "since": as_datetime(session.made_at).isoformat().replace("+00:00", "Z"),
        "seen_at": as_datetime(session.seen_at).isoformat().replace("+00:00", "Z"),
    }


def _row(name: str, session: Session) -> list[str]:
    return [name, session.name, session.how, spoken(session.made_at), spoken(session.seen_at)]
