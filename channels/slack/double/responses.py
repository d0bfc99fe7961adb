"""Response URLs: what an app may answer to an interaction without a token."""

from __future__ import annotations

from channels.slack.double import shown
from channels.slack.double.blocks import check_blocks
from channels.slack.double.errors import ApiError
from channels.slack.double.payloads import events
from channels.slack.double.records import Message, Payload
from channels.slack.double.team import Team
from channels.slack.double.triggers import Hook
from channels.slack.double.world import World


def respond(world: World, secret: str, body: Payload) -> None:
    """Do what the app asked for through a response URL, or raise `ApiError`."""
    hook = world.triggers.use(secret)
    if hook is None:
        raise ApiError("expired_url")
    team = world.find_team(hook.team_id)
    if body.get("delete_original"):
        _delete(world, team, hook)
    elif body.get("replace_original"):
        _replace(world, team, hook, body)
    else:
        _post(world, team, hook, body)


def _original(hook: Hook) -> Message:
    if hook.message is None or hook.message.deleted:
        raise ApiError("message_not_found")
    return hook.message


def _delete(world: World, team: Team, hook: Hook) -> None:
    message = _original(hook)
    previous = shown.message(message, team)
    message.deleted = True
    _echo(world, team, message, events.message_deleted(team, message, previous))


def _replace(world: World, team: Team, hook: Hook, body: Payload) -> None:
    message = _original(hook)
    previous = shown.message(message, team)
    message.text = body.get("text", "")
    message.show_blocks(_blocks(world, body))
    message.edited = {"user": message.user, "ts": world.stamps.ts()}
    _echo(world, team, message, events.message_changed(team, message, previous))


def _post(world: World, team: Team, hook: Hook, body: Payload) -> None:
    blocks = _blocks(world, body)
    if not (body.get("text") or blocks or body.get("attachments")):
        raise ApiError("no_text")
    is_public = body.get("response_type") == "in_channel"
    message = Message(
        team=team.id,
        channel=hook.channel,
        ts=world.stamps.ts(),
        text=body.get("text", ""),
        user=team.bot.user,
        user_team=team.id,
        bot_id=team.bot.bot_id,
        app_id=team.bot.app_id,
        thread_ts=body.get("thread_ts"),
        blocks=blocks,
        ephemeral_to=None if is_public else hook.user,
    )
    team.keep(message)
    _echo(world, team, message, events.message(team, message))


def _echo(world: World, team: Team, message: Message, event: Payload) -> None:
    if message.ephemeral_to is None:
        world.echo(team, event, channel=team.channels[message.channel])


def _blocks(world: World, body: Payload) -> list[Payload]:
    blocks = body.get("blocks")
    return check_blocks(blocks, make_id=world.stamps.block_id) if blocks else []
