"""`parley threads purge` and `parley people erase`: on the database itself, with care."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from channels.recording import DictMemory
from gateway.audit.beginning import begin
from gateway.audit.key import audit_seal
from gateway.control.memory import SealedMemory
from gateway.retention.purging import Purging
from storage.sqlite import SqliteStore
from storage.values import Wish
from tests.contract.stores.test_retention import sent
from tests.unit.gateway.audit.ledger import NOW, refunded
from tests.unit.gateway.cli.conftest import Parley
from tests.unit.gateway.control.test_local import asked, paying
from tests.unit.gateway.workshop import workshop

SECRET = "0123456789abcdef" * 4
PEOPLE = '[[people]]\nname = "otto"\nemail = "otto@example.com"\n'


@pytest.fixture
def parley(parley: Parley, tmp_path: Path) -> Parley:
    """Give the command line in a folder where a server has run: lisa asked, otto approved."""
    (tmp_path / "parley.db.secret").write_text(SECRET)
    (tmp_path / "parley.toml").write_text(PEOPLE)
    seal = audit_seal(SECRET.encode())

    async def run() -> None:
        store = SqliteStore(tmp_path / "parley.db", seal=seal)
        async with refunded(store):
            await begin(store, seal, now=NOW)
            await sent(store)
            mails = SealedMemory(store, "email", SECRET.encode())
            await mails.keep("raw:aa", b"From: Otto <otto@example.com>\r\n\r\nhello\r\n")

    asyncio.run(run())
    return parley


def test_purge_looks_first_then_deletes_and_the_audit_knows(parley: Parley, tmp_path: Path) -> None:
    """A dry run changes nothing; an export from before holds."""
    paper = tmp_path / "audit.jsonl"
    paper.write_text(parley("audit", "export").out)

    looked = parley("threads", "purge", "--older-than", "0d", "--dry-run", "--json")
    young = parley("threads", "purge", "--older-than", "1d", "--yes", "--json")
    gone = parley("threads", "purge", "--older-than", "0d", "--yes", "--json")
    again = parley("threads", "purge", "--older-than", "0d", "--yes")
    verified = parley("audit", "verify", "--against", str(paper), "--json")

    [thread] = looked.data["threads"]
    assert looked.data == {"dry_run": True, "purged": 1, "threads": [thread]}
    assert young.data["purged"] == 0
    assert gone.data == {"dry_run": False, "purged": 1, "threads": [thread]}
    assert (again.code, again.out, again.err) == (0, "", "0 threads were purged\n")
    assert (verified.code, verified.data["purged"], verified.data["threads"]) == (0, 1, 0)


def test_purge_that_was_cut_off_is_finished_by_the_same_command(
    parley: Parley, tmp_path: Path
) -> None:
    """No thread is left to purge, but mails of one that went, and keys of its messages."""
    seal = audit_seal(SECRET.encode())

    async def cut_off() -> None:
        store = SqliteStore(tmp_path / "parley.db", seal=seal)
        await store.open()
        mails = SealedMemory(store, "email", SECRET.encode())
        [thread] = (await store.threads(Wish())).items
        await Purging(store, seal, DictMemory()).purge_one(thread.id, by="cli")
        await mails.keep(f"thread:{thread.id}:1:aa", b"1")
        await store.close()

    async def left() -> list[str]:
        store = SqliteStore(tmp_path / "parley.db", seal=seal)
        await store.open()
        kept = await store.kept("email", prefix="", now=NOW)
        await store.close()
        return kept

    asyncio.run(cut_off())

    again = parley("threads", "purge", "--older-than", "0d", "--yes", "--json")

    assert (again.code, again.data["purged"]) == (0, 0)
    assert asyncio.run(left()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--older-than", "soon"), "90d"),
        (("--older-than", "1d", "--status", "waiting"), "finished, failed, cancelled"),
        (("--older-than", "0d"), "--yes"),
        ((), "--older-than"),
    ],
)
def test_purge_that_makes_no_sense_is_refused(
    parley: Parley, arguments: tuple[str, ...], said: str
) -> None:
    """Nothing is deleted by a slip; where nobody can be asked, it takes a word."""
    ran = parley("threads", "purge", *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert parley("threads", "purge", "--older-than", "0d", "--dry-run", "--json").data["purged"]


def test_erase_looks_first_then_erases_and_the_audit_verifies(
    parley: Parley, tmp_path: Path
) -> None:
    """By any name; what is left to do is said; an export from before holds."""
    paper = tmp_path / "audit.jsonl"
    paper.write_text(parley("audit", "export").out)

    looked = parley("people", "erase", "Otto@example.com", "--dry-run", "--json")
    unasked = parley("people", "erase", "otto")
    done = parley("people", "erase", "otto", "--yes", "--json", "--reason", "asked for by letter")
    again = parley("people", "erase", "otto", "--yes", "--json")
    verified = parley("audit", "verify", "--against", str(paper), "--json")
    now = parley("audit", "export").out

    [thread] = looked.data["threads"]
    assert (looked.data["dry_run"], unasked.code) == (True, 2)
    assert [one.data["mails"] for one in (looked, done, again)] == [1, 1, 0]
    assert done.data["threads"] == [thread]
    assert (done.data["done"], done.data["scoured"]) == (True, True)
    assert done.data["name"] == looked.data["name"] == again.data["name"]
    assert again.data["threads"] == []
    assert "parley.toml still lists them" in done.err
    assert "backups" in done.err
    assert (verified.code, verified.data["erased"]) == (0, thread["entries"])
    assert '"who":"otto"' not in now
    assert f'"who":"{done.data["name"]}"' in now
    assert "asked for by letter" in now
    assert b"otto@" not in (tmp_path / "parley.db").read_bytes()


def test_erase_refuses_while_a_thread_waits_for_them(parley: Parley, tmp_path: Path) -> None:
    """Nothing is done, and each thread that has not ended is named; with a word, it is done."""
    (tmp_path / "parley.toml").write_text(PEOPLE.replace("otto", "lisa"))

    async def wait() -> tuple[str, str]:
        store = SqliteStore(tmp_path / "parley.db", seal=audit_seal(SECRET.encode()))
        async with workshop(store, paying()) as here:
            return await asked(here)

    thread, _ = asyncio.run(wait())

    refused = parley("people", "erase", "lisa", "--yes")
    done = parley("people", "erase", "lisa", "--yes", "--also-waiting", "--json")

    assert refused.code == 1
    assert f"thread {thread}: not ended" in refused.err
    assert "--also-waiting" in refused.err
    assert (done.code, len(done.data["threads"])) == (0, 2)
    assert parley("audit", "verify").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ann",), "[[people]]"),
        (("otto", "--yes", "--reason", "Otto has left"), "must not"),
    ],
)
def test_erase_that_makes_no_sense_is_refused(
    parley: Parley, arguments: tuple[str, ...], said: str
) -> None:
    """A name that nobody has, and a reason that would keep what is to go."""
    ran = parley("people", "erase", *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_database_of_another_key_is_left_alone(parley: Parley, tmp_path: Path) -> None:
    """Its chains would be broken: the operator must set the right key first."""
    (tmp_path / "parley.db.secret").write_text(SECRET[::-1])

    erased = parley("people", "erase", "otto", "--yes")
    purged = parley("threads", "purge", "--older-than", "0d", "--yes")

    assert (erased.code, purged.code) == (1, 1)
    assert "another PARLEY_SECRET_KEY" in erased.err
