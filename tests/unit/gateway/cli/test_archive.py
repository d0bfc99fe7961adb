"""`parley threads archive` and `restore`: on the database itself, and back through the server."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

import pytest

from gateway.audit.beginning import begin
from gateway.audit.key import audit_seal
from storage.sqlite import SqliteStore
from tests.contract.stores.test_retention import sent
from tests.unit.gateway.audit.ledger import NOW, refunded
from tests.unit.gateway.canned import THREAD, Canned
from tests.unit.gateway.cli.conftest import Parley

SECRET = "0123456789abcdef" * 4


@pytest.fixture
def parley(parley: Parley, tmp_path: Path) -> Parley:
    """Give the command line in a folder where a thread is over, with a folder for archives."""
    (tmp_path / "parley.db.secret").write_text(SECRET)
    (tmp_path / "old").mkdir()
    seal = audit_seal(SECRET.encode())

    async def run() -> None:
        store = SqliteStore(tmp_path / "parley.db", seal=seal)
        async with refunded(store):
            await begin(store, seal, now=NOW)
            for _ in range(5):  # one after the other to each address
                await sent(store)

    asyncio.run(run())
    return parley


def archive(parley: Parley) -> tuple[str, Path]:
    """Archive the thread; give its id, and the file."""
    ran = parley("threads", "archive", "--older-than", "0h", "--to", "old", "--yes", "--json")
    assert ran.code == 0, ran.err
    [(thread, file)] = ran.data["archived"].items()
    return thread, Path("old", file)


def test_archived_thread_is_restored_through_the_server(parley: Parley, canned: Canned) -> None:
    """The audit holds in between; the server gets every event."""
    canned.on("POST", "/v1/threads/import", THREAD, 201)

    thread, file = archive(parley)
    verified = parley("audit", "verify", "--json")
    back = parley("threads", "restore", str(file), "--json")

    assert (verified.code, verified.data["purged"]) == (0, 1)
    assert (back.code, back.data) == (0, {"restored": [thread]})
    [asked] = canned.asked
    assert thread in str(asked.body)
    assert "QuestionAnswered" in str(asked.body)


def test_dry_run_moves_nothing(parley: Parley, tmp_path: Path) -> None:
    """It tells how many would go."""
    ran = parley("threads", "archive", "--older-than", "0h", "--to", "old", "--dry-run", "--json")

    assert (ran.code, ran.data["found"], ran.data["archived"]) == (0, 1, {})
    assert list((tmp_path / "old").iterdir()) == []


def test_thread_that_is_here_already_stays_as_it_is(parley: Parley, canned: Canned) -> None:
    """Restoring twice is no error, and brings nothing back twice."""
    canned.problem("POST", "/v1/threads/import", 409, "it is here already")
    thread, file = archive(parley)

    ran = parley("threads", "restore", str(file), thread)

    assert (ran.code, ran.out.strip()) == (0, "")
    assert f"thread {thread} is here already" in ran.err


def test_changed_archive_is_refused_before_anything_is_restored(
    parley: Parley, canned: Canned
) -> None:
    """Exit 1, with the thread."""
    thread, file = archive(parley)
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"otto", b"ozzy")))

    ran = parley("threads", "restore", str(file))

    assert ran.code == 1
    assert f"thread {thread}: its events or deliveries are not those" in ran.err
    assert canned.asked == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("threads", "archive", "--older-than", "0h", "--to", "nowhere", "--yes"),
        ("threads", "archive", "--older-than", "soon", "--to", "old", "--yes"),
        ("threads", "archive", "--older-than", "0h", "--to", "old"),
    ],
    ids=["no folder", "no age", "nobody to ask"],
)
def test_wrong_usage_moves_nothing(
    parley: Parley, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Exit 2."""
    ran = parley(*arguments)

    assert ran.code == 2
    assert list((tmp_path / "old").iterdir()) == []


def test_thread_that_is_not_in_the_archive_is_named(parley: Parley) -> None:
    """Exit 2; nothing is restored."""
    _, file = archive(parley)

    ran = parley("threads", "restore", str(file), "th_other")

    assert ran.code == 2
    assert "th_other" in ran.err


def test_folder_that_can_not_be_written_to_is_told_and_nothing_is_purged(
    parley: Parley, tmp_path: Path
) -> None:
    """A full disk shows the same way: what to do is said, and the thread is still there."""
    wrong = ("threads", "archive", "--older-than", "0h", "--to", "/proc", "--yes")

    ran = parley(*wrong)

    assert (ran.code, ran.out) == (1, "")
    assert "/proc" in ran.err
    assert "can't be written" in ran.err
    assert archive(parley)
