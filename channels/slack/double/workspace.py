"""A workspace as a test holds it: furnish it, act in it, look at what the app did."""

from __future__ import annotations

from collections.abc import Iterable

from channels.slack.double.acting import Place
from channels.slack.double.api.streams import end_old
from channels.slack.double.clicking import Clicking
from channels.slack.double.records import (
    Channel,
    Message,
    SharedFile,
    Status,
    Stream,
    User,
    View,
)
from channels.slack.double.talking import Talking


class Workspace(Talking, Clicking):
    """One workspace with the app in it."""

    @property
    def id(self) -> str:
        """Give its id."""
        return self._team.id

    @property
    def name(self) -> str:
        """Give its name."""
        return self._team.name

    @property
    def users(self) -> list[User]:
        """Give everyone in it, the app's own user too."""
        return list(self._team.users.values())

    @property
    def bot_user(self) -> str:
        """Give the id by which people mention the app."""
        return self._team.bot.user

    # --------------------------------------------------------------------- furnishing

    def user(
        self,
        user_id: str,
        *,
        name: str = "",
        email: str | None = None,
        is_bot: bool = False,
        team_id: str | None = None,
        real_name: str = "",
        is_admin: bool = False,
        bot_id: str | None = None,
    ) -> User:
        """Add a person; with another `team_id`, one from another organisation."""
        name = name or user_id.lower()
        person = User(
            id=user_id,
            team_id=team_id or self._team.id,
            name=name,
            real_name=real_name or name.title(),
            email=email,
            is_bot=is_bot,
            is_admin=is_admin,
            bot_id=bot_id or (f"B{user_id[1:]}" if is_bot else None),
        )
        self._team.users[user_id] = person
        return person

    def channel(
        self,
        channel_id: str,
        *,
        name: str = "",
        members: Iterable[str] = (),
        is_private: bool = False,
        is_ext_shared: bool = False,
        archived: bool = False,
    ) -> Channel:
        """Add a channel."""
        inside = list(members)
        homes = {self._team.users[m].team_id for m in inside if m in self._team.users}
        channel = Channel(
            id=channel_id,
            name=name or channel_id.lower(),
            members=inside,
            creator=inside[0] if inside else self._team.bot.user,
            created=self._team.stamps.now(),
            is_private=is_private,
            is_ext_shared=is_ext_shared,
            archived=archived,
            shared_with=sorted(homes - {self._team.id}),
        )
        self._team.channels[channel_id] = channel
        return channel

    def dm(self, user_id: str) -> Channel:
        """Give the direct messages between this person and the app."""
        return self._team.dm_with(user_id)

    def file(
        self,
        name: str,
        content: bytes,
        *,
        user: str,
        mimetype: str = "text/plain",
        access: str = "visible",
    ) -> SharedFile:
        """Add a file, to be shared with `says(…, files=[…])`."""
        file_id = self._team.stamps.id("F")
        shared = SharedFile(
            id=file_id,
            name=name,
            content=content,
            mimetype=mimetype,
            user=user,
            created=self._team.stamps.now(),
            url_private=f"{self._world.url}/files-pri/{self._team.id}-{file_id}/{name}",
            access=access,
        )
        self._team.files[file_id] = shared
        return shared

    # ------------------------------------------------------------------------ looking

    def messages(self, channel: Place, thread_ts: str | None = None) -> list[Message]:
        """Give what everyone sees: of a thread with its root, or of the channel without replies."""
        place = self._place(channel)
        if thread_ts is not None:
            return self._team.replies(place.id, thread_ts)
        return [m for m in place.messages.values() if m.is_root and not m.deleted]

    def message(self, channel: Place, ts: str) -> Message:
        """Give one message, also one that has been deleted."""
        return self._place(channel).messages[ts]

    def posted(self, channel: Place, thread_ts: str | None = None) -> list[Message]:
        """Give what the app itself said there."""
        bot = self._team.bot.bot_id
        return [m for m in self.messages(channel, thread_ts) if m.bot_id == bot]

    def ephemerals(self, channel: Place, user: str) -> list[Message]:
        """Give what only this person sees."""
        found = self._place(channel).ephemerals
        return [m for m in found if m.ephemeral_to == user and not m.deleted]

    def open_view(self, user: str) -> View | None:
        """Give the modal that this person has before them."""
        stack = self._team.modals.get(user)
        return stack[-1] if stack else None

    def home(self, user: str) -> View | None:
        """Give what the app shows this person in its home tab."""
        return self._team.homes.get(user)

    def streams(self) -> list[Stream]:
        """Give every stream there ever was."""
        end_old(self._team, self._world.clock(), self._world.stream_seconds)
        return list(self._team.streams)

    def statuses(self, channel: Place, thread_ts: str | None = None) -> list[Status]:
        """Give the statuses that the app has set there, oldest first."""
        place = self._place(channel)
        return [s for s in self._team.statuses if (s.channel, s.thread_ts) == (place.id, thread_ts)]
