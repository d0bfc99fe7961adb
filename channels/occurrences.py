"""Something that happened outside, which a thread may wait for: known by its key alone.

A channel that hears of it hands it to `Events`; whoever waits for the key, now or later, gets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from agent_core.json_values import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """It happened."""

    key: str
    """What it is known by, as in `pause_for(type="event", key=…)`."""
    delivery: str
    """The same for every copy of the same report, so that a second one has no second effect."""
    value: JsonObject
    how: str = ""
    """How the reporter is known, for the audit: `webhook ci (github)`, `api key deploys`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurred:
    """What became of a report. It is durable by now."""

    effect: Literal["resumed", "kept", "late", "full", "conflict"]
    """`resumed`: a thread has it. `kept`: nobody waits for it yet. `late`: nobody waits any more;
    it is kept all the same. `full` and `conflict`: refused, see `words`.
    """
    thread: str = ""
    question: str = ""
    words: str = ""


class Events(Protocol):
    """Who waits for what."""

    async def occur(self, occurrence: Occurrence) -> Occurred:
        """Hand it to the one who waits for its key, or keep it.

        Raises a StoreError or TooBusy when that could not be now: report it again, then.
        """
        ...
