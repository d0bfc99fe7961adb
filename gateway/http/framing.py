"""The frame around every request: its id, its errors as problems, its log line, its count.

A log line holds ids, the route as declared and figures. An id from the path is logged only if the
request succeeded: before that it is just something that a stranger typed.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field

import structlog
from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware

from gateway.http.connections import DeadlineHandler, Handler
from gateway.http.meters import Meters
from gateway.http.problems import (
    INTERNAL,
    MALFORMED_REQUEST,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    TOO_LARGE,
    TOO_SLOW,
    Problem,
    problem_of,
)
from gateway.http.responses import REQUEST_ID, problem_response, request_id_in
from gateway.telemetry.logs import REQUEST, noting

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Entry:
    """What the log and the meters will say of a request, as far as it is known."""

    method: str
    route: str = "other"
    """As declared."""
    key_id: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)


ENTRY: web.RequestKey[Entry] = web.RequestKey("entry", Entry)
"""Where a request keeps its entry."""

LOST: web.AppKey[Handler] = web.AppKey("lost", object)  # type: ignore[arg-type]  # a callable
"""Who answers people that ask for an address where nothing is."""

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_ENDS_CONNECTION = {MALFORMED_REQUEST, TOO_SLOW, TOO_LARGE}


def frame(meters: Meters) -> Middleware:
    """Make the middleware, for what the application's router finds."""

    @web.middleware
    async def framed(request: web.Request, handler: Handler) -> web.StreamResponse:
        entry = Entry(request.method, ids=request.match_info)
        return await _framed(meters, handler, request, entry)

    return framed


def straight(meters: Meters, handler: Handler) -> Handler:
    """Put the frame around one handler, for what is found without the router."""

    def framed(request: web.Request) -> Awaitable[web.StreamResponse]:
        return _framed(meters, handler, request, Entry(request.method))

    return framed


async def _framed(
    meters: Meters, handler: Handler, request: web.Request, entry: Entry
) -> web.StreamResponse:
    started = time.perf_counter()
    request[ENTRY] = entry
    request_id = request[REQUEST_ID] = request_id_in(request.headers)
    before = REQUEST.set(request_id)
    try:
        response = await _answer(request, handler)
        _enter(meters, entry, response.status, time.perf_counter() - started)
    finally:
        REQUEST.reset(before)
    return response


async def _answer(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPMethodNotAllowed as exc:
        allowed = ", ".join(sorted(exc.allowed_methods))
        return _tell(request, Problem(METHOD_NOT_ALLOWED, headers={"Allow": allowed}))
    except web.HTTPNotFound:
        if LOST in request.app and _is_person(request):
            return await request.app[LOST](request)
        return _tell(request, Problem(NOT_FOUND, "There is nothing at this address."))
    except web.HTTPException:
        raise  # a redirect, or another channel's own answer
    except ConnectionError:
        return _tell(request, Problem(MALFORMED_REQUEST))  # nobody is there to read it
    except Exception as exc:  # noqa: BLE001 (told apart there)
        return _tell(request, _problem(exc))


def _is_person(request: web.Request) -> bool:
    """Tell whether somebody with a browser has typed an address; the API's are for programs."""
    reads_pages = "text/html" in request.headers.get("Accept", "")
    return reads_pages and request.method == hdrs.METH_GET and not request.path.startswith("/v1/")


def _problem(exc: Exception) -> Problem:
    problem = problem_of(exc)
    if problem.kind is INTERNAL:
        log.error("request failed", error=type(exc).__name__, exc_info=exc)
    elif problem.kind.status > INTERNAL.status:
        log.warning("store trouble", error=type(exc).__name__)
    return problem


def _tell(request: web.Request, problem: Problem) -> web.Response:
    response = problem_response(problem, request[REQUEST_ID])
    if problem.kind in _ENDS_CONNECTION:
        response.force_close()
    if problem.kind is TOO_SLOW and isinstance(request.protocol, DeadlineHandler):
        request.protocol.stop_reading_body()
    return response


def _enter(meters: Meters, entry: Entry, status: int, seconds: float) -> None:
    method = entry.method if entry.method in _METHODS else "other"
    route = entry.route
    meters.count(method=method, route=route, status=status, seconds=seconds)
    write = noting()
    if write is None:
        return
    ids = entry.ids if route != "other" and status < 400 else {}  # noqa: PLR2004 (RFC 9110: well)
    fields = {
        "method": method,
        "route": route,
        "status": status,
        "ms": round(seconds * 1000, 1),
        "key_id": entry.key_id,
        **ids,
    }
    write("request", fields)
