"""One thing that Slack tells the app, and each try at it. Data only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from channels.slack.double.records import Payload

Kind = Literal["events_api", "interactive", "slash_commands"]


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One try: what came back, or why nothing did."""

    number: int
    started: float
    took: float = 0.0
    over: Literal["http", "socket"] = "http"
    status: int | None = None
    response: Payload = field(default_factory=dict)
    text: str = ""
    failure: str | None = None
    """`http_timeout`, `http_error`, `connection_failed`: Slack's word in X-Slack-Retry-Reason."""
    no_retry: bool = False


@dataclass(slots=True, kw_only=True)
class Delivery:
    """An event, interaction or command on its way to the app."""

    kind: Kind
    payload: Payload
    attempts: list[Attempt] = field(default_factory=list)
    is_done: bool = False
    """True when the app has acknowledged it, or when Slack has given up."""

    @property
    def last(self) -> Attempt:
        """Give the latest try."""
        return self.attempts[-1]

    @property
    def acked(self) -> bool:
        """Say whether the app has taken it."""
        return bool(self.attempts) and self.last.failure is None

    @property
    def response(self) -> Payload:
        """Give what the app answered, as JSON; empty for an empty answer."""
        return self.last.response

    @property
    def status(self) -> int | None:
        """Give the HTTP status of the latest answer."""
        return self.last.status

    @property
    def event(self) -> Payload:
        """Give the inner event, for an event."""
        event: Payload = self.payload.get("event", {})
        return event
