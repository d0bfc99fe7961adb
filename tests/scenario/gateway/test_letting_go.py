"""Purging and erasing as operators meet them: real processes, one of them killed half-way."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.thread.events import (
    Event,
    MessageReceived,
    Millis,
    ModelReplied,
    ThreadFinished,
    ThreadId,
    ThreadLaunched,
)
from gateway.audit.key import audit_seal
from gateway.work.threads import commit_import
from storage.sqlite import SqliteStore
from storage.values import NewThread
from tests.scenario.gateway.cli_installation import (
    QUICK_ENOUGH,
    Installation,
    installation,
    waiting_for,
)

MANY = 200
LONG_AGO = Millis(1_700_000_000_000)
ANN = "email:ann@example.com"
WORDS = "nobody may know of my mellon"
PEOPLE = f'[[people]]\nname = "ann"\nemail = "{ANN.partition(":")[2]}"\n'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """An installation whose server runs, with many threads of Ann's that ended long ago."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "parley.toml").write_text(PEOPLE)
    with installation(folder) as made:
        asyncio.run(fill(folder))
        yield made


async def fill(folder: Path) -> None:
    """Write Ann's threads, beside the server."""
    secret = (folder / "parley.db.secret").read_bytes().strip()
    store = SqliteStore(folder / "parley.db", shared=True, seal=audit_seal(secret))
    await store.open()
    for number in range(MANY):
        name = ThreadId(f"th_old{number:04d}")
        events: list[Event] = [
            ThreadLaunched(at=LONG_AGO, thread=name, agent="echo", requester=ANN, origin=ANN),
            MessageReceived(at=LONG_AGO, text=f"{WORDS} {number}", sender=ANN),
            ModelReplied(at=LONG_AGO, text="You said it."),
            ThreadFinished(at=LONG_AGO),
        ]
        new = NewThread(agent="echo", origin=ANN, requester=ANN)
        await commit_import(store, events, now=LONG_AGO, create=new)
    await store.close()


def count(site: Installation, question: str) -> int:
    """Ask the database itself."""
    with closing(sqlite3.connect(site.folder / "parley.db")) as connection:
        [found] = connection.execute(question).fetchone()
    return int(found)


def killed(site: Installation, done: str, *arguments: str) -> int:
    """Run a command, kill it as soon as it has done something, and tell how much."""
    running = site.begin(*arguments)
    deadline = time.monotonic() + QUICK_ENOUGH
    while not count(site, done):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
    running.kill()
    running.wait(QUICK_ENOUGH)
    return count(site, done)


ERASED = 'SELECT count(*) FROM events WHERE body LIKE \'{"type":"PersonErased%\''
PURGED = "SELECT count(*) FROM tombstones"


def test_erase_and_purge_are_finished_by_the_same_command_after_a_kill(site: Installation) -> None:
    """At any moment the audit verifies; in the end nothing is left of her, and then of them."""
    (site.folder / "before.jsonl").write_text(site.run("audit", "export").stdout)
    erase = ("people", "erase", "ann", "--yes")
    purge = ("threads", "purge", "--older-than", "90d", "--yes")

    some = killed(site, ERASED, *erase)
    half = site.data("audit", "verify", "--against", "before.jsonl")
    rest = site.data(*erase)
    then = site.data("audit", "verify", "--against", "before.jsonl")

    assert 0 < some < MANY
    assert half["ok"]
    assert len(rest["threads"]) == MANY - some
    assert (then["ok"], then["erased"]) == (True, 2 * MANY)
    files = (path for path in site.folder.glob("parley.db*") if path.suffix != ".secret")
    assert not any(WORDS.encode() in one.read_bytes() for one in files)

    some = killed(site, PURGED, *purge)
    half = site.data("audit", "verify", "--against", "before.jsonl")
    rest = site.data(*purge)
    then = site.data("audit", "verify", "--against", "before.jsonl")

    assert 0 < some < MANY
    assert half["ok"]
    assert rest["purged"] == MANY - some
    assert (then["ok"], then["purged"], then["threads"]) == (True, MANY, 0)
    assert count(site, "SELECT count(*) FROM events") == 0


def test_running_server_goes_on_without_the_words(site: Installation) -> None:
    """It has the thread in mind when the command comes; what it does next has nothing of them."""
    thread = site.data("launch", "echo", f"{WORDS}, says Otto", "--wait")["id"]
    (site.folder / "parley.toml").write_text(PEOPLE.replace("ann", "otto"))

    erased = site.data("people", "erase", "otto", "--yes")
    said = site.data("threads", "export", thread)
    forked = site.data("threads", "fork", thread)

    assert [one["thread"] for one in erased["threads"]] == [thread]
    assert WORDS not in str(said)
    assert "[erased]" in str(said)
    assert re.search(r"erased person #\w{8}", str(said))
    assert WORDS not in str(waiting_for(site, forked["id"], "finished"))
    assert erased["keys"] == ["otto"]
