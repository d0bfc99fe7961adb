"""`chat.*`: posting, changing and deleting messages."""

from __future__ import annotations

from channels.slack.double import shown
from channels.slack.double.api.call import Call
from channels.slack.double.api.content import UPDATE_TEXT, Content, content
from channels.slack.double.errors import ApiError
from channels.slack.double.payloads import events
from channels.slack.double.records import Channel, Message, Payload
from channels.slack.double.team import Team

_KEPT = ("unfurl_links", "unfurl_media", "icon_emoji", "icon_url", "parse", "link_names", "mrkdwn")


def check_may_post(call: Call, team: Team, channel: Channel) -> None:
    """Refuse to post where the app may not."""
    if channel.archived:
        raise ApiError("is_archived")
    if team.bot.user in channel.members:
        return
    if channel.is_private:
        raise ApiError("channel_not_found")
    if "chat:write.public" not in call.grant.scopes:
        raise ApiError("not_in_channel")


def thread_root(call: Call, channel: Channel) -> str | None:
    """Give the thread that a call wants to post to, if there is such a thread."""
    ts = call.args.text("thread_ts")
    if not ts:
        return None
    root = channel.messages.get(ts)
    if root is None:
        raise ApiError("invalid_thread_ts")
    if root.thread_ts not in (None, ts):  # a reply can't be a root; Slack files it anywhere
        raise ApiError("cannot_reply_to_message")
    return ts


def new_message(call: Call, team: Team, channel: Channel, said: Content) -> Message:
    """Write a message of the app's, not yet kept."""
    args = call.args
    return Message(
        team=team.id,
        channel=channel.id,
        ts=call.world.stamps.ts(),
        text=said.text or said.markdown_text or "",
        user=team.bot.user,
        user_team=team.id,
        bot_id=team.bot.bot_id,
        app_id=team.bot.app_id,
        username=args.text("username") or None,
        thread_ts=thread_root(call, channel),
        blocks=said.blocks or [],
        attachments=said.attachments or [],
        markdown_text=said.markdown_text,
        metadata=said.metadata,
        reply_broadcast=args.flag("reply_broadcast"),
        subtype="thread_broadcast" if args.flag("reply_broadcast") else None,
        arguments={name: args.raw[name] for name in _KEPT if name in args.raw},
    )


async def post_message(call: Call) -> Payload:
    """`chat.postMessage`."""
    team, channel = call.place()
    check_may_post(call, team, channel)
    said = content(call)
    if said.is_empty:
        raise ApiError("no_text")
    message = team.keep(new_message(call, team, channel, said))
    call.world.echo(team, events.message(team, message), channel=channel)
    written = shown.message(message, team, metadata=True)
    return {"channel": channel.id, "ts": message.ts, "message": written}


async def post_ephemeral(call: Call) -> Payload:
    """`chat.postEphemeral`: only one person sees it, and nobody can find it again."""
    team, channel = call.place()
    user = call.args.need("user")
    check_may_post(call, team, channel)
    if user not in channel.members:
        raise ApiError("user_not_in_channel")
    said = content(call)
    if said.is_empty:
        raise ApiError("no_text")
    message = new_message(call, team, channel, said)
    message.ephemeral_to = user
    team.keep(message)
    return {"message_ts": message.ts}


async def update(call: Call) -> Payload:
    """`chat.update`: text without blocks takes the blocks away."""
    team, channel = call.place()
    message = own_message(call, team, channel, "cant_update_message")
    if channel.archived:
        raise ApiError("is_inactive")
    if message.streaming:
        raise ApiError("streaming_state_conflict")
    said = content(call, at_most=UPDATE_TEXT)
    if said.is_empty and said.blocks is None and said.metadata is None:
        raise ApiError("no_text")
    previous = shown.message(message, team)
    change(call, message, said)
    call.world.echo(team, events.message_changed(team, message, previous), channel=channel)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": shown.message(message, team, metadata=True),
    }


def change(call: Call, message: Message, said: Content) -> None:
    """Make a message show something else."""
    if said.text is not None or said.markdown_text is not None:
        message.text = said.text or said.markdown_text or ""
        message.markdown_text = said.markdown_text
        message.show_blocks(said.blocks or [])
        message.edited = {"user": message.user, "ts": call.world.stamps.ts()}
    elif said.blocks is not None:
        message.show_blocks(said.blocks)
    if said.attachments is not None:
        message.attachments = said.attachments
    if said.metadata is not None:
        message.metadata = said.metadata


def own_message(call: Call, team: Team, channel: Channel, error: str) -> Message:
    """Find a message that the app itself wrote."""
    message = team.find_message(channel.id, call.args.need("ts"))
    if message.bot_id != team.bot.bot_id:
        raise ApiError(error)
    return message


async def delete(call: Call) -> Payload:
    """`chat.delete`."""
    team, channel = call.place()
    message = own_message(call, team, channel, "cant_delete_message")
    previous = shown.message(message, team)
    message.deleted = True
    call.world.echo(team, events.message_deleted(team, message, previous), channel=channel)
    return {"channel": channel.id, "ts": message.ts}


async def get_permalink(call: Call) -> Payload:
    """`chat.getPermalink`."""
    team, channel = call.place()
    message = team.find_message(channel.id, call.args.need("message_ts"))
    link = f"https://{team.domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.thread_ts and message.thread_ts != message.ts:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}
