"""The frame around every request: its id, its errors as problems, its log line, its count.

A log line holds ids, the route as declared and figures. An id from the path is logged only if the
request succeeded: before that it is just something that a stranger typed.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import structlog
from aiohttp import web
from aiohttp.typedefs import Middleware

from gateway.http.connections import DeadlineHandler
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
from gateway.http.responses import problem_response, request_id_of

log = structlog.get_logger(__name__)

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]

ROUTE: web.RequestKey[str] = web.RequestKey("route", str)
"""Where a request keeps the route as declared."""

KEY_ID: web.RequestKey[str] = web.RequestKey("key_id", str)
"""Where a request keeps the id of the key that it came with."""

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_ENDS_CONNECTION = {MALFORMED_REQUEST, TOO_SLOW, TOO_LARGE}


def frame(meters: Meters) -> Middleware:
    """Make the middleware."""

    @web.middleware
    async def framed(request: web.Request, handler: Handler) -> web.StreamResponse:
        started = time.perf_counter()
        with structlog.contextvars.bound_contextvars(request=request_id_of(request)):
            response = await _answer(request, handler)
            _note(meters, request, response, time.perf_counter() - started)
        return response

    return framed


async def _answer(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPMethodNotAllowed as exc:
        allowed = ", ".join(sorted(exc.allowed_methods))
        return _tell(request, Problem(METHOD_NOT_ALLOWED, headers={"Allow": allowed}))
    except web.HTTPNotFound:
        return _tell(request, Problem(NOT_FOUND, "There is nothing at this address."))
    except web.HTTPException:
        raise  # a redirect, or another channel's own answer
    except ConnectionError:
        return _tell(request, Problem(MALFORMED_REQUEST))  # nobody is there to read it
    except Exception as exc:  # noqa: BLE001 (told apart there)
        return _tell(request, _problem(exc))


def _problem(exc: Exception) -> Problem:
    problem = problem_of(exc)
    if problem.kind is INTERNAL:
        log.error("request failed", error=type(exc).__name__, exc_info=exc)
    elif problem.kind.status > INTERNAL.status:
        log.warning("store trouble", error=type(exc).__name__)
    return problem


def _tell(request: web.Request, problem: Problem) -> web.Response:
    response = problem_response(problem, request_id_of(request))
    if problem.kind in _ENDS_CONNECTION:
        response.force_close()
    if problem.kind is TOO_SLOW and isinstance(request.protocol, DeadlineHandler):
        request.protocol.stop_reading_body()
    return response


def _note(
    meters: Meters, request: web.Request, response: web.StreamResponse, seconds: float
) -> None:
    route = request.get(ROUTE, "other")
    method = request.method if request.method in _METHODS else "other"
    meters.count(method=method, route=route, status=response.status, seconds=seconds)
    ids = dict(request.match_info) if route != "other" and response.status < 400 else {}  # noqa: PLR2004
    log.info(
        "request",
        method=method,
        route=route,
        status=response.status,
        ms=round(seconds * 1000, 1),
        key_id=request.get(KEY_ID, ""),
        **ids,
    )
