"""Is everything as it should be? One check for each thing that has ever kept a server from working.

A check looks, and changes nothing that lasts; it tells what it found and, if that is not good,
what to do. One that needs what an earlier one found missing is left out.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Literal

from agent_core import Agent, OpenAIChat
from agent_core.thread.times import as_datetime
from gateway.agents import load_agents
from gateway.channel_settings import SlackSettings
from gateway.keys import secret_file
from gateway.redaction import clean_text
from gateway.settings import (
    ModelSettings,
    Settings,
    SettingsError,
    adopt_env_file,
    load,
    load_settings,
    sqlite_file,
    warnings,
)
from storage.errors import SchemaTooOld, StoreError
from storage.locations import File, Memory, locate
from storage.migrations.upgrades import current
from storage.migrations.versions import check_version
from storage.urls import open_store
from storage.values import Wish

_LITTLE, _TOO_LITTLE = 1_000_000_000, 50_000_000
_SLOW_FSYNCS = 50
_SYNCS = 25
_OTHERS_MAY = 0o077


@dataclass(frozen=True)
class Check:
    """What was found of one thing."""

    name: str
    status: Literal["ok", "warn", "fail"]
    told: str
    todo: str = ""


def examine() -> Iterator[Check]:
    """Look at everything, in the order in which a server would need it."""
    try:
        settings = load_settings()
        odd = warnings()
    except SettingsError as exc:
        yield Check("settings", "fail", str(exc), "correct it in the environment or in .env")
        return
    yield (
        Check("settings", "warn", "; ".join(odd), "rename or remove it")
        if odd
        else (Check("settings", "ok", "read from the environment and .env"))
    )
    adopt_env_file()
    yield from _machine(settings)
    yield from _agents(settings)
    yield from _slack(load(SlackSettings))
    yield _port(settings)


def _machine(settings: Settings) -> Iterator[Check]:
    file = sqlite_file(settings.database_url)
    if file is not None:
        yield (folder := _folder(file))
        if folder.status == "fail":
            return
        yield _fsync(file.absolute().parent)
        yield _secret(settings, file)
    yield from _database(settings, file)


# --- disk -----------------------------------------------------------------------------------------


def _folder(file: Path) -> Check:
    """Is the database's folder there, writable, and not full?"""
    folder = file.absolute().parent
    if not folder.is_dir():
        return Check("disk", "fail", f"{folder} is not there", f"mkdir -p {folder}")
    for place in (folder, file):
        if place.exists() and not os.access(place, os.W_OK):
            return Check("disk", "fail", f"{place} can't be written", f"give us the right: {place}")
    free = shutil.disk_usage(folder).free
    told = f"{folder} is writable, {free / 1e9:.1f} GB are free"
    if free < _LITTLE:
        return Check("disk", "fail" if free < _TOO_LITTLE else "warn", told, "make room")
    return Check("disk", "ok", told)


def _fsync(folder: Path) -> Check:
    """How many commits a second can be durable at most?"""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            start = time.perf_counter()
            for _ in range(_SYNCS):
                file.write(b"x" * 4096)
                file.flush()
                os.fsync(file.fileno())
            rate = _SYNCS / (time.perf_counter() - start)
    except OSError as exc:
        return Check("fsync", "fail", f"{folder} can't be written: {exc.strerror}", "make room")
    if rate < _SLOW_FSYNCS:
        return Check("fsync", "warn", f"{rate:,.0f} a second", "a faster disk makes it faster")
    return Check("fsync", "ok", f"{rate:,.0f} a second")


def _secret(settings: Settings, file: Path) -> Check:
    """Can nobody else read the secret?"""
    kept = secret_file(file)
    if settings.secret_key is not None:
        return Check("secret", "ok", "set by PARLEY_SECRET_KEY")
    if not kept.exists():
        return Check("secret", "ok", f"will be made and kept in {kept} at the first start")
    if kept.stat().st_mode & _OTHERS_MAY:
        return Check("secret", "warn", f"others may read {kept}", f"chmod 600 {kept}")
    return Check("secret", "ok", f"kept in {kept}")


# --- database and clock ---------------------------------------------------------------------------


def _database(settings: Settings, file: Path | None) -> Iterator[Check]:
    if isinstance(locate(settings.database_url), Memory):
        yield Check("database", "warn", "in memory: nothing lasts", "set PARLEY_DATABASE_URL")
        yield _clock(0)
    elif file is not None and not file.exists():
        yield Check("database", "ok", f"{file} is not there yet; the first start makes it")
        yield _clock(0)
    else:
        check, newest = _opened(settings.database_url)
        yield check
        yield _clock(newest)


