"""A file or a folder that we may not write to. In a process that may not, since root may all."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.sqlite import SqliteStore
from tests.contract.stores.rows import launched

TRY_TO_WRITE = """
import asyncio, os, sys
from storage.errors import StoreReadOnly
from storage.sqlite import SqliteStore
from tests.contract.stores.rows import launching

async def main():
    await asyncio.to_thread(int)  # imports what it needs, while we may
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    store = SqliteStore(sys.argv[1], shared=sys.argv[2] == "shared")
    try:
        await store.open()
        await store.commit(launching("t9"))
        print("written")
    except StoreReadOnly as error:
        print("read-only:", error)
    finally:
        await store.close()

asyncio.run(main())
"""


def try_to_write(path: Path, way: str) -> str:
    """Open the file and write to it, as somebody who may not; tell what came of it."""
    done = subprocess.run(
        [sys.executable, "-c", TRY_TO_WRITE, str(path), way],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def make(path: Path) -> None:
    """Make a file with a thread in it."""
    store = SqliteStore(path)
    await store.open()
    await launched(store)
    await store.close()


@pytest.fixture
def file() -> Iterator[Path]:
    """Make a file in a folder that others can reach, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "parley.db"
        path.parent.chmod(0o755)
        asyncio.run(make(path))
        yield path
        path.parent.chmod(0o755)


@pytest.mark.parametrize("way", ["server", "shared"])
def test_file_that_may_not_be_written_is_told_in_words(file: Path, way: str) -> None:
    """The lock could be had, the file not."""
    file.chmod(0o444)
    Path(f"{file}-lock").chmod(0o666)
    file.parent.chmod(0o777)

    assert try_to_write(file, way).startswith(f"read-only: {file}")


@pytest.mark.parametrize("way", ["server", "shared"])
@pytest.mark.parametrize("name", ["parley.db", "new.db"])
def test_folder_that_may_not_be_written_is_told_in_words(file: Path, way: str, name: str) -> None:
    """Neither the lock nor the write-ahead log nor a new file can be made there."""
    file.chmod(0o666)
    file.parent.chmod(0o555)

    told = try_to_write(file.parent / name, way)

    assert told.startswith("read-only: ")
    assert str(file.parent) in told
    assert os.access(file, os.R_OK)
