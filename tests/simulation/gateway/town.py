"""The town: who there is, by which names, and who has which role.

Known here a second time, and simpler than in `gateway.people`: the rules ask this book, not the
code under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from channels.people import Actor
from gateway.settings.config import Person

ROLES: dict[str, tuple[str, ...]] = {
    "ann": ("approvers",),
    "ben": ("approvers",),
    "cem": ("approvers", "leads"),
    "dee": ("leads",),
    "eva": ("leads",),
    "ole": ("operator",),
}


@dataclass(frozen=True)
class Citizen:
    """Somebody."""

    name: str
    slack: str
    email: str

    def actor(self, channel: str) -> Actor:
        """Give them as a channel knows them."""
        own = f"slack:{self.slack}" if channel == "slack" else f"email:{self.email}"
        return Actor(id=own, name=self.name, email=self.email, how=channel)


class Town:
    """Everybody."""

    def __init__(self) -> None:
        names = enumerate(ROLES, start=1)
        self.citizens = [Citizen(one, f"T1:U{n}", f"{one}@town.example") for n, one in names]
        self.by_identity = {
            key: one
            for one in self.citizens
            for key in (one.name, f"slack:{one.slack}", f"email:{one.email}")
        }

    def persons(self, chance: Random) -> list[Person]:
        """Give them as the operator has written them down."""
        return [
            Person(
                name=one.name,
                slack=(one.slack,),
                email=(one.email,),
                roles=ROLES[one.name],
                prefer=chance.choice(((), ("slack",), ("email",))),
                ask=chance.choice(("first", "first", "all")),
            )
            for one in self.citizens
        ]

    def is_asked(self, name: str, audience: tuple[str, ...]) -> bool:
        """Tell whether somebody is one of those who may decide; known here a second time."""
        citizen = self.by_identity.get(name)
        if citizen is None:
            return False
        own = (citizen.name, f"slack:{citizen.slack}", f"email:{citizen.email}")
        return not {*own, *ROLES[citizen.name]}.isdisjoint(audience)
