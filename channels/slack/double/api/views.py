"""`views.*`: modals, which need a fresh trigger, and the home tab, which needs none."""

from __future__ import annotations

from channels.slack.double import shown
from channels.slack.double.api.call import Call
from channels.slack.double.blocks import check_view, elements
from channels.slack.double.errors import ApiError
from channels.slack.double.forms import initial_values
from channels.slack.double.records import Payload, View
from channels.slack.double.team import Team
from channels.slack.double.world import World

_STACK = 3
"""Slack shows no more modals on top of each other."""
_SIZE = 250_000


def _view_of(call: Call, kind: str) -> Payload:
    view = call.wants("view")
    if view is None:
        raise ApiError("invalid_arguments", "[ERROR] missing required field: view")
    if len(str(view)) > _SIZE:
        raise ApiError("view_too_large")
    if view.get("type") != kind:
        raise ApiError("invalid_arguments", f"[ERROR] must be a {kind} [json-pointer:/view/type]")
    return view


def made(world: World, team: Team, user: str, wanted: Payload) -> View:
    """Make a view of what an app sent; also used for the answers to submissions."""
    view_id = world.stamps.id("V")
    view = View(
        id=view_id,
        team_id=team.id,
        user=user,
        type=wanted["type"],
        hash="",
        blocks=[],
        app_id=team.bot.app_id,
        bot_id=team.bot.bot_id,
        root_view_id=view_id,
    )
    fill(world, team, view, wanted)
    return view


def fill(world: World, team: Team, view: View, wanted: Payload) -> None:
    """Let a view show something else; what a person typed into the same blocks stays."""
    blocks = check_view(wanted, make_id=world.stamps.block_id)
    for block in blocks:
        for element in elements(block):
            element.setdefault("action_id", world.stamps.block_id())
    _check_external_id(team, view, wanted.get("external_id") or "")
    typed = view.values
    view.blocks = blocks
    view.hash = f"{world.stamps.now()}.{world.stamps.block_id()}"
    view.errors = {}
    for name in ("callback_id", "private_metadata", "external_id"):
        setattr(view, name, wanted.get(name) or "")
    for name in ("title", "submit", "close"):
        setattr(view, name, wanted.get(name))
    view.clear_on_close = bool(wanted.get("clear_on_close"))
    view.notify_on_close = bool(wanted.get("notify_on_close"))
    view.values = initial_values(blocks)
    for block_id in view.values.keys() & typed.keys():
        view.values[block_id] |= {
            action: value
            for action, value in typed[block_id].items()
            if action in view.values[block_id]
        }


def _check_external_id(team: Team, view: View, external_id: str) -> None:
    others = [*(v for stack in team.modals.values() for v in stack), *team.homes.values()]
    if external_id and any(v.external_id == external_id and v is not view for v in others):
        raise ApiError("duplicate_external_id")


async def open_(call: Call) -> Payload:
    """`views.open`: a first modal for the person who just did something."""
    wanted = _view_of(call, "modal")
    trigger = call.world.triggers.exchange(call.args.need("trigger_id"))
    team = call.world.find_team(trigger.team_id)
    view = made(call.world, team, trigger.user, wanted)
    team.modals[trigger.user] = [view]
    return {"view": shown.view(view, team)}


async def push(call: Call) -> Payload:
    """`views.push`: one more on top, three at the most."""
    wanted = _view_of(call, "modal")
    trigger = call.world.triggers.exchange(call.args.need("trigger_id"))
    team = call.world.find_team(trigger.team_id)
    return {"view": shown.view(pushed(call.world, team, trigger.user, wanted), team)}


def pushed(world: World, team: Team, user: str, wanted: Payload) -> View:
    """Put a modal on top of the one that is open."""
    stack = team.modals.get(user, [])
    if not stack:
        raise ApiError("invalid_arguments", "[ERROR] there is no open view to push onto")
    if len(stack) >= _STACK:
        raise ApiError("push_limit_reached")
    view = made(world, team, user, wanted)
    view.root_view_id, view.previous_view_id = stack[0].id, stack[-1].id
    stack.append(view)
    return view


async def update(call: Call) -> Payload:
    """`views.update`: by id or external id; a hash that is out of date is refused."""
    wanted = _view_of(call, "modal")
    external_id = call.args.text("external_id")
    for team in call.teams:
        try:
            view = team.find_view(call.args.text("view_id"), external_id)
        except ApiError:
            continue
        if call.args.has("hash") and call.args.text("hash") != view.hash:
            raise ApiError("hash_conflict")
        fill(call.world, team, view, wanted)
        return {"view": shown.view(view, team)}
    raise ApiError("not_found")


async def publish(call: Call) -> Payload:
    """`views.publish`: what a person sees in the app's home tab."""
    user_id = call.args.need("user_id")
    wanted = _view_of(call, "home")
    team = call.team_of_user(user_id)
    view = team.homes.get(user_id)
    if view is not None and call.args.has("hash") and call.args.text("hash") != view.hash:
        raise ApiError("hash_conflict")
    if view is None:
        view = made(call.world, team, user_id, wanted)
    else:
        fill(call.world, team, view, wanted)
    team.homes[user_id] = view
    return {"view": shown.view(view, team)}
