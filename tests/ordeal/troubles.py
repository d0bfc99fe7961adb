"""What can go wrong, each for a moment: a table of troubles, by name."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import asyncpg

from tests.ordeal.brain import Mood
from tests.ordeal.house import House, Kind
from tests.scenario.gateway.machines import LEASE_MS

Trouble: TypeAlias = Callable[[House], Awaitable[None]]

_MOMENT: Final = 1.5
_PAST_A_LEASE: Final = LEASE_MS / 1000 + 1.0
_END_OF_A_TOOL: Final = 0.5
_CUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


async def _kill(house: House) -> None:
    await house.site.kill_one()


async def _freeze(house: House) -> None:
    """Stop a process until others have its leases, and let it go on."""
    machine = house.site.chance.choice(house.site.all)
    pid = machine.pid
    house.thawed.clear()
    os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(_PAST_A_LEASE)
    os.kill(pid, signal.SIGCONT)
    await asyncio.sleep(_END_OF_A_TOOL)
    house.thawed.set()


async def _cut_connections(house: House) -> None:
    assert house.database is not None
    connection = await asyncpg.connect(house.database.url)
    try:
        await connection.execute(_CUT)
    finally:
        await connection.close()


async def _restart_database(house: House) -> None:
    """Crash it: the next start recovers from its log."""
    assert house.database is not None
    await asyncio.to_thread(house.database.stop, "immediate")
    await asyncio.to_thread(house.database.start)


async def _fill_disk(house: House) -> None:
    """Let no file grow any more; what SQLite is told then is what a full disk tells it."""
    pid = house.site.all[0].pid
    no_limit = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, no_limit[1]))
    await asyncio.sleep(_MOMENT)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, no_limit)


def _model_is(mood: Mood) -> Trouble:
    async def trouble(house: House) -> None:
        house.brain.mood = mood
        await asyncio.sleep(_MOMENT)
        house.brain.mood = "well"

    return trouble


async def _slack_is_down(house: House) -> None:
    house.slack.down(500)
    await asyncio.sleep(_MOMENT)
    house.slack.up()


async def _mail_is_down(house: House) -> None:
    await house.office.stop()
    await asyncio.sleep(_MOMENT)
    await house.office.start()


_ANYWHERE: Final[dict[str, Trouble]] = {
    "kill -9": _kill,
    "SIGSTOP past a lease": _freeze,
    "model slow": _model_is("slow"),
    "model away": _model_is("away"),
    "model talks nonsense": _model_is("nonsense"),
    "Slack answers 500": _slack_is_down,
    "mail server away": _mail_is_down,
}
TROUBLES: Final[dict[Kind, dict[str, Trouble]]] = {
    "sqlite": {**_ANYWHERE, "disk full": _fill_disk},
    "postgres": {
        **_ANYWHERE,
        "connections cut": _cut_connections,
        "PostgreSQL crashes": _restart_database,
    },
}
KILL: Final = "kill -9"
