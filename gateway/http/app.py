"""The control API as an aiohttp application, and its server.

app = make_app(gateway, store, HttpOptions())
runner = await run_app(app, "127.0.0.1", 8080)
...
await runner.cleanup()      # streams and waits end at once, other requests finish
"""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from aiohttp import web

from channels.occurrences import Events
from gateway.control.callbacks import Callbacks
from gateway.control.service import Gateway, Purger
from gateway.http.auth import KeyFinder, KeyRing
from gateway.http.connections import DeadlineRunner, Handler
from gateway.http.endpoints import endpoint, leave_expectations
from gateway.http.framing import frame, straight
from gateway.http.limits import Seats
from gateway.http.meters import Meters
from gateway.http.openapi import describe
from gateway.http.options import HttpOptions
from gateway.http.patience import Endings
from gateway.http.queries import Query
from gateway.http.responses import Reply, on_prepare
from gateway.http.routes import AnyRoute, Ask, Desk, NoBody, Route
from gateway.http.table import routes
from gateway.rates.buckets import Buckets
from gateway.rates.ledger import Ledger
from gateway.telemetry.figures import Figures

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

OPTIONS: web.AppKey[HttpOptions] = web.AppKey("options", HttpOptions)

DESK: web.AppKey[Desk] = web.AppKey("desk", Desk)
"""What all requests share, also those for pages."""

STRAIGHT: web.AppKey[dict[tuple[str, str], Handler]] = web.AppKey("straight", dict)
"""What can be found without the router: the calls on fixed paths."""

_ANY_BUT_IMPORT = "{thread:(?!import$)[^{}/]+}"
"""`/v1/threads/import` is a place of its own: no thread may seem to be called so."""


def make_app(
    gateway: Gateway,
    keys: KeyFinder,
    options: HttpOptions,
    *,
    registry: CollectorRegistry | None = None,
    callbacks: Callbacks | None = None,
    purger: Purger | None = None,
    events: Events | None = None,
    figures: Figures | None = None,
    ledger: Ledger | None = None,
) -> web.Application:
    """Put the table on an application. Others may add routes: they get the same frame."""
    ledger = ledger or Ledger()
    desk = Desk(
        gateway=gateway,
        ring=KeyRing(keys, options, ledger=ledger),
        rates=Buckets(ledger, "key", rate=options.requests_per_second, burst=options.burst),
        ledger=ledger,
        seats=Seats(options.streams_per_key),
        endings=Endings(),
        meters=Meters(registry, figures),
        options=options,
        callbacks=callbacks,
        purger=purger,
        events=events,
    )
    app = web.Application(middlewares=[frame(desk.meters)], client_max_size=options.max_body)
    app[OPTIONS] = options
    app[DESK] = desk
    app[STRAIGHT] = {}
    app.on_response_prepare.append(on_prepare)
    app.on_shutdown.append(desk.endings.close)
    table = routes(metrics=options.metrics)
    for route in [*table, _openapi_route(table)]:
        _add(app, route, desk)
    return app


async def run_app(app: web.Application, host: str, port: int) -> DeadlineRunner:
    """Serve an application of `make_app`; its `cleanup` ends it, `addresses` tells the port."""
    found_at_once = app[STRAIGHT]
    runner = DeadlineRunner(app, app[OPTIONS], found_at_once)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except BaseException:
        await runner.cleanup()
        raise
    return runner


def _add(app: web.Application, route: AnyRoute, desk: Desk) -> None:
    path = route.path.replace("{thread}", _ANY_BUT_IMPORT)
    handler = endpoint(route, desk)
    resource = app.router.add_resource(path)
    methods = ["GET", "HEAD"] if route.method == "GET" else [route.method]
    for method in methods:  # RFC 9110, section 9.1: GET brings HEAD with it
        resource.add_route(method, handler, expect_handler=leave_expectations)
        if not route.has_id:
            app[STRAIGHT][method, route.path] = straight(desk.meters, handler)


def _openapi_route(table: list[AnyRoute]) -> Route[Query, NoBody]:
    @cache
    def document() -> str:
        return json.dumps(describe(table, version=version("parley")))

    async def openapi(_ask: Ask[Query, NoBody]) -> Reply:
        return Reply(text=document())

    return Route(
        method="GET",
        path="/openapi.json",
        summary="This description",
        run=openapi,
        query=Query,
        body=NoBody,
        gives=None,
    )
