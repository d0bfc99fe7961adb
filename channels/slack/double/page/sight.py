"""What one person sees of a workspace, gathered for the template. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from channels.slack.double.records import Channel, Message, User, View
from channels.slack.double.team import Team
from channels.slack.double.world import World

_WORDS = {"processing": "is working…", "active": "", "suspended": "", "closed": ""}
"""A session's state, in words; a status of the older kind is words already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A message of the channel with its replies; or one that only this person sees."""

    ts: str
    messages: list[Message]
    status: str
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Who looks, and where."""

    team: Team
    me: User
    channel: Channel | None
    is_home: bool

    @property
    def threads(self) -> list[Thread]:
        """Give the channel's threads, oldest first, with what only this person sees among them."""
        if self.channel is None:
            return []
        private = [m for m in self.channel.ephemerals if m.ephemeral_to == self.me.id]
        private = [m for m in private if not m.deleted]
        threads = [
            self._thread(root, [m for m in private if m.thread_ts == root.ts])
            for root in self.channel.messages.values()
            if root.thread_ts in (None, root.ts) and not root.deleted
        ]
        loose = [m for m in private if m.thread_ts is None]
        threads += [Thread(ts=m.ts, messages=[m], status="", is_open=False) for m in loose]
        return sorted(threads, key=lambda thread: thread.ts)

    def _thread(self, root: Message, private: list[Message]) -> Thread:
        replies = [*self.team.replies(root.channel, root.ts), *private]
        said = [s.status for s in self.team.statuses if s.thread_ts == root.ts]
        status = _WORDS.get(said[-1], said[-1]) if said else ""
        messages = sorted(replies, key=lambda message: message.ts)
        return Thread(ts=root.ts, messages=messages, status=status, is_open=True)

    @property
    def modal(self) -> View | None:
        """Give the modal that this person has before them."""
        stack = self.team.modals.get(self.me.id, [])
        return stack[-1] if stack else None

    @property
    def people(self) -> list[User]:
        """Give those whom one can be."""
        return people(self.team)

    @property
    def names(self) -> dict[str, str]:
        """Give what people and channels are called."""
        names = {user.id: user.name for user in self.team.users.values()}
        return names | {channel.id: channel.name for channel in self.team.channels.values()}

    @property
    def bot_name(self) -> str:
        """Give what the app is called."""
        return self.team.bot.name

    def values(self, world: World, note: str) -> dict[str, Any]:
        """Give everything that the template names."""
        team = self.team
        return {
            "at": self,
            "team": team,
            "teams": list(world.teams.values()),
            "me": self.me,
            "people": self.people,
            "bot_name": self.bot_name,
            "channels": [c for c in team.channels.values() if self.me.id in c.members],
            "dm": team.dm_with(self.me.id),
            "channel": self.channel,
            "is_home": self.is_home,
            "home": team.homes.get(self.me.id),
            "note": note,
            "seen": world.changes.count,
        }


def people(team: Team) -> list[User]:
    """Give those whom one can be."""
    return [user for user in team.users.values() if not user.is_bot]


def sight(world: World, query: Mapping[str, str]) -> Sight:
    """Work out from an address who looks at what; what it doesn't say is the first there is."""
    team = world.teams.get(query.get("team", "")) or next(iter(world.teams.values()))
    persons = {user.id: user for user in people(team)}
    me = persons.get(query.get("as", "")) or next(iter(persons.values()))
    is_home = query.get("home") == "1"
    mine = {c.id: c for c in team.channels.values() if me.id in c.members}
    channel = mine.get(query.get("channel", "")) or next(iter(mine.values()), team.dm_with(me.id))
    return Sight(team=team, me=me, channel=None if is_home else channel, is_home=is_home)
