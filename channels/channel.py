"""What every channel is: where people are, as a small adapter.

A channel never runs an agent, never looks into the store, and doesn't know the other channels.
What it can't send it says with one of two errors: try later, or give up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agent_core.errors import ParleyError
from agent_core.json_values import JsonObject


class ChannelError(ParleyError):
    """A message could not be sent."""


class TryLater(ChannelError):
    """Worth another try, perhaps after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class GiveUp(ChannelError):
    """No try will ever succeed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One message to one address; `id` is the same for every try, so a channel can look first."""

    id: str
    thread: str
    address: str
    body: JsonObject
    attempt: int = 1


class Channel(Protocol):
    """An adapter to where people are."""

    name: str
    """The first part of its addresses, as in `web:th_1`."""

    async def send(self, message: Outgoing) -> JsonObject:
        """Send it, and give a receipt by which it can be found again."""
        ...
