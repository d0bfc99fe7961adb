"""`parley email inspect`: one line of JSON a mail, from files and from standard input."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.channels.email.letters import QUESTION, REPLY_TO, SECRET, letter
from tests.unit.gateway.cli.conftest import Parley, Ran

RESULTS = "Authentication-Results: mx.example.com; dmarc=pass header.from=example.org"


def lines(ran: Ran) -> list[Any]:
    """Read what was printed."""
    return [json.loads(line) for line in ran.out.splitlines()]


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings as an operator has them."""
    monkeypatch.setenv("EMAIL_ADDRESS", "agent@example.com")
    monkeypatch.setenv("EMAIL_AUTHSERV_ID", "mx.example.com")
    monkeypatch.setenv("PARLEY_SECRET_KEY", SECRET.decode())


def test_mail_is_one_line_of_json(parley: Parley, settings: None, tmp_path: Path) -> None:
    """With the fields that the design names."""
    body = (
        "Ja, gerne.\n\nAm 3. März 2026 um 16:05 schrieb Parley <agent@example.com>:\n> Darf ich?\n"
    )
    path = tmp_path / "a.eml"
    path.write_bytes(letter(RESULTS, f"To: {REPLY_TO}", "Subject: Re: Erstattung", body=body))

    ran = parley("email", "inspect", str(path))

    assert ran.code == 0
    (found,) = lines(ran)
    wanted = {
        "from": "ada@example.org",
        "subject": "Re: Erstattung",
        "reply": "Ja, gerne.",
        "kind": "human",
        "token": REPLY_TO.partition("+")[2].partition("@")[0],
        "names": QUESTION,
        "authenticated": True,
        "attachments": [],
    }
    assert {name: found[name] for name in wanted} == wanted


def test_several_files_give_a_line_each_in_order(parley: Parley, tmp_path: Path) -> None:
    """A file that can't be read fails the command, and not the others."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(letter(body=name))

    ran = parley("email", "inspect", "a", "missing", "b", "--json")

    assert ran.code == 1
    assert [one["reply"] for one in lines(ran)] == ["a", "b"]
    assert "missing can't be read" in ran.err


def test_dash_is_standard_input(parley: Parley, monkeypatch: pytest.MonkeyPatch) -> None:
    """As other programs have it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(letter(body="piped"))))

    ran = parley("email", "inspect", "-")

    assert (ran.code, lines(ran)[0]["reply"]) == (0, "piped")


def test_mail_that_is_put_aside_is_told_with_its_reason(parley: Parley, tmp_path: Path) -> None:
    """That is a finding, and no failure of the command."""
    (tmp_path / "a").write_bytes(letter(sender="From: ceo@example.com <evil@example.org>"))

    ran = parley("email", "inspect", "a")

    assert ran.code == 0
    assert (lines(ran)[0]["kind"], lines(ran)[0]["from"]) == ("rejected", None)
    assert "two addresses" in lines(ran)[0]["reason"]


def test_without_settings_nothing_is_believed_and_nothing_is_made(
    parley: Parley, tmp_path: Path
) -> None:
    """Looking at a mail leaves no secret behind."""
    (tmp_path / "a").write_bytes(letter(RESULTS, f"To: {REPLY_TO}"))

    (found,) = lines(parley("email", "inspect", "a"))

    assert (found["token"], found["authenticated"]) == (None, False)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_file_is_needed(parley: Parley) -> None:
    """Without one the usage is wrong."""
    assert parley("email", "inspect").code == 2


def test_wrong_address_is_told_by_its_variable(
    parley: Parley, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is read."""
    monkeypatch.setenv("EMAIL_ADDRESS", "nonsense")

    ran = parley("email", "inspect", "a")

    assert ran.code == 2
    assert "EMAIL_ADDRESS can't be used" in ran.err
