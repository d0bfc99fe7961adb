"""One thread that is being watched: what the agent wrote, and how much of it stands in Slack."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from channels.slack.addresses import Conversation
from channels.slack.streams import LONGEST, Streamed


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """When to show what, in seconds."""

    status_after: float = 0.3
    """An agent that is done by then needs no status."""
    status_every: float = 90.0
    """Slack takes a status away after two minutes."""
    stream_after: float = 1.0
    """Words that are all there by then are posted at once."""
    append_every: float = 1.0
    grace: float = 15.0
    """How long a stream stays open for its result, once the agent has come to rest."""


@dataclass(eq=False, slots=True, kw_only=True)
class Show:
    """What is shown of one thread, from the moment that the agent begins to work."""

    thread: str
    address: str
    place: Conversation
    text: str = ""
    """What the agent wrote, as far as a stream would show it."""
    began_writing: float | None = None
    sent: int = 0
    """How much of the text stands in Slack."""
    ts: tuple[str, ...] = ()
    not_before: float = 0.0
    is_silent: bool = False
    """Its words are not shown: the workspace can't, or another process sees to it."""
    is_unsure: bool = False
    """A call got no answer: nobody knows what stands there."""
    is_resting: bool = False
    is_claimed: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    claimed: asyncio.Event = field(default_factory=asyncio.Event)
    calling: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_over(self) -> bool:
        """Tell whether there is nothing more to show."""
        return self.is_resting or self.is_claimed

    @property
    def waits_to_be_shown(self) -> bool:
        """Tell whether words are there that Slack has not got."""
        return not self.is_silent and self.sent < len(self.text)

    def add(self, text: str, now: float) -> None:
        """Hear more words; beyond what a stream can hold they are not kept."""
        if self.began_writing is None:
            self.began_writing = now
        was_shown = self.sent == len(self.text)
        self.text += text[: max(0, LONGEST - len(self.text))]
        if was_shown:
            self.changed.set()

    def claim(self) -> None:
        """Stop: the result is being sent."""
        self.is_claimed = True
        self.changed.set()
        self.claimed.set()

    def streamed(self) -> Streamed:
        """Give what stands in Slack."""
        return Streamed(
            address=self.address,
            channel=self.place.channel,
            ts=self.ts,
            text=None if self.is_unsure else self.text[: self.sent],
        )
