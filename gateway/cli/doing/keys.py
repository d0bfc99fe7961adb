"""`parley keys`: what its commands do, on the database itself."""

from __future__ import annotations

import json
import time

from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime, spoken
from gateway.cli.doing import screen
from gateway.cli.doing.local import with_store
from gateway.cli.doing.screen import Column
from gateway.control.keys import new_key
from gateway.control.service import NotFound
from storage.store import Store
from storage.values import ApiKey

_COLUMNS = (
    Column("key", whole=True),
    Column("name"),
    Column("scopes"),
    Column("made"),
    Column("revoked"),
)


def create(name: str, scopes: list[str], *, as_json: bool) -> None:
    """Make a key and print it, this once."""
    text, row = new_key(name, scopes, now=_now())
    with_store(lambda store: store.add_key(row))
    if as_json:
        return screen.data(json.dumps({"key": text, **_shown(row)}, ensure_ascii=False))
    screen.say(f"{row.name} may {', '.join(row.scopes)}. The key is shown this once; its id, for")
    screen.say(f"`parley keys revoke`, is {row.id}.")
    return screen.data(text)


def list_(*, as_json: bool) -> None:
    """List the keys."""
    keys = with_store(lambda store: store.keys())
    if as_json:
        items = [_shown(key) for key in keys]
        return screen.data(json.dumps({"items": items, "next_cursor": None}, ensure_ascii=False))
    if not keys:
        return screen.say("no keys: `parley keys create NAME --scope admin` makes one")
    return screen.print_table(_COLUMNS, [_row(key) for key in keys])


def revoke(key: str, *, as_json: bool) -> None:
    """Make a key useless."""
    row = with_store(lambda store: _revoke(store, key))
    if as_json:
        return screen.data(json.dumps(_shown(row), ensure_ascii=False))
    screen.say(f"the key of {row.name} is revoked")
    return screen.data(row.id)


async def _revoke(store: Store, key: str) -> ApiKey:
    found = _find(await store.keys(), key)
    await store.revoke_key(found.id, now=_now())
    return next(one for one in await store.keys() if one.id == found.id)


def _find(keys: list[ApiKey], key: str) -> ApiKey:
    """Find a key by its id, or by its name if that means only one."""
    alive = [one for one in keys if one.revoked_at is None]
    found = [one for one in alive if one.id == key] or [one for one in alive if one.name == key]
    if not found and any(key in (one.id, one.name) for one in keys):
        raise NotFound(f"{key} was revoked before")
    if not found:
        raise NotFound(f"there is no key {key!r}; `parley keys list` shows those that there are")
    if len(found) > 1:
        raise NotFound(f"several keys are called {key!r}; revoke one by its id")
    return found[0]


def _shown(key: ApiKey) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "scopes": list(key.scopes),
        "created_at": _iso(key.created_at),
        "revoked_at": None if key.revoked_at is None else _iso(key.revoked_at),
    }


def _row(key: ApiKey) -> list[str]:
    revoked = "" if key.revoked_at is None else spoken(key.revoked_at)
    return [key.id, key.name, ", ".join(key.scopes), spoken(key.created_at), revoked]


def _iso(moment: Millis) -> str:
    return as_datetime(moment).isoformat().replace("+00:00", "Z")


def _now() -> Millis:
    return Millis(time.time_ns() // 1_000_000)
