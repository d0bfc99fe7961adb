"""What a route is: one declaration that routing, the checks and `/openapi.json` are made from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from channels.occurrences import Events
from gateway.control.callbacks import Callbacks
from gateway.control.service import Gateway, Purger
from gateway.http.auth import KeyRing
from gateway.http.limits import Seats
from gateway.http.meters import Meters
from gateway.http.options import HttpOptions
from gateway.http.patience import Endings
from gateway.http.responses import Reply
from gateway.rates.buckets import Buckets
from gateway.rates.ledger import Ledger
from storage.values import ApiKey, KeyId, Scope

Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]

QueryT = TypeVar("QueryT", bound=BaseModel)
BodyT = TypeVar("BodyT", bound=BaseModel)

NOBODY = ApiKey(id=KeyId(""), name="", hash="", scopes=(), created_at=0)  # type: ignore[arg-type]
"""Who asks on the routes that need no key."""


class NoBody(BaseModel):
    """Nothing is needed; an empty object is as good."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RawBody(BaseModel):
    """JSON that goes on as the text that it came as."""

    text: str


@dataclass(frozen=True, slots=True)
class Desk:
    """What all requests share."""

    gateway: Gateway
    ring: KeyRing
    rates: Buckets
    ledger: Ledger
    """For the rates of others."""
    seats: Seats
    endings: Endings
    meters: Meters
    options: HttpOptions
    events: Events | None = None
    """Who waits for what happens outside; None where nobody can."""
    callbacks: Callbacks | None = None
    purger: Purger | None = None


@dataclass(slots=True, kw_only=True)  # not frozen: that more than doubles the cost of one
class Ask(Generic[QueryT, BodyT]):
    """One request, after every check: who asks, about what, with what."""

    desk: Desk
    request: web.Request
    key: ApiKey
    id: str
    """Of the thread or question in the path."""
    query: QueryT
    body: BodyT
    idempotency_key: str = ""

    @property
    def gateway(self) -> Gateway:
        """Who does it."""
        return self.desk.gateway

    @property
    def by(self) -> str:
        """Who asks, as the log will name them."""
        return self.key.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[QueryT, BodyT]):
    """One call of the API."""

    method: Method
    path: str
    summary: str
    run: Callable[[Ask[QueryT, BodyT]], Awaitable[Reply | web.StreamResponse]]
    query: type[QueryT]
    body: type[BodyT]
    gives: type[BaseModel] | None
    """The view that it answers with; None for plain text or free JSON."""
    scopes: tuple[Scope, ...] = ()
    """Any one of these is enough; none: no key is asked for."""
    body_needed: bool = False
    idempotent_by_key: bool = False
    status: tuple[int, ...] = (200,)
    problems: tuple[int, ...] = ()
    """Beside those that follow from the rest of the declaration."""
    content_types: tuple[str, ...] = ("application/json",)
    reads_last_event_id: bool = False

    @property
    def reads_body(self) -> bool:
        """Tell whether a body means anything here."""
        return self.method in {"POST", "PUT"}

    @property
    def has_id(self) -> bool:
        """Tell whether the path names a thread or a question."""
        return "{" in self.path

    def problem_statuses(self) -> list[int]:
        """List every problem that this call can give."""
        found = {400, *self.problems}
        found |= {401, 403, 422, 429, 503} if self.scopes else set()
        found |= {404} if self.has_id else set()
        found |= {408, 413, 415, 507} if self.reads_body else set()
        return sorted(found)


AnyRoute: TypeAlias = Route[Any, Any]
