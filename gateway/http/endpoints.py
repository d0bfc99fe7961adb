"""From a declared route to what aiohttp calls: the checks, always in the same order.

Key, scope, rate; then the path, the query and the headers; the body last. So a stranger learns
nothing, costs one look-up, and can't make us read what they send.
"""

from __future__ import annotations

from typing import Any

from aiohttp import web
from pydantic import BaseModel

from gateway.http.auth import require_scope
from gateway.http.bodies import fit, parse_json, read_body
from gateway.http.connections import Handler
from gateway.http.framing import ENTRY, Entry
from gateway.http.problems import RATE_LIMITED, misfit, slow_down
from gateway.http.queries import parse_idempotency_key, parse_path, parse_query
from gateway.http.responses import Reply, reply_response
from gateway.http.routes import NOBODY, AnyRoute, Ask, Desk, RawBody
from gateway.telemetry.logs import REQUEST
from storage.values import ApiKey


def endpoint(route: AnyRoute, desk: Desk) -> Handler:
    """Make the handler of a route, with all bound that can be bound ahead."""
    no_query: BaseModel = route.query()
    options = desk.options
    most = options.max_import if route.body is RawBody else options.max_body

    async def handle(request: web.Request) -> web.StreamResponse:
        entry = request[ENTRY]
        entry.route = route.path
        key = await _admit(route, desk, request, entry)
        name = parse_path(request.match_info) if route.has_id else ""
        asks = route.scopes and "?" in request.raw_path
        query = parse_query(request.query, route.query) if asks else no_query
        by_key = route.idempotent_by_key
        idempotency_key = parse_idempotency_key(request.headers) if by_key else ""
        body = _body(route, await read_body(request, options, most) if route.reads_body else b"")
        answer = await route.run(
            Ask(
                desk=desk,
                request=request,
                key=key,
                id=name,
                query=query,
                idempotency_key=idempotency_key,
                body=body,
            )
        )
        if isinstance(answer, Reply):
            return reply_response(answer, request, REQUEST.get())
        return answer

    return handle


async def leave_expectations(_request: web.Request) -> None:
    """Say no 100 Continue yet: `read_body` does, when the body is wanted."""


async def _admit(route: AnyRoute, desk: Desk, request: web.Request, entry: Entry) -> ApiKey:
    if not route.scopes:
        return NOBODY
    every = request.headers.getall("Authorization", [""])
    sent = every[0] if len(every) == 1 else ""
    key = desk.ring.believed(sent) or await desk.ring.owner(sent, request.remote or "")
    entry.key_id = key.id
    require_scope(key, route.scopes)
    wait = await desk.rates.take(key.id)
    if wait:
        raise slow_down(RATE_LIMITED, "This key has asked too often; wait a moment.", wait)
    return key


def _body(route: AnyRoute, sent: bytes) -> BaseModel:
    view: type[BaseModel] = route.body
    if not sent and not route.body_needed:
        return view()
    if not sent:
        raise misfit("body", "is missing")
    value: Any = parse_json(sent)
    return RawBody(text=sent.decode()) if view is RawBody else fit(value, view)
