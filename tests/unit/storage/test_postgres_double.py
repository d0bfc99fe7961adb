"""The PostgreSQL of the tests itself: it leaves nothing behind, and each test gets its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import asyncpg

from tests.doubles.postgres import postgres_url
from tests.doubles.postgres_server import postgres_server

_STARTS_ONE = """
from tests.doubles.postgres_server import PostgresServer
server = PostgresServer()
server.start()
print(server.pid, server.folder, flush=True)
input()
"""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_test_run_leaves_no_server_behind() -> None:
    """Even `kill -9` of the process that started it ends the server and removes its folder."""
    with subprocess.Popen(
        [sys.executable, "-c", _STARTS_ONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        pid, folder = owner.stdout.readline().split()
        assert _is_alive(int(pid))
        owner.send_signal(signal.SIGKILL)

    deadline = time.monotonic() + 20
    while (_is_alive(int(pid)) or Path(folder).exists()) and time.monotonic() < deadline:
        time.sleep(0.02)

    assert not _is_alive(int(pid))
    assert not Path(folder).exists()


def test_a_server_can_be_stopped_and_started_again() -> None:
    """A test that breaks its server has one of its own; closing it removes the folder."""
    with postgres_server(fsync=True) as server:
        first = server.pid
        server.stop("immediate")
        server.start()

        assert server.pid != first
        assert not _is_alive(first)
    assert not server.folder.exists()


async def _make_a_table(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE TABLE things (id int)")
    await connection.close()


async def test_each_test_has_a_database_of_its_own() -> None:
    """What one test writes, another doesn't see; the tables are there in both."""
    async with postgres_url(_make_a_table) as one, postgres_url(_make_a_table) as other:
        first, second = await asyncpg.connect(one), await asyncpg.connect(other)
        await first.execute("INSERT INTO things VALUES (1)")

        assert await first.fetchval("SELECT count(*) FROM things") == 1
        assert await second.fetchval("SELECT count(*) FROM things") == 0

        await first.close()
        await second.close()
