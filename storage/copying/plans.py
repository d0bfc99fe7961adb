"""How a table is compared and copied, on either side. Pure: it makes statements, and runs none.

Both databases write a row as the same line of text: each value with its length before it, so that
no two rows have the same line. Hashing the lines is left to whoever reads them, because SQLite has
no hash and PostgreSQL need not send the rows for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from sqlalchemy import BigInteger, Integer, LargeBinary, Table

from storage.migrations.versions import SERVES_NAME
from storage.sqlite.moving import MOVED
from storage.tables import tables

Kind: TypeAlias = Literal["text", "number", "bytes"]
Key: TypeAlias = tuple[str | int, ...]

COPIED = "copied"
"""The row of the target's settings that says by which copy it was filled."""

_TAKEN = {"settings": f"name NOT IN ('{MOVED}', '{COPIED}', '{SERVES_NAME}')"}
"""What of a table is compared and copied: not what a database says of itself."""

_ON_SQLITE: dict[Kind, str] = {
    "text": "{0}",
    "number": "{0}",
    "bytes": "CASE WHEN {0} IS NOT NULL THEN lower(hex({0})) END",  # hex(NULL) is ''
}
_ON_POSTGRES: dict[Kind, str] = {
    "text": "{0}",
    "number": "{0}::text",
    "bytes": "encode({0}, 'hex')",
}


@dataclass(frozen=True)
class Plan:
    """A table, its columns, and which of its rows make a group."""

    table: str
    kinds: dict[str, Kind]
    group: tuple[str, ...]
    """The columns whose values the rows of a group share; they lead the primary key."""
    order: str
    """The number that orders a group's rows; empty if a group is one row."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Name the columns, in one order for both sides."""
        return tuple(self.kinds)

    @property
    def counter(self) -> str:
        """Name the column that a database may count up by itself; empty if there is none."""
        [first, *more] = self.group
        return first if not more and not self.order and self.kinds[first] == "number" else ""

    @property
    def here_lines(self) -> str:
        """SQLite: each row's key and line, group after group."""
        names = _listed(self.group)
        order = _listed((*self.group, self.order) if self.order else self.group)
        return f"SELECT {names}, {self._line(_ON_SQLITE)} FROM {self._taken} ORDER BY {order}"

    @property
    def here_rows(self) -> str:
        """SQLite: the rows of one group."""
        wanted = " AND ".join(f'"{name}" = ?' for name in self.group)
        order = f' ORDER BY "{self.order}"' if self.order else ""
        return f'SELECT {_listed(self.columns)} FROM "{self.table}" WHERE {wanted}{order}'

    @property
    def there_digests(self) -> str:
        """PostgreSQL: each group's key, number of rows, and digest."""
        names, line = _listed(self.group), self._line(_ON_POSTGRES)
        if not self.order:
            return f"SELECT {names}, 1, sha256(convert_to({line}, 'UTF8')) FROM {self._taken}"
        lines = f"string_agg({line}, '' ORDER BY \"{self.order}\")"
        return (
            f"SELECT {names}, count(*), sha256(convert_to({lines}, 'UTF8'))"
            f" FROM {self._taken} GROUP BY {names}"
        )

    @property
    def there_any(self) -> str:
        """PostgreSQL: is there anything that a copy would change?"""
        return f"SELECT EXISTS (SELECT FROM {self._taken})"

    @property
    def there_delete(self) -> str:
        """PostgreSQL: take groups away; an array for each column of their keys."""
        arrays = ", ".join(
            f"${place}::{'bigint' if self.kinds[name] == 'number' else 'text'}[]"
            for place, name in enumerate(self.group, start=1)
        )
        same = " AND ".join(f'it."{name}" = gone."{name}"' for name in self.group)
        return (
            f'DELETE FROM "{self.table}" AS it'
            f" USING unnest({arrays}) AS gone ({_listed(self.group)}) WHERE {same}"
        )

    @property
    def _taken(self) -> str:
        return f'"{self.table}" WHERE {_TAKEN.get(self.table, "true")}'

    def _line(self, ways: dict[Kind, str]) -> str:
        texts = [ways[kind].format(f'"{name}"') for name, kind in self.kinds.items()]
        return " || ".join(f"coalesce(length({text}) || ':' || {text}, '-')" for text in texts)


def plans() -> list[Plan]:
    """Give a plan for every table that is declared."""
    return [_plan(table) for table in tables().sorted_tables]


def _plan(table: Table) -> Plan:
    # SQLAlchemy's names are texts of its own kind, which no encoder knows.
    name = str(table.name)
    kinds = {str(column.name): _kind(column.type) for column in table.columns}
    *group, last = [str(column.name) for column in table.primary_key.columns]
    if group and kinds[last] == "number":
        return Plan(name, kinds, tuple(group), last)
    return Plan(name, kinds, (*group, last), "")


def _kind(kind: object) -> Kind:
    if isinstance(kind, LargeBinary):
        return "bytes"
    return "number" if isinstance(kind, BigInteger | Integer) else "text"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)
