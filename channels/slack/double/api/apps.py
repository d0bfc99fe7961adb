"""The app itself: Socket Mode's door, and leaving a workspace."""

from __future__ import annotations

from channels.slack.double.api.call import Call
from channels.slack.double.errors import ApiError
from channels.slack.double.records import Payload
from channels.slack.double.team import Team
from channels.slack.double.world import World


async def connections_open(call: Call) -> Payload:
    """`apps.connections.open`: a URL that is good for one socket."""
    if not call.grant.is_app_level:
        raise ApiError("not_allowed_token_type")
    ticket = call.world.courier.sockets.ticket(call.grant.app_id)
    base = call.world.url.replace("http://", "ws://")
    return {"url": f"{base}/link/?ticket={ticket}&app_id={call.grant.app_id}"}


async def auth_revoke(call: Call) -> Payload:
    """`auth.revoke`: this token is good for nothing from now on."""
    if not call.args.flag("test"):
        call.grant.why_invalid = "token_revoked"
    return {"revoked": not call.args.flag("test")}


async def uninstall(call: Call) -> Payload:
    """`apps.uninstall`: the app leaves by itself, with its own secrets."""
    own = call.world.credentials
    given = (call.args.text("client_id"), call.args.text("client_secret"))
    if given != (own.client_id, own.client_secret):
        raise ApiError("bad_client_secret" if given[0] == own.client_id else "invalid_client_id")
    for team in call.teams:
        call.world.courier.background(leave(call.world, team))
    return {}


async def leave(world: World, team: Team) -> None:
    """Take the app out of a workspace: events tell it, and its tokens are dead."""
    bots = [team.bot.user]
    ts = team.stamps.ts
    revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": bots}, "event_ts": ts()}
    gone = {"type": "app_uninstalled", "event_ts": ts()}
    enterprise = team.enterprise_id if team.is_org_install else None
    for grant in world.grants.of(team_id=team.id, enterprise_id=enterprise):
        grant.why_invalid = "account_inactive"
    for event in (revoked, gone):
        await world.tell(team, event)
    team.is_installed = False
    world.changes.notify()
