"""A city of people, each with several identities, and what they may be asked about. From a seed.

Who belongs together, and who has which role, is known here a second time and simpler than in
`gateway.people.directory`: the checks ask this book, not the code under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from agent_core import Escalation, Policy, Waiting
from agent_core.thread.questions import OnExpiry
from channels.people import Actor
from gateway.settings.config import Person

ROLES = 12
MINUTE, HOUR, DAY = 60, 3_600, 86_400
_ENDS: tuple[OnExpiry, ...] = ("deny", "escalate", "escalate", "tell_agent", "wait")


@dataclass(frozen=True)
class Citizen:
    """Somebody."""

    name: str
    slack: str
    mails: tuple[str, ...]
    roles: frozenset[str]
    hours: str

    def person(self) -> Person:
        """Give them as the operator wrote them down."""
        return Person(
            name=self.name,
            slack=(self.slack,),
            email=self.mails,
            roles=tuple(sorted(self.roles)),
            hours=self.hours,
        )

    def identities(self) -> dict[str, Actor]:
        """Give every way in which they come in: also a Slack user that only a profile explains."""
        mails = {f"email:{one}": Actor(id=f"email:{one}", email=one) for one in self.mails}
        known = Actor(id=f"slack:{self.slack}", name=self.name)
        profiled = Actor(id=f"slack:{self.slack}X", email=self.mails[0], name=self.name)
        return mails | {known.id: known, profiled.id: profiled}

    def is_asked(self, audience: tuple[str, ...]) -> bool:
        """Tell whether they are one of those who may decide."""
        return self.name in audience or not self.roles.isdisjoint(audience)


@dataclass(frozen=True)
class Rule:
    """A tool that must be approved: by whom, by how many, and for how long it waits."""

    name: str
    approvers: tuple[str, ...]
    policy: Policy
    waiting: Waiting


class City:
    """Everybody, and the rules that they live by."""

    def __init__(self, chance: Random, people: int, rules: int) -> None:
        """Draw them."""
        self.people = [_citizen(chance, number) for number in range(people)]
        self.owner = {key: one for one in self.people for key in one.identities()}
        self.rules = [self._rule(chance, number) for number in range(rules)]

    def asked(self, audience: tuple[str, ...]) -> list[Citizen]:
        """Give all who may decide."""
        return [one for one in self.people if one.is_asked(audience)]

    def who(self, identity: str) -> str:
        """Name whoever is behind an identity; a key of the API is somebody by itself."""
        citizen = self.owner.get(identity)
        return citizen.name if citizen else identity

    def _rule(self, chance: Random, number: int) -> Rule:
        others = (self._somebody(chance),) if chance.random() < 0.3 else ()
        quorum = chance.choice((1, 1, 1, 2, 2, 3))
        policy = Policy(quorum, chance.random() < 0.4, chance.random() < 0.7)
        approvers = (f"role{chance.randrange(ROLES)}", *others)
        return Rule(f"act_{number}", approvers, policy, self._waiting(chance))

    def _waiting(self, chance: Random) -> Waiting:
        return Waiting(
            remind_after=chance.choice((None, 10 * MINUTE, HOUR, DAY)),
            remind_times=chance.choice((None, 1, 3)),
            remind_growth=chance.choice((1, 2, 3)),
            expires_after=chance.choice((None, HOUR, 6 * HOUR, DAY, 2 * DAY)),
            on_expiry=chance.choice(_ENDS),
            escalate_to=self._chain(chance),
        )

    def _chain(self, chance: Random) -> tuple[str | Escalation, ...]:
        steps: list[str | Escalation] = []
        for _ in range(chance.randint(1, 3)):
            if chance.random() < 0.5:
                steps.append(self._somebody(chance))
            else:
                both = (self._somebody(chance), f"role{chance.randrange(ROLES)}")
                steps.append(Escalation(both, chance.choice((None, 5 * MINUTE, DAY))))
        return tuple(steps)

    def _somebody(self, chance: Random) -> str:
        return chance.choice(self.people).name


def _citizen(chance: Random, number: int) -> Citizen:
    mails = tuple(f"p{number}.{n}@city.example" for n in range(chance.randint(1, 2)))
    roles = frozenset(f"role{n}" for n in range(ROLES) if chance.random() < 0.03)
    hours = "Mon-Fri 09:00-17:00" if chance.random() < 0.2 else ""
    return Citizen(f"p{number}", f"T1:U{number}", mails, roles, hours)
