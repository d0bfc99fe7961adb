"""The groups of a table on one side: their digests, and one for all of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from storage.copying.plans import Key


class Group(NamedTuple):
    """What a group holds, in short."""

    rows: int
    digest: bytes


class Difference(NamedTuple):
    """What must be done to the target: take these away, put those in their place."""

    gone: list[Key]
    """There, and not here, or another here."""
    wanted: list[Key]
    """Here, and not the same there; in the order of the keys."""


class Groups(dict[Key, Group]):
    """The groups of a table, by their keys."""

    @property
    def rows(self) -> int:
        """Count the rows."""
        return sum(group.rows for group in self.values())

    @property
    def digest(self) -> str:
        """Give one digest for all, whatever the order that they were read in."""
        whole = sha256()
        for key in sorted(self):
            whole.update(repr(key).encode())
            whole.update(self[key].digest)
        return whole.hexdigest()

    def missing_in(self, there: Groups) -> Difference:
        """Tell what the other side must change to be like this one."""
        wanted = [key for key, group in self.items() if there.get(key) != group]
        return Difference(
            gone=[key for key, group in there.items() if self.get(key) != group],
            wanted=wanted,
        )


def digested(lines: Iterable[tuple[str | int, ...]], key_size: int) -> Groups:
    """Hash lines that come group by group; each is a row's key and its text."""
    return Groups(_digested(lines, key_size))


def _digested(lines: Iterable[tuple[str | int, ...]], size: int) -> Iterator[tuple[Key, Group]]:
    for key, rows in groupby(lines, key=itemgetter(slice(size))):
        count, whole = 0, sha256()
        for row in rows:
            count += 1
            whole.update(str(row[size]).encode())
        yield key, Group(count, whole.digest())
