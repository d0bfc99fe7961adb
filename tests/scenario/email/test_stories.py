"""Whole stories by mail: real sockets for SMTP, IMAP and LMTP, and a real server that may die."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doubles.post_office import AGENT
from tests.doubles.smtp_server import make_certificates
from tests.scenario.email.correspondence import (
    ANN,
    OTTO,
    SHORT_LEASE,
    Correspondence,
    Way,
    correspondence,
)

pytestmark = pytest.mark.timeout(120)


async def approval(here: Correspondence, *, kill_after: str = "") -> None:
    """Ann asks, Otto approves, and Ann reads how it ended, all in her mail thread."""

    async def passed(step: str) -> None:
        if step == kill_after:
            await here.restart()

    await here.start(lease_ms=SHORT_LEASE if kill_after else 0)
    asked = await here.writes(ANN, "Please refund order 1042.")
    await passed("mail")
    question = await here.letter(OTTO, "1042")
    assert "59.9" in question.text
    await passed("question")
    await here.replies(question, "Yes, please.")
    await passed("answer")
    result = await here.letter(ANN, "Done.")
    first = asked.decode().partition("Message-ID: ")[2].partition("\r\n")[0]
    assert (result.subject, first in result.header("References")) == ("Re: Refund", True)
    assert here.ledger == ["1042 59.9"]


@pytest.mark.parametrize("way", ["imap", "lmtp", "smtp"])
async def test_approval_is_asked_and_answered_by_mail(way: Way, tmp_path: Path) -> None:
    """Whichever way mail comes in."""
    async with correspondence(tmp_path / "parley", way) as here:
        await approval(here)


async def test_everything_goes_over_tls(tmp_path: Path) -> None:
    """STARTTLS out, implicit TLS in, with a certificate that the machine trusts."""
    certificates = make_certificates(tmp_path)
    trusted = {"SSL_CERT_FILE": str(tmp_path / "certificate.pem")}
    async with correspondence(
        tmp_path / "parley", tls=certificates.server, settings=trusted
    ) as here:
        assert here.office.smtp_url.startswith("smtp://")
        assert here.office.imap.url.startswith("imaps://")
        await approval(here)


@pytest.mark.parametrize("step", ["mail", "question", "answer"])
async def test_story_survives_a_kill_between_any_two_steps(step: str, tmp_path: Path) -> None:
    """One question, one payment, one result, wherever it died."""
    async with correspondence(tmp_path / "parley") as here:
        await approval(here, kill_after=step)
        await here.quiet()

        assert len({one.header("Message-ID") for one in here.letters(OTTO, "Reply")}) == 1
        assert len({one.header("Message-ID") for one in here.letters(ANN, "Done.")}) == 1
        assert here.ledger == ["1042 59.9"]


async def test_copies_of_a_mail_have_one_effect(tmp_path: Path) -> None:
    """By IMAP and by the door, at the same time, and once more later."""
    async with correspondence(tmp_path / "parley", "lmtp") as here:
        await here.start()
        door, here.office.door = here.office.door, ""
        raw = await here.writes(ANN, "hello")
        here.office.door = door
        await here.office.bring(raw, ANN, [AGENT])
        await here.letter(ANN, "hello")
        await here.office.bring(raw, ANN, [AGENT])
        await here.quiet()

        assert len(here.letters(ANN, "hello")) == 1
        assert here.threads == 2


async def test_mail_of_days_offline_is_all_taken(tmp_path: Path) -> None:
    """The mailbox was out of reach, and then the server was down: nothing is skipped."""
    async with correspondence(tmp_path / "parley") as here:
        await here.start(lease_ms=SHORT_LEASE)
        await here.quiet()
        await here.office.imap.stop()
        for number in range(3):
            await here.writes(ANN, f"hello {number}", subject=f"s{number}")
        await here.office.imap.start()
        for number in range(3):
            await here.letter(ANN, f"hello {number}")
        await here.server.stop()
        await here.writes(ANN, "hello 3", subject="s3")
        await here.start(lease_ms=SHORT_LEASE)
        await here.letter(ANN, "hello 3")
        await here.quiet()

        for number in range(4):  # killed right after it was sent, a mail comes twice: the same one
            letters = here.letters(ANN, f"hello {number}")
            assert len({one.header("Message-ID") for one in letters}) == 1
        await here.office.imap.until(here.office.imap.inbox.is_all_seen)
