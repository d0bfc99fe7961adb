"""Errors as RFC 9457 problem details: every kind that there is, and which error becomes which.

A kind's name is its `type` and never changes; titles and details are for people. What the sender
did is told in full; what went wrong inside is told by its kind and the request's id alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_core import errors as core
from agent_core.loop.journal import Overtaken
from channels.callback.addresses import BadCallback
from gateway.control import service
from storage import errors as store


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem."""

    name: str
    status: int
    title: str


MALFORMED_REQUEST = Kind("malformed-request", 400, "The request is not valid HTTP")
MALFORMED_JSON = Kind("malformed-json", 400, "The body is not JSON")
UNAUTHENTICATED = Kind("unauthenticated", 401, "A valid API key is needed")
MISSING_SCOPE = Kind("missing-scope", 403, "The key may not do this")
MAY_NOT_DECIDE = Kind("may-not-decide", 403, "Somebody else must decide this")
NOT_FOUND = Kind("not-found", 404, "There is no such thing")
METHOD_NOT_ALLOWED = Kind("method-not-allowed", 405, "This method is not offered here")
TOO_SLOW = Kind("too-slow", 408, "The body came too slowly")
REFUSED = Kind("refused", 409, "The thread does not take this now")
WRONG_STATUS = Kind("wrong-status", 409, "The thread's status does not allow this")
ALREADY_SETTLED = Kind("already-settled", 409, "The question was answered before")
ALREADY_VOTED = Kind("already-voted", 409, "The same person counts once")
TOO_LATE = Kind("too-late", 409, "What was approved has begun to run")
IDEMPOTENCY_CONFLICT = Kind("idempotency-conflict", 409, "The key stands for another request")
EVENTS_FULL = Kind("events-full", 409, "Too many events of this key are kept")
ALREADY_HERE = Kind("already-here", 409, "There is one of that id already")
QUESTION_CLOSED = Kind("question-closed", 410, "The question can no longer be answered")
TOO_LARGE = Kind("too-large", 413, "The body is too large")
UNSUPPORTED_MEDIA_TYPE = Kind("unsupported-media-type", 415, "The body must be plain JSON")
INVALID = Kind("invalid", 422, "The request does not fit")
WRONG_SHAPE = Kind("wrong-shape", 422, "The answer does not fit the question")
BAD_CURSOR = Kind("bad-cursor", 422, "The cursor did not come from this list")
BAD_CHECKPOINT = Kind("bad-checkpoint", 422, "This is not a thread that can be taken over")
RATE_LIMITED = Kind("rate-limited", 429, "Too many requests")
TOO_BUSY = Kind("too-busy", 429, "Too much is waiting already")
INTERNAL = Kind("internal", 500, "Something went wrong on our side")
STORE_BUSY = Kind("store-busy", 503, "The store is busy")
UNAVAILABLE = Kind("unavailable", 503, "The service can't serve just now")
STORE_FULL = Kind("store-full", 507, "There is no room left")

ERRORS: Mapping[type[Exception], Kind] = {
    BadCallback: INVALID,
    core.NotJson: INVALID,
    core.Refused: REFUSED,
    core.UnknownQuestion: NOT_FOUND,
    core.WrongShape: WRONG_SHAPE,
    core.AlreadySettled: ALREADY_SETTLED,
    core.MayNotDecide: MAY_NOT_DECIDE,
    core.AlreadyVoted: ALREADY_VOTED,
    core.TooLate: TOO_LATE,
    core.WrongStatus: WRONG_STATUS,
    core.CheckpointError: BAD_CHECKPOINT,
    service.NotFound: NOT_FOUND,
    service.IdempotencyConflict: IDEMPOTENCY_CONFLICT,
    service.AlreadyHere: ALREADY_HERE,
    service.TooBusy: TOO_BUSY,
    store.StoreError: UNAVAILABLE,
    store.UnknownThread: NOT_FOUND,
    store.ThreadKeyTaken: ALREADY_HERE,
    store.PlaceTaken: ALREADY_HERE,
    store.IdTaken: ALREADY_HERE,
    store.BadCursor: BAD_CURSOR,
    store.StoreBusy: STORE_BUSY,
    store.StoreFull: STORE_FULL,
    Overtaken: STORE_BUSY,
}
"""The nearest class in an error's family decides."""

_RETRY_AFTER = 1.0
_TOLD_APART = {UNAVAILABLE, STORE_BUSY, STORE_FULL}
"""What the operator's database says is not the sender's to read."""


@dataclass(eq=False)
class Problem(Exception):
    """A problem on its way to whoever asked."""

    kind: Kind
    detail: str = ""
    members: Mapping[str, Any] = field(default_factory=dict)
    """More that a program may want to read, beside the standard members."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> dict[str, Any]:
        """Give the problem's JSON; `instance` is the request, as it stands in the log."""
        return {
            "type": f"/problems/{self.kind.name}",
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail or f"{self.kind.title}.",
            "instance": request_id,
            **self.members,
        }


def problem_of(error: Exception) -> Problem:
    """Tell an error as a problem; one that nobody foresaw is ours, and says nothing of itself."""
    if isinstance(error, Problem):
        return error
    kind = next((ERRORS[one] for one in type(error).__mro__ if one in ERRORS), INTERNAL)
    if kind is INTERNAL:
        return Problem(kind)
    detail = "" if kind in _TOLD_APART else str(error)
    return Problem(kind, detail, headers=_retry_header(kind, error))


def slow_down(kind: Kind, detail: str, seconds: float) -> Problem:
    """Ask for a pause of that many seconds."""
    return Problem(kind, detail, headers={"Retry-After": _whole(seconds)})


def misfit(place: str, trouble: str) -> Problem:
    """Tell the one place of a request that does not fit."""
    return Problem(INVALID, f"{place}: {trouble}", {"errors": [{"at": place, "problem": trouble}]})


def _retry_header(kind: Kind, error: Exception) -> dict[str, str]:
    if kind.status not in {429, 503}:
        return {}
    return {"Retry-After": _whole(getattr(error, "retry_after", _RETRY_AFTER))}


def _whole(seconds: float) -> str:
    return str(max(1, math.ceil(seconds)))
