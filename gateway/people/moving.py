"""Moving a conversation: "continue this by email", and where that leads. Pure.

Only whole phrases count, as the first line of what somebody says: "continue the email campaign" is
something to tell the agent.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final, Literal

from agent_core.errors import Refused
from channels.people import Actor
from gateway.people.directory import Directory

MovesTo = Literal["email", "slack"]
CHANNELS: Final[tuple[MovesTo, ...]] = ("email", "slack")

_SENTENCE = re.compile(
    r"(?ix) (?:please[ ,]+)? (?:let'?s[ ]+|can[ ]we[ ]+)?"
    r"(?:continue|carry[ ]on|go[ ]on|move|take)"
    r"(?:[ ]+(?:this|it|that|the[ ]conversation|our[ ]conversation|the[ ]thread))?"
    r"[ ]+(?:by|in|on|via|over|to|with)[ ]+(?:my[ ]+)?(?P<where>e-?mail|mail|slack)"
    r"(?:[ ]*,?[ ]*please)? [ .!?]*"
)
_GERMAN = re.compile(
    r"(?ix) (?:bitte[ ]+)? (?:(?:mach(?:en)?[ ](?:wir[ ])?)?weiter|weitermachen)"
    r"[ ]+(?:per|in|über|via)[ ]+(?P<where>e-?mail|mail|slack) [ .!?]*"
)


def read_move(text: str) -> tuple[MovesTo, str] | None:
    """Read where a conversation is to go on, and what else was said; None for other words."""
    first, _, rest = text.strip().partition("\n")
    found = _SENTENCE.fullmatch(first.strip()) or _GERMAN.fullmatch(first.strip())
    if found is None:
        return None
    return ("slack" if found["where"].lower() == "slack" else "email"), rest.strip()


def vouched_address(actor: Actor, requester: str) -> str:
    """Give the address that their channel vouches for, of who began it; no other's word counts."""
    is_theirs = actor.id == requester and actor.is_authenticated and not actor.is_external
    return actor.email if is_theirs else ""


def way_to(
    people: Directory, channels: Container[str], requester: str, channel: str, vouched: str = ""
) -> str:
    """Give somebody's address on a channel, or tell why there is none.

    `vouched` is an email address that their own channel knows them by.
    """
    if channel not in CHANNELS:
        names = " and ".join(CHANNELS)
        raise Refused(f"A conversation can't move to {channel or 'nowhere'}: there are {names}.")
    if channel not in channels:
        raise Refused(f"A conversation can't move to {channel}: it is not turned on here.")
    ways = (*people.ways_of(requester), requester, *([f"email:{vouched}"] if vouched else ()))
    found = next((way for way in ways if way.startswith(f"{channel}:")), "")
    if not found:
        who = people.name(requester)
        raise Refused(
            f"Nobody has told me how {who} is reached by {channel}: "
            f"the operator can add it in parley.toml, under [[people]]."
        )
    return found
