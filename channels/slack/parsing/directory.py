"""What Slack's directory (`users.info`) says of somebody. Pure."""

from __future__ import annotations

from dataclasses import replace

from channels.people import Actor
from channels.slack.parsing.fields import Payload, text
from channels.slack.parsing.origin import Who


def described(who: Who, user: Payload) -> Actor:
    """Add what the directory says; its word on where somebody belongs counts more."""
    organisation = text(user, "enterprise_user", "enterprise_id")
    is_colleague = bool(who.enterprise) and organisation == who.enterprise
    is_stranger = user.get("is_stranger") is True and not is_colleague
    team = who.workspace if is_colleague else text(user, "team_id") or who.team
    actor = replace(who, team=team).actor()
    is_external = actor.is_external or is_stranger
    return replace(
        actor,
        name=called(user) or who.name,
        # Another organisation's word for an address proves nothing here.
        email="" if is_external else text(user, "profile", "email"),
        is_bot=user.get("is_bot") is True or user.get("is_workflow_bot") is True,
        is_external=is_external,
    )


def called(user: Payload) -> str:
    """Give how people call somebody."""
    candidates = (
        text(user, "profile", "display_name"),
        text(user, "profile", "real_name"),
        text(user, "real_name"),
        text(user, "name"),
    )
    return next((one for one in candidates if one), "")
