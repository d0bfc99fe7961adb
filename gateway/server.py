"""`parley serve`: the one place that names concrete classes and puts them together.

Start: settings, agents, store, then the parts of the role. End, on SIGTERM or Ctrl-C: no new
requests, then the engine drains and gives its leases back, then the store closes.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from aiohttp import web

from agent_core import Agent
from agent_core.loop.world import World
from channels.callback.addresses import NAME as CALLBACK
from channels.callback.guard import Guard
from channels.channel import Channel
from gateway.audit.beginning import OtherKey, begin
from gateway.audit.key import audit_seal
from gateway.channel_wiring import (
    events_of,
    live_channels,
    mailer_of,
    make_channels,
    memory_of,
    open_channels,
    openid_of,
    routes,
)
from gateway.control.callbacks import Callbacks
from gateway.control.keys import secret_key
from gateway.control.local import LocalGateway
from gateway.http.app import DESK, make_app, run_app
from gateway.http.channel_routes import mount
from gateway.http.connections import DeadlineRunner
from gateway.http.options import HttpOptions
from gateway.inbox.app import mount as mount_inbox
from gateway.inbox.sessions import OWNER
from gateway.outbox.sender import Sender
from gateway.people.directory import Directory
from gateway.people.naming import Naming, check_names, written_names
from gateway.people.routing import Routing
from gateway.rates.ledger import Ledger
from gateway.retention.on_demand import Purger
from gateway.settings.agents import load_agents
from gateway.settings.callback_settings import CallbackSettings
from gateway.settings.channel_settings import SlackSettings
from gateway.settings.config import RetentionRules, check_agents, load_config
from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import Settings, load
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from gateway.telemetry.figures import Figures
from gateway.telemetry.watching import watch_for_ever
from gateway.work import failpoints
from gateway.work.engine import Engine
from gateway.work.sweeping import sweep_for_ever
from storage.seals import Seal
from storage.store import Store
from storage.urls import open_store

if TYPE_CHECKING:
    from gateway.inbox.site import Site

Role = Literal["all", "web", "worker"]

_log = logging.getLogger("parley.server")


@dataclass(frozen=True)
class Parts:
    """What a process of a role is made of."""

    store: Store
    agents: Mapping[str, Agent]
    hints: Hints
    nearby: Nearby
    gateway: LocalGateway


@dataclass(frozen=True)
class House:
    """What an operator has set up: where people are, who they are, which agent answers them."""

    channels: Mapping[str, Channel]
    people: Directory
    routing: Routing
    naming: Naming
    routes: Mapping[str, str]
    guard: Guard
    secret: bytes
    retention: RetentionRules
    ledger: Ledger


async def serve(settings: Settings, role: Role = "all") -> None:
    """Serve until told to stop."""
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    agents = load_agents(settings.agents)
    house = set_up(settings, agents)
    async with (
        parts(settings, agents, house.routing, house.guard) as made,
        _running(made, house, settings, role, stop),
    ):
        await stop.wait()
        _log.info("stopping")


def set_up(settings: Settings, agents: Mapping[str, Agent]) -> House:
    """Read what the operator has written, and refuse what can't work."""
    config = load_config(settings.config)
    check_agents(config, list(agents))
    people = Directory(config.people)
    check_names(config, agents, people)
    secret = secret_key(settings)  # made now, so that a restart signs with the same one
    slack, email = load(SlackSettings), load(EmailSettings)
    ledger = Ledger()
    names = list(agents)
    channels = make_channels(settings, slack, email, config, secret, agents=names, ledger=ledger)
    return House(
        channels=channels,
        people=people,
        routing=Routing(people, frozenset(channels)),
        naming=Naming(people, written_names(config, agents)),
        routes=routes(config.routes, agents),
        guard=Guard(load(CallbackSettings).allowed),
        secret=secret,
        retention=config.retention,
        ledger=ledger,
    )


@asynccontextmanager
async def parts(
    settings: Settings,
    agents: Mapping[str, Agent],
    routing: Routing,
    guard: Guard | None = None,
) -> AsyncIterator[Parts]:
    """Open the store and put the gateway on it."""
    seal = audit_seal(secret_key(settings))
    store = failpoints.rigged(open_store(settings.database_url, seal=seal))
    await store.open()
    try:
        await _begin_audit(store, seal)
        hints, nearby = Hints(store), Nearby()
        gateway = LocalGateway(store, agents, hints, nearby=nearby, routing=routing, guard=guard)
        yield Parts(store, agents, hints, nearby, gateway)
    finally:
        await store.close()


