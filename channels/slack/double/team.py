"""A workspace's data, and how to find things in it. No network, no payloads.

What isn't there is an `ApiError` by Slack's name: everyone who looks here looks for an app.
"""

from __future__ import annotations

from channels.slack.double.errors import ApiError
from channels.slack.double.records import (
    Bot,
    Channel,
    Message,
    SharedFile,
    Status,
    Stream,
    User,
    View,
)
from channels.slack.double.stamps import Stamps


class Team:
    """One workspace."""

    def __init__(
        self, team_id: str, *, name: str, bot: Bot, stamps: Stamps, enterprise_id: str | None
    ) -> None:
        self.id = team_id
        self.name = name
        self.domain = name.lower().replace(" ", "-")
        self.bot = bot
        self.stamps = stamps
        self.enterprise_id = enterprise_id
        self.enterprise_name = f"{enterprise_id} Inc." if enterprise_id else None
        self.is_org_install = False
        self.is_installed = True
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, SharedFile] = {}
        self.modals: dict[str, list[View]] = {}
        self.homes: dict[str, View] = {}
        self.streams: list[Stream] = []
        self.statuses: list[Status] = []

    # ------------------------------------------------------------------------ finding

    def find_user(self, user_id: str) -> User:
        """Find a person, or say `user_not_found`."""
        if user_id not in self.users:
            raise ApiError("user_not_found")
        return self.users[user_id]

    def find_channel(self, channel_id: str) -> Channel:
        """Find what the bot may know of: a private channel that it isn't in doesn't exist."""
        channel = self.channels.get(channel_id)
        if channel is None or (channel.is_private and self.bot.user not in channel.members):
            raise ApiError("channel_not_found")
        return channel

    def find_message(self, channel_id: str, ts: str) -> Message:
        """Find a message that still stands there."""
        message = self.find_channel(channel_id).messages.get(ts)
        if message is None or message.deleted:
            raise ApiError("message_not_found")
        return message

    def find_view(self, view_id: str, external_id: str = "") -> View:
        """Find a modal that is open for someone."""
        for stack in self.modals.values():
            for view in stack:
                if view.id == view_id or (external_id and view.external_id == external_id):
                    return view
        raise ApiError("not_found")

    def find_stream(self, channel_id: str, ts: str) -> Stream:
        """Find a stream by its message; one that is no stream at all says so."""
        message = self.find_message(channel_id, ts)
        for stream in self.streams:
            if stream.message is message:
                return stream
        if message.bot_id != self.bot.bot_id:
            raise ApiError("message_not_owned_by_app")
        raise ApiError("message_not_in_streaming_state")

    def replies(self, channel_id: str, root: str) -> list[Message]:
        """Give a thread in order, the root first; a deleted root is not in it."""
        channel = self.channels[channel_id]
        first = [channel.messages[root]] if root in channel.messages else []
        return [m for m in [*first, *channel.threads.get(root, [])] if not m.deleted]

    def dm_with(self, user_id: str) -> Channel:
        """Give the direct messages between the app and this person, opened when first asked for."""
        for channel in self.channels.values():
            if channel.is_im and user_id in channel.members:
                return channel
        return self._open([user_id], is_im=True)

    def group_with(self, user_ids: list[str]) -> Channel:
        """Give the group message between the app and these people."""
        members = {*user_ids, self.bot.user}
        for channel in self.channels.values():
            if channel.is_mpim and set(channel.members) == members:
                return channel
        return self._open(user_ids, is_im=False)

    def _open(self, user_ids: list[str], *, is_im: bool) -> Channel:
        channel = Channel(
            id=self.stamps.id("D" if is_im else "G"),
            name="" if is_im else "mpdm-" + "--".join(user_ids),
            members=[*user_ids, self.bot.user],
            creator=self.bot.user,
            created=self.stamps.now(),
            is_private=True,
            is_im=is_im,
            is_mpim=not is_im,
        )
        self.channels[channel.id] = channel
        return channel

    # ------------------------------------------------------------------------ keeping

    def keep(self, message: Message) -> Message:
        """Keep a message where it was said; one that only one person sees is kept apart."""
        channel = self.channels[message.channel]
        if message.ephemeral_to:
            channel.ephemerals.append(message)
        else:
            channel.messages[message.ts] = message
            if message.thread_ts not in (None, message.ts):
                channel.threads.setdefault(message.thread_ts, []).append(message)
        return message
