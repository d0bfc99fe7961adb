"""`oauth.v2.access`: a code for a token, or a refresh token for the next one."""

from __future__ import annotations

from channels.slack.double.api.call import Args
from channels.slack.double.api.credentials import check_app
from channels.slack.double.consents import Consent
from channels.slack.double.errors import ApiError
from channels.slack.double.grants import Grant
from channels.slack.double.records import Payload
from channels.slack.double.team import Team
from channels.slack.double.world import World

ROTATION_SECONDS = 43_200


def access(world: World, args: Args) -> Payload:
    """`oauth.v2.access`, which needs the app's secrets instead of a token."""
    check_app(world, args)
    match args.text("grant_type", "authorization_code"):
        case "authorization_code":
            consent = world.consents.use(
                args.need("code", "invalid_code"), args.text("redirect_uri")
            )
            return _installed(world, consent)
        case "refresh_token":
            old = world.grants.for_refresh(args.need("refresh_token", "invalid_refresh_token"))
            old.refresh_token = None
            fresh = _grant(world, old.app_id, old.scopes, old.team_id, old.enterprise_id)
            return _told(world, fresh, _teams(world, fresh)[0])
        case _:
            raise ApiError("invalid_grant_type")


def _installed(world: World, consent: Consent) -> Payload:
    """Put the app into a workspace, or into every one of an organisation."""
    teams = list(world.teams_of(team_id=consent.team_id, enterprise_id=consent.enterprise_id))
    if not teams:
        raise ApiError("invalid_team_for_non_distributed_app")
    for team in teams:
        team.is_installed = True
        team.is_org_install = consent.team_id is None
    enterprise = teams[0].enterprise_id
    app_id = teams[0].bot.app_id
    grant = _grant(world, app_id, consent.scopes, consent.team_id, enterprise)
    return _told(world, grant, teams[0]) | {"authed_user": {"id": consent.user}}


def _grant(
    world: World,
    app_id: str,
    scopes: tuple[str, ...],
    team_id: str | None,
    enterprise_id: str | None,
) -> Grant:
    secret = world.stamps.secret()
    grant = Grant(
        token=f"xoxb-{secret}",
        app_id=app_id,
        scopes=scopes,
        team_id=team_id,
        enterprise_id=enterprise_id,
    )
    if world.rotates_tokens:
        grant.token = f"xoxe.xoxb-1-{secret}"
        grant.refresh_token = f"xoxe-1-{world.stamps.secret()}"
        grant.expires_at = world.clock() + ROTATION_SECONDS
    return world.grants.add(grant)


def _teams(world: World, grant: Grant) -> list[Team]:
    return list(world.teams_of(team_id=grant.team_id, enterprise_id=grant.enterprise_id))


def _told(world: World, grant: Grant, team: Team) -> Payload:
    is_org = grant.team_id is None
    enterprise = {"id": team.enterprise_id, "name": team.enterprise_name}
    answer: Payload = {
        "ok": True,
        "app_id": grant.app_id,
        "scope": ",".join(grant.scopes),
        "token_type": "bot",
        "access_token": grant.token,
        "bot_user_id": team.bot.user,
        "team": None if is_org else {"id": team.id, "name": team.name},
        "enterprise": enterprise if team.enterprise_id else None,
        "is_enterprise_install": is_org,
    }
    if grant.expires_at is not None:
        expires_in = int(grant.expires_at - world.clock())
        answer |= {"refresh_token": grant.refresh_token, "expires_in": expires_in}
    return answer
