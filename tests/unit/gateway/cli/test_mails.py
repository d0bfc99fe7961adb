"""`parley email raw` and `aside`: mail as it came, and what nobody was troubled with."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest

from channels.email.archive import Archive
from channels.email.mail import ReadingOptions
from channels.email.reading import read_mail, rejected
from gateway.control.memory import SealedMemory
from storage.urls import open_store
from tests.unit.channels.email.letters import letter, multipart
from tests.unit.gateway.cli.conftest import Parley

SECRET = "a secret of sixteen letters or more"
KIND, BODY = multipart(
    "multipart/mixed",
    "Content-Type: text/plain\n\nSee this.",
    "Content-Type: application/pdf\nContent-Disposition: attachment; filename=b.pdf\n\n%PDF",
)
RAW = letter("Message-ID: <m1@example.org>", KIND, "Subject: The file", body=BODY)
OTHER = letter("Message-ID: <m2@example.org>", body="More.\n")
BOMB = b"From: x\r\n" * 10


@pytest.fixture
def kept(parley: Parley, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Keep some mails in the database of the folder; gives the digest of the first."""
    monkeypatch.setenv("PARLEY_SECRET_KEY", SECRET)
    mail, other = (read_mail(raw, None, ReadingOptions()) for raw in (RAW, OTHER))

    async def fill() -> None:
        store = open_store(f"sqlite:///{tmp_path}/parley.db")
        await store.open()
        archive = Archive(SealedMemory(store, "email", SECRET.encode()))
        for one, raw in ((mail, RAW), (other, OTHER)):
            await archive.keep(raw, one)
            await archive.file("th_two", one.digest)
        await archive.file("th_one", mail.digest)
        await archive.put_aside(BOMB, rejected("more than one From", "ab" * 32))
        await archive.put_aside(b"", rejected("larger than 10 MB", "cd" * 32))
        await store.close()

    asyncio.run(fill())
    return mail.digest


@pytest.mark.parametrize("name", ["<m1@example.org>", "m1@example.org", "th_one"])
def test_mail_is_shown_as_it_came(parley: Parley, kept: str, name: str) -> None:
    """By Message-ID, thread, or digest."""
    ran = parley("email", "raw", name)
    by_digest = parley("email", "raw", kept[:12])

    assert (ran.code, ran.out) == (0, by_digest.out)
    assert "See this." in ran.out


def test_mail_as_json_is_byte_for_byte(parley: Parley, kept: str) -> None:
    """A terminal changes the ends of lines; Base64 does not."""
    ran = parley("email", "raw", kept, "--json")

    assert base64.b64decode(ran.data["base64"]) == RAW
    assert (ran.data["digest"], ran.data["size"]) == (kept, len(RAW))


def test_one_file_can_be_had_alone(parley: Parley, kept: str) -> None:
    """By the number that stands in the agent's note."""
    ran = parley("email", "raw", kept, "--file", "1")
    none = parley("email", "raw", kept, "--file", "2")

    assert ran.out.strip() == "%PDF"
    assert (none.code, none.out) == (1, "")
    assert "1 files" in none.err


def test_thread_with_several_mails_asks_which(parley: Parley, kept: str) -> None:
    """It lists them."""
    ran = parley("email", "raw", "th_two")

    assert (ran.code, ran.out) == (1, "")
    assert kept[:16] in ran.err


@pytest.mark.parametrize("name", ["nobody@example.org", "0123456789", "abc", "", "th_9"])
def test_mail_that_is_not_there_is_named(parley: Parley, kept: str, name: str) -> None:
    """With what one may name."""
    ran = parley("email", "raw", name)

    assert ran.code == 1
    assert "Message-ID" in ran.err


def test_what_was_put_aside_is_listed_with_its_reason(parley: Parley, kept: str) -> None:
    """For people and for programs."""
    ran = parley("email", "aside")
    listed = parley("email", "aside", "--json").data["items"]

    assert "more than one From" in ran.out.replace("\n", " ")
    assert {one["reason"] for one in listed} == {"more than one From", "larger than 10 MB"}
    assert sorted(one["is_kept"] for one in listed) == [False, True]


def test_nothing_put_aside_is_said(parley: Parley, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no server has ever run."""
    bare = parley("email", "aside")
    monkeypatch.setenv("PARLEY_SECRET_KEY", SECRET)
    empty = parley("email", "aside")

    assert (bare.code, "secret key" in bare.err) == (1, True)
    assert (empty.code, "no mail" in empty.err) == (0, True)
