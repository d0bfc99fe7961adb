"""`openid.connect.token` and `.userInfo`: a code for who somebody is."""

from __future__ import annotations

import base64
import json

from channels.slack.double.api.call import Args, Call
from channels.slack.double.api.credentials import check_app
from channels.slack.double.errors import ApiError
from channels.slack.double.grants import Grant
from channels.slack.double.records import Payload
from channels.slack.double.world import World

_SECONDS = 300


def token(world: World, args: Args) -> Payload:
    """`openid.connect.token`, which needs the app's secrets instead of a token."""
    check_app(world, args)
    if args.text("grant_type", "authorization_code") != "authorization_code":
        raise ApiError("invalid_grant_type")
    consent = world.consents.use(args.need("code", "invalid_code"), args.text("redirect_uri"))
    if "openid" not in consent.scopes or consent.team_id is None:
        raise ApiError("invalid_scope")
    team = world.teams[consent.team_id]
    grant = world.grants.add(
        Grant(
            token=f"xoxp-{world.stamps.secret()}",
            app_id=team.bot.app_id,
            scopes=consent.scopes,
            team_id=team.id,
            user=consent.user,
        )
    )
    now = int(world.clock())
    claims = {
        "iss": "https://slack.com",
        "sub": consent.user,
        "aud": world.credentials.client_id,
        "exp": now + _SECONDS,
        "iat": now,
        "nonce": consent.nonce,
        "https://slack.com/team_id": team.id,
        "https://slack.com/user_id": consent.user,
        **world.trouble.false_claims,
    }
    return {
        "ok": True,
        "access_token": grant.token,
        "token_type": "Bearer",
        "id_token": _unsigned(claims),
    }


async def user_info(call: Call) -> Payload:
    """`openid.connect.userInfo`."""
    user = call.team.find_user(call.grant.user)
    return {
        "sub": user.id,
        "https://slack.com/user_id": user.id,
        "https://slack.com/team_id": call.team.id,
        "name": user.name,
    }


def _unsigned(claims: Payload) -> str:
    """Write a JSON Web Token; nobody who gets it straight from us looks at the signature."""
    parts = ({"alg": "RS256", "typ": "JWT"}, claims)
    encoded = [base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in parts]
    return b".".join((*encoded, b"signature")).decode()
