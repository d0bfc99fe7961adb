"""What people say, change and take back, and how the app is told of it.

Each action waits for the app's first answer; what the app didn't take is sent again by itself.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable
from typing import Literal, TypeAlias

from channels.slack.double import shown
from channels.slack.double.acting import Acting, Place
from channels.slack.double.api.apps import leave
from channels.slack.double.delivery import Delivery
from channels.slack.double.payloads import events
from channels.slack.double.records import Channel, Message, Payload, SharedFile

First: TypeAlias = Literal["message", "app_mention", "together"]


class Talking(Acting):
    """People who talk, come, look and leave."""

    async def says(
        self,
        user: str,
        channel: Place,
        text: str,
        *,
        thread_ts: str | None = None,
        files: Iterable[SharedFile] = (),
        first: First = "message",
    ) -> Message:
        """Say something; a mention of the bot is told twice, in the order that `first` says."""
        place, person = self._place(channel), self._person(user)
        if user not in place.members:
            raise LookupError(f"{user} is not in {place.id}")
        shared = list(files)
        message = Message(
            team=self._team.id,
            channel=place.id,
            ts=self._team.stamps.ts(),
            text=text,
            user=user,
            user_team=person.team_id,
            bot_id=person.bot_id,
            thread_ts=thread_ts,
            blocks=events.rich_text(text),
            files=shared,
            subtype="file_share" if shared else None,
            client_msg_id=None if person.is_bot else str(uuid.uuid4()),
        )
        await self._said(self._team.keep(message), place, first)
        return message

    async def _said(self, message: Message, place: Channel, first: First) -> None:
        told = [events.message(self._team, message)]
        if f"<@{self._team.bot.user}>" in message.text and not place.is_im:
            told.append(events.app_mention(self._team, message))
        if first == "app_mention":
            told.reverse()
        if first == "together":
            await asyncio.gather(*(self._tell(event, place, message) for event in told))
            return
        for event in told:
            await self._tell(event, place, message)

    async def bot_says(
        self,
        channel: Place,
        text: str,
        *,
        bot_id: str = "B0OTHER",
        username: str = "otherbot",
        thread_ts: str | None = None,
        user: str | None = None,
        subtype: str | None = "bot_message",
    ) -> Message:
        """Let another app say something: with the old subtype, or as new apps do, with a user."""
        place = self._place(channel)
        message = Message(
            team=self._team.id,
            channel=place.id,
            ts=self._team.stamps.ts(),
            text=text,
            user=user,
            user_team=self._team.id,
            bot_id=bot_id,
            app_id="A0OTHER",
            username=username,
            thread_ts=thread_ts,
            subtype=subtype,
        )
        await self._said(self._team.keep(message), place, "message")
        return message

    async def edits(self, message: Message, text: str) -> Delivery | None:
        """Change what was said."""
        previous = shown.message(message, self._team)
        message.text = text
        message.blocks = events.rich_text(text)
        message.edited = {"user": message.user, "ts": self._team.stamps.ts()}
        return await self._changed(message, previous)

    async def unfurls(self, message: Message, url: str, title: str = "A page") -> Delivery | None:
        """Let Slack show a link's page: it tells that as a change too, with nothing edited."""
        previous = shown.message(message, self._team)
        message.attachments = [{"from_url": url, "title": title, "id": 1, "fallback": title}]
        return await self._changed(message, previous)

    async def _changed(self, message: Message, previous: Payload) -> Delivery | None:
        event = events.message_changed(self._team, message, previous)
        return await self._tell(event, self._team.channels[message.channel], message)

    async def deletes(self, message: Message) -> Delivery | None:
        """Take back what was said."""
        previous = shown.message(message, self._team)
        message.deleted = True
        event = events.message_deleted(self._team, message, previous)
        return await self._tell(event, self._team.channels[message.channel], message)

    async def joins(
        self, user: str, channel: Place, *, inviter: str | None = None
    ) -> Delivery | None:
        """Come into a channel; Slack also says so there, in a message that nobody wrote."""
        place = self._place(channel)
        place.members.append(user)
        message = Message(
            team=self._team.id,
            channel=place.id,
            ts=self._team.stamps.ts(),
            text=f"<@{user}> has joined the channel",
            user=user,
            user_team=self._team.id,
            subtype="channel_join" if not place.is_private else "group_join",
        )
        await self._tell(events.message(self._team, self._team.keep(message)), place, message)
        event = events.member_joined(self._team, place, user, inviter)
        return await self._tell(event, place, message)

    async def opens_home(self, user: str, tab: str = "home") -> Delivery | None:
        """Look at the app's home."""
        return await self._world.tell(self._team, events.home_opened(self._team, user, tab))

    async def stops_session(
        self, user: str, channel: Place, thread_ts: str | None
    ) -> Delivery | None:
        """Press stop below the agent's work; Slack itself ends the streams there."""
        place, stopped = self._place(channel), []
        for stream in self._team.streams:
            message = stream.message
            if (message.channel, message.thread_ts) == (place.id, thread_ts) and message.streaming:
                message.streaming, stream.state = False, "stopped_by_user"
                stopped.append(message.ts)
        event = events.session_stopped(
            self._team, user=user, channel=place.id, thread_ts=thread_ts, streaming=stopped
        )
        return await self._world.tell(self._team, event, channel=place)

    async def uninstalls(self) -> None:
        """Take the app out of the workspace."""
        await leave(self._world, self._team)
