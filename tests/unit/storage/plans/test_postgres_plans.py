"""How PostgreSQL finds things: every statement of the store, on tables that have grown.

A new statement is looked at without being named here; one that may read everything is named below,
with the reason.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from storage import postgres
from storage.postgres import lists, statements
from storage.postgres.driver import Driver, Row, Tuning
from storage.tables import tables
from tests.doubles.postgres import postgres_url, upgraded
from tests.unit.storage.plans.crowd import filling
from tests.unit.storage.plans.sql_in_code import builders, constants, is_template, literals
from tests.unit.storage.plans.wishes import NOW, RARE_QUESTIONS, RARE_THREADS, WISHES

pytestmark = pytest.mark.asyncio(loop_scope="module")

PIECES = {
    "audit._LOGS": "filled in by _PAGE and _ONE",
    "commit_sql._CONDITIONS_AND_EVENTS": "a part of COMMIT and COMMIT_EVENTS",
    "retention_sql._STONE": "a part of TOMBSTONE and TOMBSTONES",
}
"""No statements by themselves; what is made of them is looked at."""
LISTS = {"lists.thread_page", "lists.question_page"}
"""Put together of what is wished for; asked here with every wish."""
READ_EVERYTHING = {
    "retention_sql.COPIES": "goes through the whole inbox after a purge",
    "retention_sql.FORGET_PLACES": "a person is erased seldom, and looked for everywhere",
    "retention_sql.FORGET_SENDERS": "a person is erased seldom, and looked for everywhere",
    "audit._STRAYS": "an audit looks for what belongs to no thread, which only a look at all shows",
    "statements.KEYS": "all keys are listed, and there are a few of them",
}
SMALL = {"alembic_version", "api_keys", "settings"}
FEW_ROWS = 1_000
"""Of 20,000 in each table: what is sorted must be less."""


class Noting(Driver):
    """Notes what it is asked, and finds nothing."""

    def __init__(self) -> None:
        """Connect to nobody."""
        super().__init__("", Tuning())
        self.noted: dict[str, tuple[object, ...]] = {}

    async def fetch(self, sql: str, *arguments: object, again: bool) -> list[Row]:
        """Note the statement."""
        assert again
        self.noted[sql] = arguments
        return []


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def database() -> AsyncIterator[Any]:
    """Give a connection, as a store's, to tables that have grown; no test changes them."""
    async with postgres_url(upgraded) as url:
        connection = await asyncpg.connect(url)
        await connection.execute("SET plan_cache_mode = force_generic_plan; SET jit = off")
        for statement in filling():
            await connection.execute(statement)
        await connection.execute("ANALYZE")
        yield connection
        await connection.close()


async def plan_of(
    database: Any,  # noqa: ANN401 (asyncpg has no types)
    sql: str,
    arguments: Sequence[object] | None = None,
) -> dict[str, Any]:
    """Give the plan for all arguments, which is the one that the store uses; with some, run it."""
    await database.execute(f"PREPARE it AS {sql}")
    taken = await database.fetchval(
        "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'it'"
    )
    values = [_literal(each) for each in arguments or [None] * taken]
    given = f"({', '.join(values)})" if taken else ""
    how = "FORMAT JSON" if arguments is None else "ANALYZE, FORMAT JSON"
    found = await database.fetchval(f"EXPLAIN ({how}) EXECUTE it {given}")
    await database.execute("DEALLOCATE it")
    return dict(json.loads(found)[0]["Plan"])


def _literal(value: object) -> str:
    return "NULL" if value is None else f"'{value}'"


def faults(node: dict[str, Any], *, limited: bool = False) -> Iterator[str]:
    """Name what would take longer, the longer the tables are."""
    kind, table = node["Node Type"], node.get("Relation Name", "")
    index = node.get("Index Name", "")
    if kind == "Seq Scan" and table not in SMALL:
        yield f"reads the whole of {table}"
    is_walk = kind.startswith("Index") and "Index Cond" not in node and not limited
    if is_walk and table not in SMALL and index not in PARTIAL:
        yield f"reads the whole of {index}"
    inputs = node.get("Plans", [])
    # (An incremental sort has its rows in order already, but for those of the same moment.)
    if kind == "Sort" and any(each["Plan Rows"] > FEW_ROWS for each in inputs):
        yield f"sorts by {node['Sort Key']}"
    for each in inputs:
        # Below a sort or a count the limit is none: all of it is read before the first row comes.
        is_limited = kind == "Limit" or (
            limited and kind not in {"Sort", "Aggregate", "HashAggregate"}
        )
        yield from faults(each, limited=is_limited)


PARTIAL = {
    index.name
    for table in tables().sorted_tables
    for index in table.indexes
    if index.dialect_options["postgresql"]["where"] is not None
}
"""These hold only what waits or failed: to read one to its end is no matter of growth."""


async def every_statement() -> dict[str, str]:
    """Give every statement of the store."""
    noting = Noting()
    for wish in WISHES:
        await lists.thread_page(noting, wish)
        await lists.question_page(noting, wish)
    listed = {f"list {sql}": sql for sql in noting.noted}
    return constants(postgres) | literals(postgres) | listed


async def test_no_statement_takes_longer_for_what_is_done(database: Any) -> None:  # noqa: ANN401
    """No table or index is read whole, and nothing long is sorted, whoever asks for what."""
    every = await every_statement()
    looked_at = every.keys() - PIECES.keys() - READ_EVERYTHING.keys()
    wrong = {
        name: found
        for name in sorted(looked_at)
        if (found := list(faults(await plan_of(database, every[name]))))
    }

    assert wrong == {}
    assert len(looked_at) > 100


async def test_look_at_plans_finds_what_reads_everything(database: Any) -> None:  # noqa: ANN401
    """Else a statement could pass that does."""
    every = await every_statement()

    for name in ("audit._STRAYS", "retention_sql.FORGET_SENDERS"):
        assert list(faults(await plan_of(database, every[name])))


async def test_statements_are_found_by_reading_the_code() -> None:
    """One that is put together elsewhere than in the lists would not be looked at."""
    templates = {name for name, sql in constants(postgres).items() if is_template(sql)}

    assert builders(postgres) == LISTS
    assert templates <= PIECES.keys() <= constants(postgres).keys()


async def test_rare_rows_are_found_without_a_look_at_the_others(database: Any) -> None:  # noqa: ANN401
    """Open questions among the answered, failed threads among the finished, keys of a prefix."""
    noting = Noting()
    for wish in RARE_THREADS:
        await lists.thread_page(noting, wish)
    for wish in RARE_QUESTIONS:
        await lists.question_page(noting, wish)

    noting.noted[statements.KEPT_FROM] = ("owner 1", "key 19951", "key 19952", NOW)

    passed = {sql: await _passed_over(database, sql, given) for sql, given in noting.noted.items()}

    assert {sql: rows for sql, rows in passed.items() if rows > FEW_ROWS / 10} == {}
    assert len(passed) == len(RARE_THREADS) + len(RARE_QUESTIONS) + 1


async def _passed_over(database: Any, sql: str, given: tuple[object, ...]) -> int:  # noqa: ANN401
    """Run it, and tell how many rows it looked at in vain."""
    nodes = _nodes(await plan_of(database, sql, given))
    return sum(node.get("Rows Removed by Filter", 0) for node in nodes)


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for each in node.get("Plans", []):
        yield from _nodes(each)
