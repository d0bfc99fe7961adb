"""People and moments, as a message names them. Only ids of this workspace become mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime, spoken
from channels.slack.render.escaping import mrkdwn

_USER: Final = re.compile(r"[UW][A-Z0-9]{1,30}")
_PLACE: Final = re.compile(r"[CG][A-Z0-9]{1,30}")
_MOST_NAMES: Final = 10


def person(who: str, team: str) -> str:
    """Name an actor, a role or a place in `mrkdwn`; nobody unknown is called."""
    channel, _, rest = who.partition(":")
    if channel == "slack":
        in_team, _, ident = rest.partition(":")
        ident = ident.partition(":")[0]
        if in_team == team and _USER.fullmatch(ident):
            return f"<@{ident}>"
        if in_team == team and _PLACE.fullmatch(ident):
            return f"<#{ident}>"
        return "somebody in another workspace"
    name = rest if channel == "email" and rest else who
    return mrkdwn(name, 100) or "somebody"


def people(audience: Iterable[str], team: str) -> str:
    """Name an audience: "@otto, approver and 3 more"."""
    names = list(dict.fromkeys(person(who, team) for who in audience))
    shown = ", ".join(names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"


def moment(at: int) -> str:
    """Write a moment in the reader's own time zone."""
    seconds = int(as_datetime(Millis(at)).timestamp())
    return f"<!date^{seconds}^{{date_short_pretty}} at {{time}}|{spoken(Millis(at))}>"
