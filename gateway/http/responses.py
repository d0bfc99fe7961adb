"""Responses: views and problems as JSON, and the headers that every response carries."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web
from pydantic import BaseModel
from pydantic_core import to_json

from gateway.http.problems import Problem

REQUEST_ID: web.RequestKey[str] = web.RequestKey("request_id", str)
"""Where a request keeps its id."""

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""A page that needs another one sets its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a route says: a view or ready text, and how."""

    view: BaseModel | None = None
    text: str = ""
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def reply_response(reply: Reply) -> web.Response:
    """Write a reply."""
    text = reply.view.model_dump_json(by_alias=True) if reply.view else reply.text
    return web.Response(
        body=text.encode(),
        status=reply.status,
        headers={"Content-Type": reply.content_type, **reply.headers},
    )


def problem_response(problem: Problem, request_id: str) -> web.Response:
    """Write a problem, as RFC 9457 has it."""
    return web.Response(
        body=to_json(problem.body(request_id)),
        status=problem.kind.status,
        headers={
            "Content-Type": "application/problem+json",
            "X-Request-Id": request_id,
            **problem.headers,
        },
    )


def new_request_id() -> str:
    """Name a request."""
    return f"req_{secrets.token_hex(12)}"


def request_id_of(request: web.Request) -> str:
    """Give the request's id: the client's own if it is sane, so that both logs speak of one."""
    if REQUEST_ID not in request:
        sent = request.headers.get("X-Request-Id", "")
        request[REQUEST_ID] = sent if _SANE_ID.fullmatch(sent) else new_request_id()
    return request[REQUEST_ID]


def secure(response: web.StreamResponse) -> None:
    """Add what every response carries, where it has nothing of its own."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)


async def on_prepare(request: web.Request, response: web.StreamResponse) -> None:
    """Finish every response's headers, also those that aiohttp made by itself."""
    secure(response)
    response.headers.setdefault("X-Request-Id", request_id_of(request))
    response.headers.popall("Server", None)
