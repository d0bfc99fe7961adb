"""Is everything as it should be? One check for each thing that has ever kept a server from working.

A check looks, and changes nothing that lasts; it tells what it found and, if that is not good,
what to do. One that needs what an earlier one found missing is left out.
"""

from __future__ import annotations

import asyncio
import socket
import time
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from agent_core import Agent, OpenAIChat
from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime
from channels.callback.addresses import NAME as CALLBACK
from channels.callback.endpoints import DISABLED
from gateway.doctor import disk_doctor
from gateway.doctor.checks import Check, Status
from gateway.settings.agents import load_agents
from gateway.settings.channel_settings import SlackSettings
from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import (
    ModelSettings,
    Settings,
    SettingsError,
    adopt_env_file,
    load,
    load_settings,
    sqlite_file,
    warnings,
)
from gateway.telemetry.redaction import clean_text
from storage.errors import SchemaTooOld, StoreError
from storage.locations import File, Memory, locate
from storage.migrations.upgrades import check
from storage.urls import open_store
from storage.values import Wish


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
    yield from _email(settings, load(EmailSettings))
    yield from _hooks(settings)
    yield _port(settings)


def _machine(settings: Settings) -> Iterator[Check]:
    file = sqlite_file(settings.database_url)
    if file is not None:
        yield (folder := disk_doctor.folder(file))
        if folder.status == "fail":
            return
        yield disk_doctor.fsync(file.absolute().parent)
        yield disk_doctor.secret(settings, file)
    yield from _database(settings, file)


# --- database and clock ---------------------------------------------------------------------------


def _database(settings: Settings, file: Path | None) -> Iterator[Check]:
    if isinstance(locate(settings.database_url), Memory):
        yield Check("database", "warn", "in memory: nothing lasts", "set PARLEY_DATABASE_URL")
        yield _clock(0)
    elif file is not None and not file.exists():
        yield Check("database", "ok", f"{file} is not there yet; the first start makes it")
        yield _clock(0)
    else:
        check, newest, disabled = _opened(settings.database_url)
        yield check
        yield _clock(newest)
        if check.status == "ok":
            yield _callbacks(disabled)


def _opened(url: str) -> tuple[Check, int, int]:
    """Look at the schema first: opening an old SQLite file would upgrade it."""
    try:
        version = check(url)
        newest, disabled = asyncio.run(_read(url))
    except SchemaTooOld as exc:
        at_start = isinstance(locate(url), File)  # a server upgrades its own file by itself
        status: Status = "warn" if at_start else "fail"
        return Check("database", status, str(exc), "parley db upgrade"), 0, 0
    except StoreError as exc:
        return Check("database", "fail", clean_text(str(exc)), "see PARLEY_DATABASE_URL"), 0, 0
    told = f"{clean_text(url)} answers, schema {version}"
    return Check("database", "ok", told), newest, disabled


async def _read(url: str) -> tuple[int, int]:
    """Give the time of the newest thread, and how many endpoints of callbacks are disabled."""
    store = open_store(url, shared=True)
    await store.open()
    try:
        page = await store.threads(Wish(limit=1))
        now = Millis(time.time_ns() // 1_000_000)
        disabled = await store.kept(CALLBACK, prefix=DISABLED, now=now)
        return max((row.updated_at for row in page.items), default=0), len(disabled)
    finally:
        await store.close()


def _callbacks(disabled: int) -> Check:
    """Is somebody not told any more what they wait for?"""
    if not disabled:
        return Check("callbacks", "ok", "no endpoint is disabled")
    told = f"{disabled} endpoint{'s' if disabled > 1 else ''} disabled after days of failure"
    return Check("callbacks", "warn", told, "parley callbacks list, then enable and replay")


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
    from channels.identity import SLACK_BACK  # noqa: PLC0415 (belongs to it)
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
    if settings.is_for_many:
        yield Check("slack", "ok", "installed by OAuth, at /slack/install")
    if settings.client_id:
        yield Check(
            "slack",
            "ok",
            "people can sign in to the inbox with it",
            f"see that OAuth & Permissions, Redirect URLs, has PARLEY_PUBLIC_URL{SLACK_BACK}",
        )
    yield Check(
        "slack",
        "ok",
        "which events it sends us, Slack tells nobody",
        f"see that Event Subscriptions, Subscribe to bot events, has {', '.join(BOT_EVENTS)}",
    )


def _email(settings: Settings, email: EmailSettings) -> Iterator[Check]:
    """Does mail go out, and come in?"""
    if not email.is_on:
        yield Check("email", "ok", "not turned on; docs/email.md begins it")
        return
    from gateway.doctor.email_doctor import examine_email  # noqa: PLC0415 (as above)

    if not email.ways_in:
        told = "mail only goes out: people answer by the links in it"
        yield Check("email", "warn", told, "set IMAP_URL or EMAIL_LISTEN, see docs/email.md")
    try:
        for one in examine_email(settings, email):
            yield Check("email", one.status, clean_text(one.told), one.todo)
    except SettingsError as exc:  # parley.toml
        yield Check("email", "fail", str(exc), "correct the file")


def _hooks(settings: Settings) -> Iterator[Check]:
    """Are the webhooks whole, and can anybody send one?"""
    from gateway.doctor.hooks_doctor import examine_hooks  # noqa: PLC0415 (Jinja2 comes with it)

    try:
        agents = list(load_agents(settings.agents))
    except SettingsError:
        return  # told before
    for one in examine_hooks(settings, agents, is_running=_is_ours(settings)):
        yield Check("hooks", one.status, one.told, one.todo)


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
