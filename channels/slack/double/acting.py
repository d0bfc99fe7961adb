"""What everyone needs who acts in a workspace as a person: the world, the person, the place."""

from __future__ import annotations

from typing import TypeAlias

from channels.slack.double.delivery import Delivery
from channels.slack.double.records import Channel, Message, Payload, User
from channels.slack.double.team import Team
from channels.slack.double.world import World

Place: TypeAlias = str | Channel
"""A channel, or its id."""


class Acting:
    """Somebody in one workspace. What isn't there is a LookupError: the fault is not the app's."""

    def __init__(self, world: World, team: Team) -> None:
        self._world = world
        self._team = team

    def _person(self, user: str) -> User:
        if user not in self._team.users:
            raise LookupError(f"{self._team.id} has no user {user}")
        return self._team.users[user]

    def _place(self, channel: Place) -> Channel:
        if isinstance(channel, Channel):
            return channel
        if channel not in self._team.channels:
            raise LookupError(f"{self._team.id} has no channel {channel}")
        return self._team.channels[channel]

    async def _tell(self, event: Payload, place: Channel, message: Message) -> Delivery | None:
        is_foreign = message.user_team not in {"", self._team.id}
        home = message.user_team if is_foreign else ""
        self._world.changes.notify()  # it stands there, whether or not the app hears of it
        return await self._world.tell(self._team, event, channel=place, home=home)
