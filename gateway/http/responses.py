"""Responses: views and problems as JSON, and the headers that every response carries.

What can be written at once is (`Ready`); aiohttp's own Response does for the rest: HTTP/1.0, HEAD,
and whatever closes the connection.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

from aiohttp import hdrs, web
from aiohttp.http import HttpVersion11
from pydantic import BaseModel
from pydantic_core import to_json

from gateway.http.problems import Problem

REQUEST_ID: web.RequestKey[str] = web.RequestKey("request_id", str)
"""Where a request keeps its id."""

_chance = random.Random()  # noqa: S311 (names of requests are no secrets)
_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""A page that needs another one sets its own."""

_PROBLEM = "application/problem+json"
_ALWAYS = "".join(f"{name}: {value}\r\n" for name, value in _HEADERS.items())
_LINES = len(_HEADERS) + 6
"""Of a head without headers of its own: the status, type, length, date, id, and the empty line."""


@dataclass(slots=True, kw_only=True)  # not frozen: that more than doubles the cost of one
class Reply:
    """What a route says: a view or ready text, and how."""

    view: BaseModel | None = None
    text: str = ""
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Ready(web.StreamResponse):
    """A response that is written already, and only has to be sent.

    aiohttp collects headers, asks whoever wants to add some, and writes them out: for each
    response, though nearly all of it never changes.
    """

    def __init__(self, status: int, sent: bytes) -> None:
        super().__init__(status=status)
        self._sent = sent

    @property
    def keep_alive(self) -> bool:
        """Whoever wants the connection closed gets another response."""
        return True

    async def prepare(self, request: web.BaseRequest) -> None:
        """Send it."""
        await request.writer.write_eof(self._sent)

    async def write_eof(self, data: bytes = b"") -> None:
        """Do nothing: it is sent."""


class Nameless(web.Response):
    """A response that does not name the software that sends it."""

    async def _prepare_headers(self) -> None:
        await super()._prepare_headers()
        self.headers.popall("Server", None)


def reply_response(reply: Reply, request: web.BaseRequest, request_id: str) -> web.StreamResponse:
    """Write a reply."""
    body, headers = _reply_body(reply), reply.headers
    if is_usual(request) and _HEADERS.keys().isdisjoint(headers):
        sent = _sent(reply.status, reply.content_type, headers, request_id, body)
        return Ready(reply.status, sent)
    return _whole(reply.status, reply.content_type, headers, request_id, body)


def problem_response(problem: Problem, request_id: str) -> Nameless:
    """Write a problem, as RFC 9457 has it."""
    body = to_json(problem.body(request_id))
    return _whole(problem.kind.status, _PROBLEM, problem.headers, request_id, body)


def is_usual(request: web.BaseRequest) -> bool:
    """Tell whether nothing about the response depends on the request."""
    return (
        request.version == HttpVersion11 and request.keep_alive and request.method != hdrs.METH_HEAD
    )


def _whole(
    status: int, content_type: str, headers: Mapping[str, str], request_id: str, body: bytes
) -> Nameless:
    common = {"Content-Type": content_type, "X-Request-Id": request_id}
    return Nameless(body=body, status=status, headers={**common, **_HEADERS, **headers})


def _reply_body(reply: Reply) -> bytes:
    view = reply.view
    if view is None:
        return reply.text.encode()
    return view.__pydantic_serializer__.to_json(view, by_alias=True)


def _sent(
    status: int, content_type: str, headers: Mapping[str, str], request_id: str, body: bytes
) -> bytes:
    own = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    head = (
        f"{_status_line(status)}Content-Type: {content_type}\r\n{own}"
        f"Content-Length: {len(body)}\r\n{_date(int(time.time()))}{_ALWAYS}"
        f"X-Request-Id: {request_id}\r\n\r\n"
    )
    if head.count("\n") != _LINES + len(headers):
        raise ValueError("a header holds a line break")  # and would be two: never what is meant
    return head.encode() + body


@lru_cache(100)
def _status_line(status: int) -> str:
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"


@lru_cache(1)
def _date(second: int) -> str:
    return f"Date: {formatdate(second, usegmt=True)}\r\n"


def new_request_id() -> str:
    """Name a request. It is no secret, so chance that can be foreseen is good enough."""
    return f"req_{_chance.getrandbits(96):024x}"


def request_id_of(request: web.Request) -> str:
    """Give the request's id: the client's own if it is sane, so that both logs speak of one."""
    if REQUEST_ID not in request:
        request[REQUEST_ID] = request_id_in(request.headers)
    return request[REQUEST_ID]


def request_id_in(headers: Mapping[str, str]) -> str:
    """Give the id that a request's headers hold, or a new one."""
    sent = headers.get("X-Request-Id", "")
    return sent if sent and _SANE_ID.fullmatch(sent) else new_request_id()


def secure(response: web.StreamResponse) -> None:
    """Add what every response carries, where it has nothing of its own."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)


async def on_prepare(request: web.Request, response: web.StreamResponse) -> None:
    """Finish every response's headers, also those that aiohttp made by itself."""
    secure(response)
    response.headers.setdefault("X-Request-Id", request_id_of(request))
    response.headers.popall("Server", None)
