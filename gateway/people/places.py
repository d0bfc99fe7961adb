"""Places: who can see what is said at an address, as far as the address itself tells. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

MACHINES = frozenset({"web", "webhook", "callback", "event"})
"""What stands before the addresses of programs: no person sees what is said there."""


def shows(place: str, identities: Collection[str], *, requester: Collection[str]) -> bool:
    """Tell whether somebody sees what is said in a place, by all that they are known as.

    A channel of Slack is taken to show it to everybody of that workspace: who is not in it gets a
    message of their own once Slack has told so.
    """
    channel, _, rest = place.partition(":")
    if channel in MACHINES or not channel:
        return False
    if channel == "email":
        return f"email:{rest.partition(':')[0]}".casefold() in identities
    if channel == "slack":
        return _shown_in_slack(place, identities, requester)
    return True


def is_channel(place: str) -> bool:
    """Tell whether it is in a channel of Slack's, which some see and others don't."""
    parts = place.split(":")
    return parts[0] == "slack" and parts[2:3] != [] and parts[2].startswith(("C", "G"))


def is_within(entry: str, place: str) -> bool:
    """Tell whether an entry is a place (`slack:T1:C1`), and another place is in it."""
    return entry.count(":") >= 2 and bool(place) and f"{place}:".startswith(f"{entry}:")  # noqa: PLR2004 (channel, tenant, room)


def _shown_in_slack(place: str, identities: Collection[str], requester: Iterable[str]) -> bool:
    _, team, room = (*place.split(":"), "", "")[:3]
    if room.startswith(("U", "W")):
        return f"slack:{team}:{room}".casefold() in identities
    if room.startswith("D"):
        return any(one in identities for one in requester)
    folk = (f"slack:{team}:u".casefold(), f"slack:{team}:w".casefold())
    return any(one.startswith(folk) or is_within(one, place.casefold()) for one in identities)
