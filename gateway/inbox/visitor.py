"""Visitors: who looks at the pages, and what they may. A value; who they are is decided elsewhere.

There are three kinds: nobody (not signed in), the holder of an API key, and a person of the
directory. A key may what its scopes say, as in the API. A person may look at, answer and talk in
what is theirs (`sight` knows what that is); operators may look at and steer everything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from channels.people import Actor
from gateway.settings.config import Person
from storage.values import Scope

Kind = Literal["nobody", "key", "person"]

_EVERYBODY: frozenset[Scope] = frozenset({"read", "answer", "launch"})
_OPERATOR: frozenset[Scope] = _EVERYBODY | {"control"}
_ADMIN: frozenset[Scope] = _OPERATOR | {"admin"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who asks for a page."""

    kind: Kind = "nobody"
    name: str = ""
    """As the log names them: a key's name, or the person's."""
    scopes: frozenset[Scope] = frozenset()
    person: Person | None = None
    """Also for a key that has a person's name: it decides what that person may."""
    session: str = ""
    """Names the session in lists; it is not the secret."""
    csrf: str = ""
    """What each form must bring back."""
    how: str = ""
    """How they signed in: `key`, `email` or `slack`."""

    @property
    def is_somebody(self) -> bool:
        """Tell whether they have signed in."""
        return self.kind != "nobody"

    @property
    def is_admin(self) -> bool:
        """Tell whether they may do everything, also pull the kill switch."""
        return "admin" in self.scopes

    @property
    def sees_all(self) -> bool:
        """Tell whether every thread and question is theirs to look at."""
        return self.kind == "key" or "control" in self.scopes

    @property
    def themselves(self) -> Visitor:
        """Give them as somebody who is asked, not as one who may see everything."""
        if self.person is None:
            return self if self.may("answer") else Visitor()
        if not self.sees_all:
            return self
        scopes: tuple[Scope, ...] = ("read", "answer")
        return replace(self, kind="person", scopes=frozenset(filter(self.may, scopes)))

    @property
    def by(self) -> str:
        """Give who acts, as the gateway's methods take it."""
        return self.name

    @property
    def actor(self) -> Actor:
        """Give who acts, as intake and the directory take it."""
        return Actor(id=self.name, name=self.name, how=f"inbox {self.how}".strip())

    def may(self, scope: Scope) -> bool:
        """Tell whether they may do what the API asks this scope for; `admin` may everything."""
        return scope in self.scopes or self.is_admin


def scopes_of(person: Person) -> frozenset[Scope]:
    """Give what a person may in general; of which threads, `sight` says."""
    roles = {role.strip().casefold() for role in person.roles}
    if "admin" in roles:
        return _ADMIN
    return _OPERATOR if "operator" in roles else _EVERYBODY
