"""Durable when acknowledged: a process that is killed has kept every promise."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from agent_core.thread.events import ThreadId
from storage.sqlite import SqliteStore

WRITE_UNTIL_KILLED = """
import asyncio, os, sys
from storage.sqlite import SqliteStore
from tests.contract.stores.rows import committed, launched, saying

async def write(store, name):
    await launched(store, name)
    while True:
        seq = await committed(store, saying(name, "x" * 700))
        os.write(1, f"{name} {seq}\\n".encode())  # whole lines

async def main():
    store = SqliteStore(sys.argv[1])
    await store.open()
    await asyncio.gather(*(write(store, f"t{n}") for n in range(4)))

asyncio.run(main())
"""


def promises_of_a_killed_writer(path: Path, lines: int) -> dict[str, int]:
    """Kill a writer after so many acknowledgements; give the last event of each thread's."""
    promised: dict[str, int] = {}
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for number, line in enumerate(process.stdout):
            name, seq = line.split()
            promised[name] = int(seq)
            if number == lines:
                process.kill()
    assert process.returncode == -9
    return promised


async def lengths(path: Path, names: list[str]) -> dict[str, int]:
    """Give the length of each log, which has no holes."""
    store = SqliteStore(path)
    await store.open()
    found: dict[str, int] = {}
    for name in names:
        loaded = await store.load(ThreadId(name), after=0)
        assert loaded is not None
        assert len(loaded.events) == loaded.row.seq
        found[name] = loaded.row.seq
    await store.close()
    return found


@pytest.mark.parametrize("lines", [37, 311, 604, 1009])
def test_killed_process_loses_nothing_that_it_acknowledged(tmp_path: Path, lines: int) -> None:
    """Kill -9 at any moment: all that was printed is there, and the file opens as ever."""
    promised = promises_of_a_killed_writer(tmp_path / "parley.db", lines)

    found = asyncio.run(lengths(tmp_path / "parley.db", list(promised)))

    assert len(promised) == 4
    # At most the write that was under way is there as well.
    assert all(seq <= found[name] <= seq + 1 for name, seq in promised.items())
