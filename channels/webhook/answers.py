"""What a webhook's sender is told: JSON, or a problem as RFC 9457 has it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from channels.web_routes import WebResponse

_JSON = {"Content-Type": "application/json"}
_PROBLEM = {"Content-Type": "application/problem+json"}


def told(effect: str, thread: str = "", *, status: int = 202) -> WebResponse:
    """Tell what became of a delivery."""
    body: dict[str, Any] = {"effect": effect, "thread": thread or None}
    return WebResponse(status=status, body=to_json(body), headers=_JSON)


def problem(status: int, name: str, title: str, detail: str = "") -> WebResponse:
    """Tell why not."""
    body = {
        "type": f"/problems/{name}",
        "title": title,
        "status": status,
        "detail": detail or f"{title}.",
    }
    return WebResponse(status=status, body=to_json(body), headers=_PROBLEM)


UNPROVEN = problem(401, "unauthenticated", "The request does not prove who sent it")
"""The same for whatever is wrong: which part it was, only the operator's log says."""
UNKNOWN = problem(404, "not-found", "There is no such thing", "There is no hook of this name.")


def slow_down(seconds: float) -> WebResponse:
    """Tell when to come again."""
    told = problem(429, "rate-limited", "Too many requests", "This hook is called too often.")
    return replace(told, headers={**_PROBLEM, "Retry-After": str(max(math.ceil(seconds), 1))})


def malformed(detail: str) -> WebResponse:
    """Tell that the body can't be read."""
    return problem(400, "malformed-json", "The body is not JSON", detail)


def unmapped(detail: str) -> WebResponse:
    """Tell that nothing can be made of the payload."""
    return problem(422, "invalid", "The request does not fit", detail)


def refused(detail: str) -> WebResponse:
    """Tell that the thread does not take it."""
    return problem(409, "refused", "The thread does not take this now", detail)
