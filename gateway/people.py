"""People: whose identities belong together, who may answer, and where somebody is reached.

Pure. An audience is a list of names, roles, addresses of people, and places; it comes from the
agent's author, a model, or the default (whoever began the thread). What a model writes can only
name people that the operator knows: it can't make somebody up.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from channels.people import Actor
from gateway.config import Person

_ORDER = ("slack", "email")
"""Where to look for somebody who has no preference."""


class Directory:
    """Everybody that the operator has told us about."""

    def __init__(self, people: Iterable[Person] = ()) -> None:
        self._people = tuple(people)
        self._by_identity = {key: one for one in self._people for key in _identities(one)}

    def person(self, actor: Actor) -> Person | None:
        """Give who it is, by their id or by the address that their channel vouches for."""
        keys = (_key(actor.id), *_vouched(actor))
        return next((self._by_identity[key] for key in keys if key in self._by_identity), None)

    def name(self, identity: str) -> str:
        """Give the name that people know an identity by, or the identity itself."""
        person = self._by_identity.get(_key(identity))
        return person.name if person else identity

    def may_answer(self, actor: Actor, audience: Sequence[str], place: str = "") -> bool:
        """Tell whether somebody is in an audience; `place` is where they say it."""
        person = self.person(actor)
        if actor.is_bot or (actor.is_external and person is None):
            return False
        theirs = {_key(actor.id), *_vouched(actor)}
        if person is not None:
            theirs |= {*_identities(person), *(_key(role) for role in person.roles)}
        return any(_key(one) in theirs or _holds(one, place) for one in audience)

    def may_control(self, actor: Actor, requester: str) -> bool:
        """Tell whether somebody may pause or cancel: who began it, and admins."""
        return self.may_answer(actor, (requester, "admin", "operator"))

    def addresses(self, audience: Sequence[str]) -> list[str]:
        """Give where an audience is reached, the preferred ways first."""
        found: dict[str, None] = {}
        for one in audience:
            for person in self._named(one):
                found |= dict.fromkeys(_addresses(person))
            if one.count(":") >= 1 and not one.startswith("web:"):
                found.setdefault(one)
        return list(found)

    def nearest(self, audience: Sequence[str], channels: Container[str]) -> list[str]:
        """Give one address for each of an audience: the first that there is a channel for."""
        found: dict[str, None] = {}
        for one in audience:
            for ways in [_addresses(person) for person in self._named(one)] or [[one]]:
                usable = [way for way in ways if _is_usable(way, channels)]
                found |= dict.fromkeys(usable[:1])
        return list(found)

    def seen_from(self, channel: str, identity: str) -> str:
        """Give an identity as a channel can show it best: its own, else the name."""
        person = next(iter(self._named(identity)), None)
        if person is None or identity.startswith(f"{channel}:"):
            return identity
        own = [one for one in _addresses(person) if one.startswith(f"{channel}:")]
        is_one = _key(identity) in _identities(person)
        return own[0] if own and is_one else self.name(identity)

    def _named(self, one: str) -> list[Person]:
        """Give who an entry of an audience stands for: one person, or all of a role."""
        key = _key(one)
        if key in self._by_identity:
            return [self._by_identity[key]]
        return [person for person in self._people if key in map(_key, person.roles)]


def _identities(person: Person) -> set[str]:
    return {
        _key(person.name),
        *(_key(f"slack:{one}") for one in person.slack),
        *(_key(f"email:{one}") for one in person.email),
        *(_key(one) for one in person.email),
    }


def _vouched(actor: Actor) -> list[str]:
    """Give what their address stands for; another organisation may write any into its profiles."""
    if not actor.email or actor.is_external:
        return []
    return [_key(f"email:{actor.email}"), _key(actor.email)]


def _addresses(person: Person) -> list[str]:
    ways = {
        "slack": [f"slack:{one}" for one in person.slack],
        "email": [f"email:{one}" for one in person.email],
    }
    order = dict.fromkeys((*person.prefer, *_ORDER))
    return [address for way in order for address in ways.get(way, ())]


def _is_usable(address: str, channels: Container[str]) -> bool:
    channel, found, _ = address.partition(":")
    return bool(found) and channel != "web" and channel in channels


def _holds(entry: str, place: str) -> bool:
    """Tell whether an entry is a place (`slack:T1:C1`), and this was said in it."""
    return entry.count(":") >= 2 and bool(place) and f"{place}:".startswith(f"{entry}:")  # noqa: PLR2004 (channel, tenant, room)


def _key(identity: str) -> str:
    """Compare without letter case: nobody is two people by a capital."""
    return identity.strip().casefold()
