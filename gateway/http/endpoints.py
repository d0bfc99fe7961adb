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
from gateway.http.framing import KEY_ID, ROUTE, Handler
from gateway.http.problems import RATE_LIMITED, misfit, slow_down
from gateway.http.queries import parse_idempotency_key, parse_path, parse_query
from gateway.http.responses import Reply, reply_response
from gateway.http.routes import NOBODY, AnyRoute, Ask, Desk, RawBody
from storage.values import ApiKey


def endpoint(route: AnyRoute, desk: Desk) -> Handler:
    """Make the handler of a route."""

    async def handle(request: web.Request) -> web.StreamResponse:
        request[ROUTE] = route.path
        key = await _admit(route, desk, request)
        answer = await route.run(await _ask(route, desk, request, key))
        return reply_response(answer) if isinstance(answer, Reply) else answer

    return handle


async def leave_expectations(_request: web.Request) -> None:
    """Say no 100 Continue yet: `read_body` does, when the body is wanted."""


async def _admit(route: AnyRoute, desk: Desk, request: web.Request) -> ApiKey:
    if not route.scopes:
        return NOBODY
    sent = request.headers.getall("Authorization", [""])
    key = await desk.ring.owner(sent[0] if len(sent) == 1 else "", request.remote or "")
    request[KEY_ID] = key.id
    require_scope(key, route.scopes)
    wait = desk.rates.take(key.id)
    if wait:
        raise slow_down(RATE_LIMITED, "This key has asked too often; wait a moment.", wait)
    return key


async def _ask(
    route: AnyRoute, desk: Desk, request: web.Request, key: ApiKey
) -> Ask[BaseModel, BaseModel]:
    by_key = route.idempotent_by_key
    return Ask(
        desk=desk,
        request=request,
        key=key,
        id=parse_path(request.match_info),
        query=parse_query(request.query, route.query) if route.scopes else route.query(),
        idempotency_key=parse_idempotency_key(request.headers) if by_key else "",
        body=await _body(route, desk, request),
    )


async def _body(route: AnyRoute, desk: Desk, request: web.Request) -> BaseModel:
    view: type[BaseModel] = route.body
    if not route.reads_body:
        return view()
    raw = view is RawBody
    options = desk.options
    sent = await read_body(request, options, options.max_import if raw else options.max_body)
    if not sent and not route.body_needed:
        return view()
    if not sent:
        raise misfit("body", "is missing")
    value: Any = parse_json(sent)
    return RawBody(text=sent.decode()) if raw else fit(value, view)
