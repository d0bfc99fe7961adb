"""Whoever is to be erased: all that they are known as, and what stands in its place. Pure."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gateway.settings.config import Person
from storage.seals import Seal

GONE = "[erased]"
"""What people and models see where somebody's words were."""
_LETTERS = 8
_SHORTEST_NAME = 3
"""Shorter names occur in too many words to tell anything."""
_EMAIL = re.compile(r"[^@\s<>,;:\"]+@[^@\s<>,;:\"]+")
_ADDRESS = re.compile(r"(slack:[^:\s]+:[^:\s]+|email:[^@\s]+@[^@\s:]+)", re.IGNORECASE)


class UnknownPerson(ValueError):
    """Nobody is known by that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """Somebody, by every identity, and their pseudonym."""

    tag: str
    identities: frozenset[str]
    """Without letter case: a name, `slack:T1:U2`, `email:ann@example.com`, the mere address."""
    rooms: frozenset[str] = field(default=frozenset())
    """Conversations with nobody but them and us, such as a direct message."""

    @property
    def name(self) -> str:
        """What stands where they were named; it has no colon, so nothing is ever sent there."""
        return f"erased person #{self.tag}"

    @property
    def address(self) -> str:
        """What stands in place of their addresses: one where saying something tells nobody."""
        return f"web:erased-{self.tag}"

    @property
    def emails(self) -> list[str]:
        """Give their mere addresses."""
        return sorted(one for one in self.identities if "@" in one and ":" not in one)

    def is_them(self, who: str) -> bool:
        """Tell whether a name or an identity is theirs."""
        return key(who) in self.identities

    def named(self, who: str) -> str:
        """Give a name, or the pseudonym if it is theirs."""
        return self.name if self.is_them(who) else who

    def is_at(self, address: str) -> bool:
        """Tell whether an address is theirs, or a conversation with them alone."""
        there = f"{key(address)}:"
        return any(there.startswith(f"{one}:") for one in (*self.rooms, *self._addresses()))

    def placed(self, address: str) -> str:
        """Give an address, or the one that nobody is at if it is theirs."""
        return self.address if self.is_at(address) else address

    def put(self, word: str) -> str:
        """Give what stands for a word that may be a name or an address."""
        return self.named(word) if self.is_them(word) else self.placed(word)

    def known_as(self, identities: Iterable[str]) -> Persona:
        """Give the same person, with more that they are known as."""
        return replace(self, identities=self.identities | {key(one) for one in identities})

    def within(self, rooms: Iterable[str]) -> Persona:
        """Give the same person, with conversations that were theirs alone."""
        return replace(self, rooms=self.rooms | {key(one) for one in rooms})

    def words(self) -> list[str]:
        """Give what to look for in texts: each identity, and the mere id of a Slack account."""
        accounts = (one.rpartition(":")[2] for one in self.identities if one.startswith("slack:"))
        found = {*self.identities, *accounts}
        return sorted(one for one in found if len(one) >= _SHORTEST_NAME)

    def occurrences(self, text: str) -> int:
        """Count where a text names them, as whole words."""
        return len(_pattern(tuple(self.words())).findall(text))

    def scrubbed(self, text: str) -> str:
        """Put the pseudonym wherever our own words name them."""
        return _pattern(tuple(self.words())).sub(self.name, text)

    def _addresses(self) -> Iterable[str]:
        return (one for one in self.identities if ":" in one)


def identities_of(who: str, people: Iterable[Person]) -> frozenset[str]:
    """Give all that somebody is known as, or raise UnknownPerson."""
    wanted, listed = key(who), {one.name: _identities(one) for one in people}
    spelled = f"email:{wanted}" if _EMAIL.fullmatch(wanted) else wanted
    for theirs in listed.values():
        if wanted in theirs or spelled in theirs:
            return theirs
    if not _ADDRESS.fullmatch(spelled):
        names = ", ".join(listed) or "nobody is listed"
        raise UnknownPerson(
            f"{who!r} is nobody: give a name of [[people]] in parley.toml ({names}), or an "
            "address, like ann@example.com, email:ann@example.com or slack:T1:U2"
        )
    mere = spelled.removeprefix("email:")
    return frozenset({spelled, mere} if spelled.startswith("email:") else {spelled})


def new_tag(seal: Seal, identities: Iterable[str]) -> str:
    """Make up a pseudonym: the same for the same person, and nobody can guess who it is."""
    text = "\0".join(("erased person", *sorted(identities)))
    return b32encode(seal(text.encode()))[:_LETTERS].decode().lower()


@lru_cache(maxsize=16)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Find any of these words, the longest first, and not within another word or address.

    Slack writes `<@U2>` for an account.
    """
    # Without letter case "Groß" is "gross", and a pattern does not know that.
    spelled = [re.escape(one).replace("ss", "(?:ss|ß)") for one in words]
    either = "|".join(sorted(spelled, key=len, reverse=True))
    return re.compile(rf"(?<![\w.-])(?<![^<]@)(?:{either})(?![\w@-])", re.IGNORECASE)


def key(who: str) -> str:
    """Compare without letter case, as everywhere."""
    return who.strip().casefold()


def _identities(person: Person) -> frozenset[str]:
    names = (person.name, *(f"slack:{one}" for one in person.slack))
    mails = (name for one in person.email for name in (one, f"email:{one}"))
    return frozenset(key(one) for one in (*names, *mails))
