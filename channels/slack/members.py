"""Who is in a channel, so that those who are asked and are not there can be told elsewhere.

A help, never a condition: where Slack doesn't say, everybody counts as being there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from channels.channel import ChannelError
from channels.slack.addresses import Person, parse
from channels.slack.calling import Line

_log = logging.getLogger("parley.slack")

_KEPT_SECONDS: Final = 300.0
_PAGE: Final = 1000
_MOST_PAGES: Final = 5
"""In a larger channel nobody can be missed."""
_MOST: Final = 1_000


class Members:
    """The members of channels, as Slack has said lately."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with none."""
        self._now = now
        self._known: dict[str, tuple[float, frozenset[str] | None]] = {}

    async def absent(self, line: Line, people: Sequence[str]) -> tuple[str, ...]:
        """Give those of these people who can't see a channel."""
        places = {one: parse(one) for one in people}
        users = {
            one: place.user
            for one, place in places.items()
            if isinstance(place, Person) and place.team == line.team
        }
        if not users or line.channel.startswith("D"):
            return ()
        there = await self._members(line)
        if there is None:
            return ()
        return tuple(one for one, user in users.items() if user not in there)

    async def _members(self, line: Line) -> frozenset[str] | None:
        until, found = self._known.get(line.key, (0.0, None))
        if until > self._now():
            return found
        try:
            found = await _ask(line)
        except ChannelError as exc:
            _log.info("members unknown", extra={"error": str(exc)})
            found = None
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[line.key] = (self._now() + _KEPT_SECONDS, found)
        return found


async def _ask(line: Line) -> frozenset[str] | None:
    method, found, cursor = "conversations.members", set[str](), ""
    for _ in range(_MOST_PAGES):
        line.pace.check(method, line.key)
        asking = line.client.conversations_members(
            channel=line.channel, limit=_PAGE, cursor=cursor or None
        )
        page = await line.call(method, asking)
        found.update(str(one) for one in page.get("members") or ())
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return frozenset(found)
    return None
