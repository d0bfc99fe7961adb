# ruff: noqa: S608 - the statements are put together of the names of our own tables
"""Many rows in every table, alike on both databases: most of it is done, little of it waits.

A table or column that is added later is filled by its kind, and need not be named here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from storage.tables import tables

ROWS = 20_000
_NUMBERS = """(
    WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {0}) SELECT n FROM s
) AS s"""
_FEW = "n % 1000 = 0"
_VALUES = {
    "threads.agent": "'agent ' || n % 20",
    "threads.status": "CASE n % 1000 WHEN 1 THEN 'failed' ELSE 'finished' END",
    "threads.thread_key": f"CASE WHEN {_FEW} THEN 'key ' || n ELSE '' END",
    "threads.origin": "CASE n % 2 WHEN 0 THEN 'web:' ELSE 'slack:' END || n",
    "threads.requester": "'person ' || n % 500",
    "threads.wake_at": f"CASE WHEN {_FEW} THEN n END",
    "questions.status": f"CASE WHEN {_FEW} THEN 'open' ELSE 'answered' END",
    "questions.rank": f"CASE WHEN {_FEW} THEN 0 ELSE 1 END",
    "parties.party": "'party ' || n % 500",
    "deliveries.status": "CASE n % 1000 WHEN 0 THEN 'pending' WHEN 1 THEN 'failed' ELSE 'sent' END",
    "deliveries.due_at": "CASE WHEN n % 1000 < 2 THEN n END",
    "inbox.expires_at": "n",
    "kept.owner": "'owner ' || n % 50",
    "kept.expires_at": f"CASE WHEN {_FEW} THEN n END",
    "events.thread": "'id ' || n / 10",
}


def filling(rows: int = ROWS, many: Mapping[str, int] | None = None) -> Iterator[str]:
    """Give the statements that fill every table, in a dialect that both databases speak.

    `many` says of which tables there are more rows.
    """
    for table in tables().sorted_tables:
        values = [_value(table.name, column) for column in table.columns]
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        yield (
            f'INSERT INTO "{table.name}" ({names}) SELECT {", ".join(values)}'
            f" FROM {_NUMBERS.format((many or {}).get(table.name, rows))}"
        )


def _value(table: str, column: Any) -> str:  # noqa: ANN401 (a column of SQLAlchemy's)
    told = _VALUES.get(f"{table}.{column.name}")
    if told or column.nullable:
        return told or "NULL"
    match str(column.type):
        case "TEXT":
            return "'id ' || n" if column.name == "thread" else f"'{column.name} ' || n"
        case "BLOB":
            return "''"
        case _:
            return "n"
