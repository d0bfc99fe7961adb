"""What every channel is: where people are, as a small adapter.

A channel never runs an agent, never looks into the store, and doesn't know the other channels.
What it can't send it says with one of two errors: try later, or give up. A new channel is one
folder, and passes `tests/contract/test_channels.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from agent_core.errors import ParleyError
from agent_core.json_values import JsonObject
from channels.intake import Gatehouse
from channels.outgoing import Outgoing
from channels.web_routes import WebHandler


class ChannelError(ParleyError):
    """A message could not be sent."""


class TryLater(ChannelError):
    """Worth another try, perhaps after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class GiveUp(ChannelError):
    """No try will ever succeed here: record it, and go to the person's next address."""

    def __init__(self, message: str, *, notice: str = "") -> None:
        """Take what the operators must hear of it, where they must."""
        super().__init__(message)
        self.notice = notice


class NoSuchAddress(GiveUp):
    """The address itself names nobody this channel can reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What the gateway must know of a channel; what it can't do, the channel degrades itself."""

    shows_questions: bool = True
    """It renders questions, so it is given them; `web` only points at the log."""
    edits: bool = False
    """It can change what it sent, so a settled question needs no second message."""
    follows: bool = False
    """A program's, not a person's: each thing that happens is sent to it, also that a question was
    settled; nothing there is ever edited, or sent to somebody else instead."""
    largest_body: int = 0
    """In bytes: what its routes under its own name take, where that is more than is usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The receipt of a message: how to find it again."""

    receipt: JsonObject
    place: str = ""
    """The conversation that it opened: words said there from now on belong to the thread."""
    unseen_by: tuple[str, ...] = ()
    """Those of `Outgoing.asked` who can't see it there, as far as the channel knows."""


class Live(Protocol):
    """Shows that an agent works, and its words as they come. Never waits, and never fails."""

    def working(self, thread: str, address: str) -> None:
        """Hear that the agent has begun to work on something that was said there."""
        ...

    def wrote(self, thread: str, address: str, text: str) -> None:
        """Hear a piece of what the model is saying."""
        ...

    def rested(self, thread: str, address: str) -> None:
        """Hear that the agent has come to rest: the rest comes through the outbox."""
        ...


class Channel(Protocol):
    """An adapter to where people are."""

    name: str
    """The first part of its addresses, as in `slack:T1:C1:1700000000.000100`."""
    capabilities: Capabilities
    live: Live | None
    """For a channel that can show an agent at work."""

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Give what it serves over HTTP, by method and path."""
        ...

    async def start(self, house: Gatehouse, *, receives: bool = True) -> None:
        """Get ready to send, and to receive: a process of the role `worker` only sends."""
        ...

    async def stop(self) -> None:
        """Receive no more, and let go of connections."""
        ...

    async def send(self, message: Outgoing) -> Sent:
        """Send it, and give a receipt by which it can be found again."""
        ...

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Show in what was sent before how the question ended (edit it, or follow up)."""
        ...

    async def health(self) -> str:
        """Give nothing when all is well, else what is wrong, in words for the operator."""
        ...