def _opened(url: str) -> tuple[Check, int]:
    """Look at the schema first: opening an old SQLite file would upgrade it."""
    try:
        version = current(url)
        check_version(version)
        newest = asyncio.run(_newest(url))
    except SchemaTooOld as exc:
        at_start = isinstance(locate(url), File)  # a server upgrades its own file by itself
        return Check("database", "warn" if at_start else "fail", str(exc), "parley db upgrade"), 0
    except StoreError as exc:
        return Check("database", "fail", clean_text(str(exc)), "see PARLEY_DATABASE_URL"), 0
    return Check("database", "ok", f"{clean_text(url)} answers, schema {version}"), newest


async def _newest(url: str) -> int:
    """Read from the database, and give the time of its newest thread."""
    store = open_store(url, shared=True)
    await store.open()
    try:
        page = await store.threads(Wish(limit=1))
        return max((row.updated_at for row in page.items), default=0)
    finally:
        await store.close()


def _clock(newest: int) -> Check:
    """Has the clock gone back? Timers and leases would wait for it."""
    now = time.time_ns() // 1_000_000
    behind = max(newest, int(Path(__file__).stat().st_mtime * 1000)) - now
    told = f"{as_datetime(now):%Y-%m-%d %H:%M:%S} UTC"  # type: ignore[arg-type]
    if behind > 60_000:  # noqa: PLR2004 - a minute, in milliseconds
        return Check("clock", "fail", f"{told} is {behind / 1000:.0f} s behind", "set the clock")
    return Check("clock", "ok", told)


# --- agents and model -----------------------------------------------------------------------------


def _agents(settings: Settings) -> Iterator[Check]:
    try:
        agents = load_agents(settings.agents)
    except SettingsError as exc:
        yield Check("agents", "fail", str(exc), "correct the module, or PARLEY_AGENTS")
        return
    if not agents:
        yield Check("agents", "warn", "none", "set PARLEY_AGENTS to a module, like ./agents.py")
        return
    yield Check("agents", "ok", ", ".join(sorted(agents)))
    yield _model(list(agents.values()))


def _model(agents: list[Agent]) -> Check:
    """Has each agent a model? Those that bring none need settings."""
    needy = [one.name for one in agents if isinstance(one.definition.model, OpenAIChat)]
    settings = load(ModelSettings)
    if not needy:
        return Check("model", "ok", "the agents bring their own")
    if settings.api_key is None and not settings.base_url:
        told = f"{', '.join(needy)} would have none"
        return Check("model", "fail", told, "set OPENAI_API_KEY, or OPENAI_BASE_URL to a server")
    return Check("model", "ok", clean_text(settings.base_url) or "OpenAI's server")


# --- channels -------------------------------------------------------------------------------------


def _slack(settings: SlackSettings) -> Iterator[Check]:
    """Does Slack take our tokens, and do they have all scopes?"""
    if not settings.is_on:
        yield Check("slack", "ok", "not turned on; `parley slack manifest` begins it")
        return
    from channels.slack.examination import examine as examine_slack  # noqa: PLC0415 (half a second)
    from channels.slack.manifest import BOT_EVENTS  # noqa: PLC0415 (belongs to it)

    bot, app = settings.bot_token, settings.app_token
    findings = asyncio.run(
        examine_slack(
            bot_token=bot.get_secret_value() if bot else "",
            app_token=app.get_secret_value() if app else "",
            api_url=f"{settings.api_url}/",
        )
    )
    for one in findings:
        yield Check("slack", "ok" if one.is_good else "fail", one.told, one.todo)
    if settings.client_id:
        yield Check("slack", "ok", "installed by OAuth, at /slack/install")
    yield Check(
        "slack",
        "ok",
        "which events it sends us, Slack tells nobody",
        f"see that Event Subscriptions, Subscribe to bot events, has {', '.join(BOT_EVENTS)}",
    )


# --- network --------------------------------------------------------------------------------------


def _port(settings: Settings) -> Check:
    """Can we listen where we should?"""
    place = f"{settings.host}:{settings.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as exc:
        if _is_ours(settings):
            return Check("port", "ok", f"a server of ours is listening on {place}")
        todo = "stop what listens there, or set PARLEY_HOST and PARLEY_PORT"
        return Check("port", "fail", f"{place}: {exc.strerror or exc}", todo)
    return Check("port", "ok", f"{place} is free")


def _is_ours(settings: Settings) -> bool:
    host = "127.0.0.1" if settings.host in {"", "0.0.0.0"} else settings.host  # noqa: S104
    try:
        straight = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with straight.open(f"http://{host}:{settings.port}/healthz", timeout=2) as answer:
            return bool(answer.status == HTTPStatus.OK)
    except (OSError, ValueError):
        return False
