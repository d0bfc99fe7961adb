"""Who wrote: name, email, and whether they are of our organisation, as Slack's directory says.

Asked for once an hour a person, and never waited for long: without the directory a payload's own
word counts, and a stranger stays one.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from weakref import WeakValueDictionary

from channels.channel import ChannelError
from channels.people import Actor
from channels.slack.clients import UNREACHABLE, Clients
from channels.slack.parsing.directory import called, described
from channels.slack.parsing.fields import Payload, part
from channels.slack.parsing.origin import Who

_KEPT_SECONDS: Final = 3_600.0
_FAILED_SECONDS: Final = 60.0
_PATIENCE_SECONDS: Final = 1.0
"""Slack wants its acknowledgement within three."""
_MOST: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    user: Payload
    """As `users.info` gives it; empty where it would not."""
    until: float
    actors: dict[Who, Actor] = field(default_factory=dict)
    """Who they are to us, by what a payload told: a person writes often."""


class People:
    """The people of every workspace, as far as we have met them."""

    def __init__(
        self,
        clients: Clients,
        *,
        now: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE_SECONDS,
    ) -> None:
        self._clients = clients
        self._now = now
        self._patience = patience
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._names: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._asking: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def actor(self, who: Who) -> Actor:
        """Say who it is, with what the directory adds."""
        key = (who.workspace, who.user)
        entry = self._entries.get(key)
        if entry is None or entry.until <= self._now():
            entry = await self._look_up(key)
        if who not in entry.actors:
            known = described(who, entry.user) if entry.user else who.actor()
            entry.actors[who] = replace(known, how="slack")
        return entry.actors[who]

    def names(self, team: str) -> Mapping[str, str]:
        """Give the names of those whom we have met, by their ids."""
        return self._names[team]

    async def _look_up(self, key: tuple[str, str]) -> _Entry:
        lock = self._asking.setdefault(key, asyncio.Lock())
        try:
            async with asyncio.timeout(self._patience), lock:
                entry = self._entries.get(key)  # somebody else may have asked meanwhile
                if entry is None or entry.until <= self._now():
                    entry = self._remembered(key, await self._ask(*key))
                return entry
        except TimeoutError:
            return self._remembered(key, {})

    async def _ask(self, team: str, user: str) -> Payload:
        try:
            client = await self._clients.client(team)
            said = await client.users_info(user=user)
        except (*UNREACHABLE, ChannelError):  # not allowed, or not now: it goes without
            return {}
        return part(said.data, "user") if isinstance(said.data, dict) else {}

    def _remembered(self, key: tuple[str, str], user: Payload) -> _Entry:
        until = self._now() + (_KEPT_SECONDS if user else _FAILED_SECONDS)
        entry = _Entry(user=user, until=until)
        if len(self._entries) >= _MOST:
            team, oldest = next(iter(self._entries))
            del self._entries[team, oldest]
            self._names[team].pop(oldest, None)
        self._entries[key] = entry
        if user:
            self._names[key[0]][key[1]] = called(user)
        return entry
