"""Which methods there are, what they need, and how one is called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from channels.slack.double.api import (
    agents,
    apps,
    chat,
    conversations,
    directory,
    files,
    oauth,
    openid,
    streams,
    views,
)
from channels.slack.double.api.call import Args, Call
from channels.slack.double.errors import ApiError
from channels.slack.double.records import Payload
from channels.slack.double.world import World

Perform: TypeAlias = Callable[[Call], Awaitable[Payload]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method, and the scopes of which it needs one; those by kind of channel it checks itself."""

    perform: Perform
    scopes: tuple[str, ...] = ()
    is_post: bool = False
    """Counted by the limit of posts a second and channel."""


_CHAT = ("chat:write",)

METHODS: dict[str, Method] = {
    "agents.sessions.setStatus": Method(agents.sessions_set_status, _CHAT),
    "apps.connections.open": Method(apps.connections_open, ("connections:write",)),
    "apps.uninstall": Method(apps.uninstall),
    "assistant.threads.setStatus": Method(
        agents.threads_set_status, ("chat:write", "assistant:write")
    ),
    "auth.revoke": Method(apps.auth_revoke),
    "auth.test": Method(directory.auth_test),
    "bots.info": Method(directory.bots_info, ("users:read",)),
    "chat.appendStream": Method(streams.append, _CHAT),
    "chat.delete": Method(chat.delete, _CHAT),
    "chat.getPermalink": Method(chat.get_permalink),
    "chat.postEphemeral": Method(chat.post_ephemeral, _CHAT, is_post=True),
    "chat.postMessage": Method(chat.post_message, _CHAT, is_post=True),
    "chat.startStream": Method(streams.start, _CHAT, is_post=True),
    "chat.stopStream": Method(streams.stop, _CHAT),
    "chat.update": Method(chat.update, _CHAT),
    "conversations.history": Method(conversations.history),
    "conversations.info": Method(conversations.info),
    "conversations.join": Method(conversations.join),
    "conversations.members": Method(conversations.members),
    "conversations.open": Method(conversations.open_),
    "conversations.replies": Method(conversations.replies),
    "files.info": Method(files.info, ("files:read",)),
    "openid.connect.userInfo": Method(openid.user_info, ("openid",)),
    "reactions.add": Method(directory.reactions_add, ("reactions:write",)),
    "team.info": Method(directory.team_info, ("team:read",)),
    "users.info": Method(directory.users_info, ("users:read",)),
    "users.lookupByEmail": Method(directory.users_lookup_by_email, ("users:read.email",)),
    "views.open": Method(views.open_),
    "views.publish": Method(views.publish),
    "views.push": Method(views.push),
    "views.update": Method(views.update),
}

_BY_SECRET: dict[str, Callable[[World, Args], Payload]] = {
    "oauth.v2.access": oauth.access,
    "openid.connect.token": openid.token,
}
"""These need the app's secrets in place of a token."""


async def perform(world: World, method: str, args: Args, token: str | None) -> Payload:
    """Do what a method says, or raise `ApiError`."""
    if method in _BY_SECRET:
        return _BY_SECRET[method](world, args)
    if method not in METHODS:
        raise ApiError("unknown_method", req_method=method)
    wanted = METHODS[method]
    grant = world.grants.check(token, world.clock())
    if grant.is_app_level and method not in {"apps.connections.open", "auth.test"}:
        raise ApiError("not_allowed_token_type")
    grant.need(*wanted.scopes)
    call = Call(world=world, method=method, args=args, grant=grant)
    _check_speed(call, wanted)
    return {"ok": True, **(await wanted.perform(call))}


def _check_speed(call: Call, wanted: Method) -> None:
    if not wanted.is_post:
        return
    channel = f"{call.grant.team_id}:{call.args.text('channel')}"
    wait = call.world.trouble.too_fast(channel, call.world.clock())
    if wait is not None:
        raise ApiError("ratelimited", retry_after=wait)
