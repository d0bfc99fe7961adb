"""Whose a payload is: the workspace that we are installed in, and who did it. Pure.

The two are not the same: over Slack Connect people of other organisations write and click here.
Events name our workspace in `authorizations`, clicks in `team`, filled forms in the view's
`app_installed_team_id` (their `team` is that of whoever filled it).
"""

from __future__ import annotations

from dataclasses import dataclass

from channels.people import Actor
from channels.slack import addresses
from channels.slack.parsing.fields import Payload, part, parts, text


def workspace(payload: Payload) -> str:
    """Give the id of the workspace that we are installed in; empty where none is named."""
    for authorization in parts(payload, "authorizations"):
        if team := text(authorization, "team_id"):
            return team
    candidates = (
        text(payload, "context_team_id"),  # an organisation's installation names no workspace
        text(payload, "view", "app_installed_team_id"),
        text(payload, "team", "id"),
        text(payload, "team_id"),
        text(payload, "user", "team_id"),
        text(payload, "view", "team_id"),
    )
    return next((one for one in candidates if one), "")


def enterprise(payload: Payload) -> str:
    """Give the id of the organisation (Enterprise Grid) that our workspace belongs to, if any."""
    for authorization in parts(payload, "authorizations"):
        return text(authorization, "enterprise_id")
    return text(payload, "enterprise", "id") or text(payload, "enterprise_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Somebody, as far as a payload tells."""

    workspace: str
    user: str
    team: str = ""
    """Their own workspace or organisation; empty where the payload doesn't say."""
    enterprise: str = ""
    """Our organisation."""
    name: str = ""
    is_shared: bool = False
    """The place is shared with another organisation."""

    @property
    def is_external(self) -> bool:
        """They are from elsewhere; where it is not known, a shared place makes them strangers."""
        if not self.team:
            return self.is_shared
        return self.team not in (self.workspace, self.enterprise)

    def actor(self) -> Actor:
        """Name them: by their own workspace if it is another."""
        is_named = self.is_external and self.team
        return Actor(
            id=addresses.person(self.team if is_named else self.workspace, self.user),
            name=self.name,
            is_external=self.is_external,
        )


def writer(payload: Payload, message: Payload, user: str) -> Who:
    """Say who wrote a message of an event."""
    candidates = (
        text(message, "user_team"),
        text(message, "user_profile", "team"),
        text(message, "source_team"),
        text(message, "team"),
    )
    return Who(
        workspace=workspace(payload),
        user=user,
        team=next((one for one in candidates if one), ""),
        enterprise=enterprise(payload),
        name=text(message, "user_profile", "display_name")
        or text(message, "user_profile", "real_name"),
        is_shared=payload.get("is_ext_shared_channel") is True,
    )


def clicker(payload: Payload) -> Who:
    """Say who clicked, or filled a form."""
    user = part(payload, "user")
    return Who(
        workspace=workspace(payload),
        user=text(user, "id"),
        team=text(user, "team_id") or text(payload, "team", "id"),
        enterprise=enterprise(payload),
        name=text(user, "name") or text(user, "username"),
    )
