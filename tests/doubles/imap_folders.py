"""Folders of the small IMAP server: numbered mails, and how a client names some of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(\([^()]*\))|(\S+)')


@dataclass
class Stored:
    """A mail in a folder."""

    uid: int
    raw: bytes
    flags: set[str] = field(default_factory=set)


@dataclass
class Folder:
    """A folder, and what counts its mails."""

    uidvalidity: int = 1
    uidnext: int = 1
    mails: list[Stored] = field(default_factory=list)

    def add(self, raw: bytes) -> Stored:
        """Put a mail into it."""
        stored = Stored(self.uidnext, raw)
        self.uidnext += 1
        self.mails.append(stored)
        return stored

    def is_all_seen(self) -> bool:
        """Tell whether every mail was marked."""
        return all("\\Seen" in mail.flags for mail in self.mails)

    def renumber(self) -> None:
        """Lose count, as after a restore: the same mails under other numbers."""
        self.uidvalidity += 1
        for number, mail in enumerate(self.mails, start=1):
            mail.uid = number
        self.uidnext = len(self.mails) + 1


def words(rest: str) -> list[str]:
    """Split arguments: atoms, quoted strings, lists."""
    return [
        re.sub(r"\\(.)", r"\1", quoted) if not (listed or atom) else listed or atom
        for quoted, listed, atom in _TOKEN.findall(rest)
    ]


def fits(mail: Stored, criteria: str, folder: Folder) -> bool:
    """Tell whether a mail is searched for: by number, by whether it was seen, or all."""
    words = criteria.upper().replace("(", " ").replace(")", " ").split()
    if "UNSEEN" in words and "\\Seen" in mail.flags:
        return False
    wanted = [after for word, after in pairwise(words) if word == "UID"]
    return all(mail.uid in numbered(one, folder) for one in wanted)


def numbered(text: str, folder: Folder) -> set[int]:
    """Read a set of numbers, such as 3,5:7,9:*; the last one is always in `n:*`."""
    highest = max((mail.uid for mail in folder.mails), default=0)
    return set(_each(text, highest))


def _each(text: str, highest: int) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition(":")
        ends = [highest if one == "*" else int(one) for one in (first, last or first)]
        yield from range(min(ends), max(ends) + 1)
