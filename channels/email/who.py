"""People as a mail names them. Pure."""

from __future__ import annotations

from typing import Final

from channels.email.encoded_words import one_line
from channels.email.places import parse_place

_LONGEST: Final = 100
_ELSEWHERE: Final = {"slack": "somebody in Slack", "web": "somebody with a key"}


def person(who: str) -> str:
    """Name an actor, a person or a role."""
    if place := parse_place(who):
        return place.email
    channel, is_id, _ = who.partition(":")
    if is_id and channel in _ELSEWHERE:
        return _ELSEWHERE[channel]
    return one_line(who)[:_LONGEST] or "somebody"
