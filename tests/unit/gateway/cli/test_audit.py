"""`parley audit`: on the database itself, beside a server or alone."""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.audit.beginning import begin
from gateway.audit.key import audit_seal
from storage.sqlite import SqliteStore
from tests.unit.gateway.audit.ledger import NOW, refunded
from tests.unit.gateway.cli.conftest import Parley

SECRET = "0123456789abcdef" * 4


@pytest.fixture
def parley(parley: Parley, tmp_path: Path) -> Parley:
    """Give the command line in a folder where a server has run, and kept its secret."""
    (tmp_path / "parley.db.secret").write_text(SECRET)
    seal = audit_seal(SECRET.encode())

    async def run() -> None:
        store = SqliteStore(tmp_path / "parley.db", seal=seal)
        async with refunded(store):
            await begin(store, seal, now=NOW)

    asyncio.run(run())
    return parley


def tamper(tmp_path: Path, statement: str) -> None:
    """Change the database behind everybody's back."""
    with closing(sqlite3.connect(tmp_path / "parley.db")) as connection, connection:
        assert connection.execute(statement).rowcount > 0


def test_export_tells_who_was_asked_and_who_answered_a_line_each(parley: Parley) -> None:
    """JSON lines on stdout, and nothing else; the last one is the end."""
    ran = parley("audit", "export")

    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert (ran.code, ran.err) == (0, "")
    assert [line["what"] for line in lines][:2] == ["ThreadLaunched", "MessageReceived"]
    [answered] = [line for line in lines if line["what"] == "QuestionAnswered"]
    assert (answered["who"], answered["tool"], answered["outcome"]) == ("otto", "pay", "approved")
    assert lines[-1]["what"] == "head"
    assert all(after["prev"] == line["hash"] for line, after in itertools.pairwise(lines))


def test_database_as_it_was_written_verifies(parley: Parley, tmp_path: Path) -> None:
    """Also beside an earlier export, and the export itself."""
    paper = tmp_path / "audit.jsonl"
    paper.write_text(parley("audit", "export").out)

    alone = parley("audit", "verify", "--json")
    beside = parley("audit", "verify", "--against", str(paper))
    file = parley("audit", "verify", str(paper), "--against", str(paper))

    assert (alone.code, alone.data["ok"], alone.data["threads"]) == (0, True, 1)
    assert alone.data["begun"] == "2027-01-15T08:00:00.000Z"
    assert (beside.code, file.code, beside.out) == (0, 0, "")
    assert "nothing was changed" in beside.err
    assert "of 1 threads" in file.err


def test_change_is_told_with_its_thread_and_beside_an_export_with_its_event(
    parley: Parley, tmp_path: Path
) -> None:
    """Exit 1; the first difference in words."""
    paper = tmp_path / "audit.jsonl"
    paper.write_text(parley("audit", "export").out)
    tamper(tmp_path, """UPDATE events SET body = replace(body, '"by":"otto"', '"by":"ozzy"')""")

    alone = parley("audit", "verify")
    beside = parley("audit", "verify", "--against", str(paper), "--json")

    assert alone.code == beside.code == 1
    assert "CHANGED  thread th_" in alone.err
    assert "are not those that were sealed" in alone.err
    assert [one["what"][:16] for one in beside.data["findings"]][1] == "QuestionAnswered"
    assert "QuestionAnswered (otto) of 20" in beside.err


def test_file_that_was_changed_is_told_with_its_line(parley: Parley, tmp_path: Path) -> None:
    """As what is verified, and as what is compared with."""
    paper = tmp_path / "audit.jsonl"
    paper.write_text(parley("audit", "export").out.replace('"otto"', '"ozzy"', 1))

    as_file = parley("audit", "verify", str(paper), "--json")
    as_other = parley("audit", "verify", "--against", str(paper))

    assert as_file.code == as_other.code == 1
    assert "line" in as_file.data["findings"][0]["what"]
    assert f"{paper}: line" in as_other.err


def test_other_secret_is_told_and_can_be_taken_on_purpose(
    parley: Parley, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`parley audit begin` seals what stands there now."""
    monkeypatch.setenv("PARLEY_SECRET_KEY", SECRET[::-1])
    before = parley("audit", "verify")
    begun = parley("audit", "begin", "--json")
    after = parley("audit", "verify")

    assert (before.code, begun.code, after.code) == (1, 0, 0)
    assert "another PARLEY_SECRET_KEY" in before.err
    assert begun.data["begun"].startswith("20")


def test_without_a_secret_nothing_can_be_told_and_none_is_made(
    parley: Parley, tmp_path: Path
) -> None:
    """A new one would fit nothing, and the server would go on with it."""
    (tmp_path / "parley.db.secret").unlink()

    ran = parley("audit", "verify")

    assert (ran.code, ran.out) == (2, "")
    assert "PARLEY_SECRET_KEY" in ran.err
    assert not (tmp_path / "parley.db.secret").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["export", "--since", "yesterday"], "--since should look like 2026-11-01"),
        (["verify", "nowhere.jsonl"], "nowhere.jsonl can't be read"),
        (["verify", "--against", "nowhere.jsonl"], "nowhere.jsonl can't be read"),
    ],
)
def test_wrong_usage_is_told(parley: Parley, arguments: list[str], told: str) -> None:
    """Exit 2, and what it should look like."""
    ran = parley("audit", *arguments)

    assert ran.code == 2
    assert told in ran.err


def test_export_of_one_thread_and_of_late(parley: Parley) -> None:
    """A thread that is not there is told; a date without a zone is UTC's."""
    nobody = parley("audit", "export", "--thread", "th_nobody")
    late = parley("audit", "export", "--since", "2999-01-01", "--json")

    assert (nobody.code, nobody.out) == (1, "")
    assert "there is no thread 'th_nobody'" in nobody.err
    assert json.loads(late.out)["since"] == "2999-01-01T00:00:00.000Z"
