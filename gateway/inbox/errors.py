"""Errors as pages: what happened, in words, and what to do next. Never JSON."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from gateway.http.problems import Problem
from gateway.http.responses import REQUEST_ID
from gateway.inbox.answers import Page
from gateway.inbox.signing.ways import sign_in_address
from gateway.inbox.visitor import Visitor

_TITLES: Final = {
    400: "This can't be read",
    401: "Please sign in",
    403: "This is not for you",
    404: "Nothing here",
    405: "This can't be done here",
    408: "That took too long",
    409: "Something has changed",
    410: "It is too late",
    413: "That is too much",
    415: "This can't be read",
    422: "This does not fit",
    429: "A moment, please",
    500: "Something went wrong",
    503: "Not just now",
    507: "There is no room left",
}
_OURS: Final = 500


def error_page(problem: Problem, http: web.Request, visitor: Visitor) -> Page:
    """Make the page of a problem."""
    status = problem.kind.status
    again = http.path_qs if http.method in {"GET", "HEAD"} else "/"
    return Page(
        "error.html",
        {
            "status": status,
            "title": _TITLES.get(status, problem.kind.title),
            "words": problem.detail or f"{problem.kind.title}.",
            "instance": http[REQUEST_ID] if status >= _OURS else "",
            "sign_in": "" if visitor.is_somebody else sign_in_address(again),
        },
        status=status,
        is_error=True,
        headers={
            name: value
            for name, value in problem.headers.items()
            if name in {"Allow", "Retry-After"}
        },
    )
