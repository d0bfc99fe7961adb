"""`conversations.*`: looking at channels and at what was said there."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from channels.slack.double import shown
from channels.slack.double.api.call import Call
from channels.slack.double.errors import ApiError
from channels.slack.double.records import Channel, Message, Payload
from channels.slack.double.team import Team

T = TypeVar("T")
_PAGE = 100
_MOST = 999
_GROUP = 8


def page(call: Call, items: Sequence[T]) -> tuple[list[T], Payload]:
    """Cut one page out, and give the cursor of the next; the last page has an empty one."""
    limit = min(call.args.number("limit", _PAGE), _MOST)
    if limit < 1:
        raise ApiError("invalid_limit")
    start = _offset(call.args.text("cursor"))
    has_more = start + limit < len(items)
    cursor = base64.b64encode(f"next:{start + limit}".encode()).decode() if has_more else ""
    return list(items[start : start + limit]), {"response_metadata": {"next_cursor": cursor}}


def _offset(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).decode().removeprefix("next:"))
    except (binascii.Error, UnicodeDecodeError, ValueError) as exc:
        raise ApiError("invalid_cursor") from exc


async def open_(call: Call) -> Payload:
    """`conversations.open`: the direct messages with someone, or with several."""
    if call.args.has("channel"):
        team, channel = call.place()
        return {"channel": {"id": channel.id}, "no_op": True, "already_open": True}
    users = [user for user in call.args.need("users", "users_list_not_supplied").split(",") if user]
    if len(users) > _GROUP:
        raise ApiError("too_many_users")
    call.grant.need("im:write" if len(users) == 1 else "mpim:write")
    team = call.team_of_user(users[0])
    if any(team.find_user(user).deleted for user in users):
        raise ApiError("user_disabled")
    before = len(team.channels)
    channel = team.dm_with(users[0]) if len(users) == 1 else team.group_with(users)
    answer: Payload = {"channel": {"id": channel.id}}
    if call.args.flag("return_im"):
        answer["channel"] = shown.channel(channel, team)
    if len(team.channels) == before:
        answer |= {"no_op": True, "already_open": True}
    return answer


async def info(call: Call) -> Payload:
    """`conversations.info`."""
    team, channel = call.place()
    call.grant.need(f"{channel.scope}:read")
    return {"channel": shown.channel(channel, team)}


async def members(call: Call) -> Payload:
    """`conversations.members`."""
    _, channel = call.place()
    call.grant.need(f"{channel.scope}:read")
    found, more = page(call, channel.members)
    return {"members": found, **more}


async def join(call: Call) -> Payload:
    """`conversations.join`: a public channel may be joined by an app itself."""
    team, channel = call.place()
    call.grant.need("channels:join")
    if channel.is_private:
        raise ApiError("method_not_supported_for_channel_type")
    if channel.archived:
        raise ApiError("is_archived")
    if team.bot.user not in channel.members:
        channel.members.append(team.bot.user)
    return {"channel": shown.channel(channel, team)}


async def history(call: Call) -> Payload:
    """`conversations.history`: newest first, without the replies in threads."""
    team, channel = _readable(call)
    roots = [m for m in channel.messages.values() if m.is_root and not m.deleted]
    found = sorted(_between(call, roots), key=lambda message: message.ts, reverse=True)
    return _shown(call, team, found) | {"pin_count": 0}


async def replies(call: Call) -> Payload:
    """`conversations.replies`: one thread, oldest first."""
    team, channel = _readable(call)
    ts = call.args.need("ts", "thread_not_found")
    root = channel.messages.get(ts)
    if root is None:
        raise ApiError("thread_not_found")
    thread = team.replies(channel.id, root.thread_ts or ts)
    if not thread:
        raise ApiError("thread_not_found")
    return _shown(call, team, _between(call, thread))


def _readable(call: Call) -> tuple[Team, Channel]:
    team, channel = call.place()
    call.grant.need(f"{channel.scope}:history")
    if team.bot.user not in channel.members:
        raise ApiError("not_in_channel")
    return team, channel


def _between(call: Call, messages: list[Message]) -> list[Message]:
    oldest, latest = call.args.text("oldest", "0"), call.args.text("latest") or "9" * 12
    is_inclusive = call.args.flag("inclusive")

    def fits(ts: str) -> bool:
        stamp = _number(ts)
        low, high = _number(oldest), _number(latest)
        return low <= stamp <= high if is_inclusive else low < stamp < high

    return [message for message in messages if fits(message.ts)]


def _number(ts: str) -> int:
    """Compare stamps exactly: a float has too few digits for them."""
    seconds, _, rest = ts.partition(".")
    try:
        return int(seconds) * 1_000_000 + int((rest + "000000")[:6])
    except ValueError as exc:
        raise ApiError("invalid_ts_oldest") from exc


def _shown(call: Call, team: Team, messages: list[Message]) -> Payload:
    found, more = page(call, messages)
    with_metadata = call.args.flag("include_all_metadata")
    return {
        "messages": [shown.message(message, team, metadata=with_metadata) for message in found],
        "has_more": bool(more["response_metadata"]["next_cursor"]),
        **more,
    }
