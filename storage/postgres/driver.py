"""The edge to asyncpg, which has no types: connections, statements, and what can go wrong.

Everything that comes out of here is typed, and every failure is one of ours. No session state is
ever changed after a connection was made, so nothing is reset when one goes back to the pool.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg

from storage.errors import PooledByTransaction, StoreUnreachable
from storage.postgres.failures import Failure, failure_of

Row: TypeAlias = Mapping[str, Any]

_SESSION = """
SET default_transaction_isolation = 'read committed';
SET statement_timeout = '{timeout_ms}ms';
SET idle_in_transaction_session_timeout = '{timeout_ms}ms';
SET jit = off;
SET plan_cache_mode = force_generic_plan;
"""
"""By statement and not as start-up parameters, which pgbouncer refuses. The statements are few
and made for their indexes: one plan each is right, and planning anew costs more than running."""

_PROCESS = "SELECT pg_backend_pid() AS process"

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """How many connections, and how long to be patient with the server."""

    connections: int = 8
    connect_timeout_s: float = 5.0
    statement_timeout_s: float = 10.0
    """None of ours takes a second. With what is added for the way, less than half a lease: one
    connection that went dead without a word must not cost all the threads that we hold."""
    patience_s: float = 5.0
    """How long a call that may be tried again outlasts a server that is away."""


class Driver:
    """A pool of connections to one database."""

    def __init__(self, url: str, tuning: Tuning) -> None:
        """Name a database; nothing is connected yet."""
        self._url = url
        self._tuning = tuning
        self._pool: Any = None

    async def open(self) -> None:
        """Connect, or raise what a person understands."""
        try:
            self._pool = await asyncpg.create_pool(
                self._url,
                min_size=0,
                max_size=self._tuning.connections,
                init=self._prepare,
                reset=_leave_as_is,
                timeout=self._tuning.connect_timeout_s,
                command_timeout=self._tuning.statement_timeout_s * 1.5,
                server_settings={"application_name": "parley"},
            )
        except Exception as exc:
            raise failure_of(exc).error from exc

    async def close(self) -> None:
        """Let go of all connections; one that doesn't answer is cut."""
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                await asyncio.wait_for(pool.close(), self._tuning.connect_timeout_s)
            except TimeoutError:
                pool.terminate()

    async def connect(self) -> Any:  # noqa: ANN401 (asyncpg has no types)
        """Give a connection of its own, for listening."""
        try:
            return await asyncpg.connect(
                self._url,
                timeout=self._tuning.connect_timeout_s,
                command_timeout=self._tuning.connect_timeout_s,
                server_settings={"application_name": "parley hints"},
            )
        except Exception as exc:
            raise failure_of(exc).error from exc

    async def check_sessions(self) -> None:
        """Refuse a pool that gives our sessions to others between two transactions.

        Two connections that are both ours and both open are then seen to be the same one. While
        others use the pool as well, that may go unseen: hints come late then, and nothing else.
        """
        alone = await self.connect()
        try:
            ours = await alone.fetchval(_PROCESS)
            [row] = await self.fetch(_PROCESS, again=True)
            if ours == row["process"] == await alone.fetchval(_PROCESS):
                raise PooledByTransaction
        finally:
            alone.terminate()

    async def fetch(self, sql: str, *arguments: object, again: bool) -> list[Row]:
        """Run one statement, which is one transaction.

        What certainly had no effect is tried again for a while; what may have had one, only if
        `again` says that a second time does no harm.
        """
        deadline = time.monotonic() + self._tuning.patience_s
        pause = _FIRST_PAUSE_S
        while True:
            try:
                return await self._fetch(sql, arguments)
            except Failure as failure:
                may_retry = failure.is_passing and (again or failure.is_without_effect)
                if not may_retry or time.monotonic() + pause > deadline:
                    raise failure.error from failure.__cause__
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    async def _fetch(self, sql: str, arguments: tuple[object, ...]) -> list[Row]:
        connection = await self._acquire()
        try:
            rows: list[Row] = await connection.fetch(sql, *arguments)
        except Exception as exc:
            failure = failure_of(exc)
            if failure.is_of_connection:
                _abandon(connection)
            if failure.is_of_server:  # it may be a standby now: the next connection looks anew
                await self._pool.expire_connections()
            raise failure from exc
        else:
            return rows
        finally:
            await self._release(connection)

    async def _acquire(self) -> Any:  # noqa: ANN401 (asyncpg has no types)
        if self._pool is None:
            raise StoreUnreachable("the store is not open")
        try:
            return await self._pool.acquire(timeout=self._tuning.connect_timeout_s)
        except Exception as exc:
            raise failure_of(exc, before_sending=True) from exc

    async def _release(self, connection: Any) -> None:  # noqa: ANN401 (asyncpg has no types)
        try:
            await self._pool.release(connection)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            _abandon(connection)  # it broke on the way; the result, if any, stands

    async def _prepare(self, connection: Any) -> None:  # noqa: ANN401 (asyncpg has no types)
        timeout_ms = int(self._tuning.statement_timeout_s * 1000)
        await connection.execute(_SESSION.format(timeout_ms=timeout_ms))


async def _leave_as_is(_connection: object) -> None:
    """Spare the round trip of a reset."""


def _abandon(connection: Any) -> None:  # noqa: ANN401 (asyncpg has no types)
    """Drop a broken connection, which asyncpg may have noticed to be so, or not yet."""
    with suppress(asyncpg.InterfaceError):
        connection.terminate()
