"""Who is who: `auth.test`, `users.*`, `bots.info`, `team.info`, `reactions.add`."""

from __future__ import annotations

from channels.slack.double import shown
from channels.slack.double.api.call import Call
from channels.slack.double.errors import ApiError
from channels.slack.double.records import Payload


async def auth_test(call: Call) -> Payload:
    """`auth.test`: whose token this is."""
    grant = call.grant
    if grant.is_app_level:
        return {"app_name": "Parley", "app_id": grant.app_id}
    if grant.team_id is None:
        team = call.teams[0]
        who = {"team": team.enterprise_name, "team_id": grant.enterprise_id}
    else:
        team = call.world.find_team(grant.team_id)
        who = {"team": team.name, "team_id": team.id}
    answer = {
        "url": f"https://{team.domain}.slack.com/",
        **who,
        "user": team.bot.name,
        "user_id": team.bot.user,
        "bot_id": team.bot.bot_id,
        "is_enterprise_install": grant.team_id is None,
    }
    return answer | ({"enterprise_id": grant.enterprise_id} if grant.enterprise_id else {})


async def users_info(call: Call) -> Payload:
    """`users.info`; the address only for those who may see it."""
    user_id = call.args.need("user", "user_not_found")
    team = call.team_of_user(user_id)
    with_email = "users:read.email" in call.grant.scopes
    return {"user": shown.user(team.users[user_id], team, with_email=with_email)}


async def users_lookup_by_email(call: Call) -> Payload:
    """`users.lookupByEmail`."""
    email = call.args.need("email", "users_not_found").lower()
    for team in call.teams:
        for user in team.users.values():
            if user.email and user.email.lower() == email and not user.deleted:
                return {"user": shown.user(user, team, with_email=True)}
    raise ApiError("users_not_found")


async def bots_info(call: Call) -> Payload:
    """`bots.info`: the app's own bot, or another's."""
    bot_id = call.args.need("bot", "bot_not_found")
    for team in call.teams:
        if team.bot.bot_id == bot_id:
            own = {"id": bot_id, "app_id": team.bot.app_id, "user_id": team.bot.user}
            return {"bot": own | {"name": team.bot.name, "deleted": False}}
        for user in team.users.values():
            if user.bot_id == bot_id:
                other = {"id": bot_id, "app_id": "", "user_id": user.id}
                return {"bot": other | {"name": user.name, "deleted": user.deleted}}
    raise ApiError("bot_not_found")


async def team_info(call: Call) -> Payload:
    """`team.info`."""
    team = call.world.find_team(call.args.text("team")) if call.args.has("team") else call.team
    found: Payload = {"id": team.id, "name": team.name, "domain": team.domain, "email_domain": ""}
    if team.enterprise_id:
        found |= {"enterprise_id": team.enterprise_id, "enterprise_name": team.enterprise_name}
    return {"team": found}


async def reactions_add(call: Call) -> Payload:
    """`reactions.add`."""
    team, channel = call.place()
    message = team.find_message(channel.id, call.args.need("timestamp", "no_item_specified"))
    users = message.reactions.setdefault(call.args.need("name", "invalid_name").strip(":"), [])
    if team.bot.user in users:
        raise ApiError("already_reacted")
    users.append(team.bot.user)
    return {}
