"""`parley hooks`: what its commands do, with the same files and settings as the server."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import typer

from channels.callback.guard import Guard
from channels.webhook.channel import message_of
from channels.webhook.declaration import Source
from channels.webhook.rehearsal import Rehearsal, rehearse
from gateway.cli.doing import screen
from gateway.cli.doing.screen import Column
from gateway.control.service import NotFound
from gateway.settings.agents import load_agents
from gateway.settings.callback_settings import CallbackSettings
from gateway.settings.config import load_config
from gateway.settings.environment import Settings, adopt_env_file, load
from gateway.settings.hooks import make_sources

_COLUMNS = (
    Column("hook", whole=True),
    Column("address", whole=True),
    Column("scheme"),
    Column("agent"),
    Column("on repeat"),
)
_TOLD = {
    "say": "It would be said to the agent.",
    "report": "It would be an event for whoever waits for its key.",
    "ignore": "It would be ignored",
    "refuse": "It would be refused",
}


def list_(*, as_json: bool) -> None:
    """List the hooks."""
    settings, sources = _sources()
    items = [_shown(settings, source) for source in sources]
    if as_json:
        return screen.data(json.dumps({"items": items, "next_cursor": None}, ensure_ascii=False))
    if not items:
        return screen.say("no hooks: parley.toml declares them, as [hooks.NAME]")
    return screen.print_table(_COLUMNS, [[str(cell) for cell in one.values()] for one in items])


def try_(name: str, file: str, header: list[str], *, as_json: bool) -> None:
    """Show what a payload would do."""
    _, sources = _sources()
    source = next((one for one in sources if one.name == name), None)
    if source is None:
        known = ", ".join(one.name for one in sources) or "none"
        raise NotFound(f"there is no hook {name!r}; the hooks are: {known}")
    found = rehearse(source, _headers(header), _body(file), time.time())
    if as_json:
        screen.data(json.dumps(_told(source, found), ensure_ascii=False))
    else:
        _print(source, found)
    if found.effect == "refuse":
        raise typer.Exit(1)


def _sources() -> tuple[Settings, list[Source]]:
    settings = load(Settings)
    adopt_env_file()
    agents = list(load_agents(settings.agents))
    return settings, _made(settings, agents)


def _made(settings: Settings, agents: list[str]) -> list[Source]:
    guard = Guard(load(CallbackSettings).allowed)
    return make_sources(load_config(settings.config).hooks, agents, os.environ, guard)


def _shown(settings: Settings, source: Source) -> dict[str, str]:
    return {
        "name": source.name,
        "url": f"{settings.url}/hooks/{source.name}",
        "scheme": source.lock.scheme,
        "agent": source.agent.source,
        "on_repeat": source.on_repeat,
    }


def _headers(given: list[str]) -> dict[str, str]:
    read = {}
    for one in given:
        name, found, value = one.partition(":")
        if not found or not name.strip():
            raise typer.BadParameter(f"--header should look like 'Name: value', not {one!r}")
        read[name.strip().lower()] = value.strip()
    return read


def _body(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as exc:
        raise NotFound(f"{file} can't be read: {exc.strerror}") from exc


def _told(source: Source, found: Rehearsal) -> dict[str, Any]:
    told: dict[str, Any] = {
        "hook": source.name,
        "verified": {"yes": True, "no": False, "not signed": None}[found.verified],
        "effect": found.effect,
        "why": found.why or None,
        "delivery": found.delivery or None,
    }
    if found.happened is not None:
        return told | {"event_key": found.happened.key, "event_value": found.happened.value}
    if found.mapped is None:
        return told
    message = message_of(source, found.delivery, found.mapped)
    return told | {
        "place": message.place,
        "thread_key": found.mapped.thread_key or None,
        "on_repeat": message.repeat,
        "agent": message.agent,
        "requester": message.actor.id,
        "audience": list(message.audience),
        "message": message.text,
    }


def _print(source: Source, found: Rehearsal) -> None:
    told = _told(source, found)
    end = "" if found.effect in {"say", "report"} else f": {found.why}."
    screen.say(f"{_TOLD[found.effect]}{end}")
    screen.say(f"verified: {found.verified}")
    for field in ("delivery", "event_key", "place", "on_repeat", "agent", "requester"):
        if told.get(field):
            screen.say(f"{field}: {told[field]}")
    if found.happened is not None:
        screen.say("value:")
        screen.data(json.dumps(found.happened.value, ensure_ascii=False))
    if found.mapped is not None:
        screen.say(f"audience: {', '.join(found.mapped.audience) or 'who began it'}")
        screen.say("message:")
        screen.data(found.mapped.text)
