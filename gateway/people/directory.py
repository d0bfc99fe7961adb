"""People: whose identities belong together, who may answer, and where somebody is reached.

Pure. An audience is a list of names, roles, addresses of people, and places; it comes from the
agent's author, a model, or the default (whoever began the thread). What a model writes can only
name people that the operator knows: it can't make somebody up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from channels.people import Actor
from gateway.people.places import MACHINES, is_within
from gateway.settings.config import Person
from gateway.settings.hours import Hours

OPERATORS = ("operator", "admin")
"""Roles of those who look after the installation, and may steer every thread."""
_ORDER = ("slack", "email")
"""Where to look for somebody who has no preference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Somebody, or a place, that an audience names: as what they are known, and the ways there."""

    identities: frozenset[str]
    ways: tuple[str, ...]
    """The preferred first."""
    at_once: bool = False
    """By all ways at once, not by the next when one has failed."""
    hours: Hours | None = None
    """When they may be written to, if not always."""
    is_known: bool = True
    """The operator has told us of them."""


class Directory:
    """Everybody that the operator has told us about."""

    def __init__(self, people: Iterable[Person] = ()) -> None:
        self._people = tuple(people)
        self._by_identity = {key: one for one in self._people for key in _identities(one)}
        self._reach = {one.name: _reach(one) for one in self._people}
        self._by_role: defaultdict[str, list[Person]] = defaultdict(list)
        for one in self._people:
            for role in one.roles:
                self._by_role[_key(role)].append(one)

    def person(self, actor: Actor) -> Person | None:
        """Give who it is, by their id or by the address that their channel vouches for."""
        keys = (_key(actor.id), *_vouched(actor))
        return next((self._by_identity[key] for key in keys if key in self._by_identity), None)

    def name(self, identity: str) -> str:
        """Give the name that people know an identity by, or the identity itself."""
        person = self._by_identity.get(_key(identity))
        return person.name if person else identity

    def names(self) -> list[str]:
        """Give every name and role, in the order of the file."""
        roles = (role for one in self._people for role in one.roles)
        return list(dict.fromkeys((*(one.name for one in self._people), *roles)))

    def knows(self, entry: str) -> bool:
        """Tell whether an entry of an audience stands for somebody listed."""
        return bool(self._named(entry))

    def canonical(self, identity: str) -> str:
        """Give one and the same string for everything that somebody is known as."""
        person = self._by_identity.get(_key(identity))
        return person.name if person else _key(identity)

    def known_as(self, person: Person) -> frozenset[str]:
        """Give everything that stands for somebody in an audience: identities, and roles."""
        return frozenset((*_identities(person), *(_key(role) for role in person.roles)))

    def whois(self, actor: Actor) -> str:
        """Give somebody's name if we know them, also by an address; else their id."""
        person = self.person(actor)
        return person.name if person else actor.id

    def may_answer(self, actor: Actor, audience: Sequence[str], place: str = "") -> bool:
        """Tell whether somebody is in an audience; `place` is where they say it."""
        person = self.person(actor)
        if actor.is_bot or (actor.is_external and person is None):
            return False
        theirs = {_key(actor.id), *_vouched(actor)}
        if person is not None:
            theirs |= self.known_as(person)
        return any(_key(one) in theirs or is_within(one, place) for one in audience)

    def may_control(self, actor: Actor, requester: str) -> bool:
        """Tell whether somebody may pause or cancel: who began it, and admins."""
        return self.may_answer(actor, (requester, *OPERATORS))

    def reaches(self, entry: str) -> list[Reach]:
        """Give everybody that an entry of an audience stands for, and how they are reached."""
        found = [self._reach[person.name] for person in self._named(entry)]
        return found or [_unlisted(entry)]

    def operators(self) -> list[Reach]:
        """Give those who look after this installation, each once."""
        people = chain.from_iterable(self._by_role.get(role, []) for role in OPERATORS)
        return [self._reach[name] for name in dict.fromkeys(one.name for one in people)]

    def ways_of(self, address: str) -> tuple[str, ...]:
        """Give all the ways to whoever is reached at an address, the preferred first."""
        person = self._by_identity.get(_key(address))
        return tuple(_addresses(person)) if person else ()

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
        return self._by_role.get(key, [])


def _reach(person: Person) -> Reach:
    return Reach(
        identities=frozenset(_identities(person)),
        ways=tuple(_addresses(person)),
        at_once=person.ask == "all",
        hours=person.works(),
    )


def _unlisted(entry: str) -> Reach:
    """Take an identity, or a place, for an address; a mere name is nowhere."""
    channel, found, _ = entry.partition(":")
    is_address = bool(found) and channel not in MACHINES
    ways = (entry,) if is_address else ()
    return Reach(identities=frozenset({_key(entry)}), ways=ways, is_known=False)


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


def _key(identity: str) -> str:
    """Compare without letter case: nobody is two people by a capital."""
    return identity.strip().casefold()