async def _begin_audit(store: Store, seal: Seal) -> None:
    """Seal what was written before there was a key; people are answered with another key, too."""
    try:
        await begin(store, seal, now=World().now())
    except OtherKey as exc:
        _log.warning("audit can't be verified", extra={"error": str(exc)})


@asynccontextmanager
async def _running(
    made: Parts, house: House, settings: Settings, role: Role, stop: asyncio.Event
) -> AsyncIterator[None]:
    """Start the parts of a role, each on top of what it needs; stop them in reverse."""

    async def start(part: Coroutine[None, None, None]) -> None:
        await stack.enter_async_context(_background(part, stop))

    figures = Figures()
    async with AsyncExitStack() as stack:
        await start(made.hints.run())
        await stack.enter_async_context(
            open_channels(
                house.channels,
                made.gateway,
                made.store,
                house.people,
                house.routes,
                secret=house.secret,
                receives=role != "worker",
                figures=figures,
            )
        )
        await start(watch_for_ever(house.channels, figures))
        if role != "web":
            for part in _work(made, house, figures):
                await start(part)
        if role != "worker":
            await start(house.ledger.run(made.store.spend))
            runner = await _serve_http(made, house, settings, figures)
            stack.push_async_callback(runner.cleanup)
        yield


def _work(made: Parts, house: House, figures: Figures) -> Iterator[Coroutine[None, None, None]]:
    """Give what a worker runs: it sends, it advances threads, it sweeps."""
    sender = Sender(
        made.store,
        house.channels,
        made.hints,
        people=house.people,
        options=failpoints.sender_options(),
        nearby=failpoints.beside(made.nearby),
        figures=figures,
    )
    engine = Engine(
        made.store,
        made.agents,
        made.hints,
        world=World(check_audience=house.naming.check),
        options=failpoints.engine_options(),
        nearby=failpoints.beside(made.nearby),
        live=live_channels(house.channels),
        routing=house.routing,
    )
    yield sender.run()
    yield engine.run()
    yield sweep_for_ever(made.store)
    if house.retention.threads or house.retention.mails:
        yield _purger(made, house).each_night(house.retention)


def _purger(made: Parts, house: House) -> Purger:
    mails = memory_of(made.store, "email", house.secret)
    return Purger(made.store, audit_seal(house.secret), mails)


async def _serve_http(
    made: Parts, house: House, settings: Settings, figures: Figures
) -> DeadlineRunner:
    """Open the door: the control API, and the channels' own routes beside it."""
    options = HttpOptions(shutdown_grace=5)
    app = make_app(
        made.gateway,
        made.store,
        options,
        events=events_of(house.channels),
        figures=figures,
        ledger=house.ledger,
        callbacks=Callbacks(made.store, memory_of(made.store, CALLBACK, house.secret)),
        purger=_purger(made, house),
    )
    mount(app, house.channels.values(), options)
    mount_inbox(app, partial(_make_site, app, made, house, settings))
    runner = await run_app(app, settings.host, settings.port)
    _log.info("listening", extra={"port": runner.addresses[0][1]})
    return runner


async def _make_site(app: web.Application, made: Parts, house: House, settings: Settings) -> Site:
    """Make the pages when the first is asked for, and import them beside what runs."""
    wiring = await asyncio.to_thread(import_module, "gateway.inbox.wiring")
    site: Site = wiring.make_site(
        app[DESK],
        made.store,
        house.people,
        memory_of(made.store, OWNER, house.secret),
        secret=house.secret,
        public_url=settings.url,
        world=World(),
        mailer=mailer_of(house.channels),
        slack=openid_of(settings, load(SlackSettings)),
    )
    return site


@asynccontextmanager
async def _background(
    part: Coroutine[None, None, None], stop: asyncio.Event
) -> AsyncIterator[None]:
    """Run a part beside the rest; if it breaks, everything stops, and its error is raised."""
    task = asyncio.create_task(part)
    task.add_done_callback(lambda _task: stop.set())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()
