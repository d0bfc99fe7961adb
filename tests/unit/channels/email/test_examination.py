"""The doctor looks at email: what it finds, what it says to do, and a mail to itself."""

from __future__ import annotations

import asyncio
import smtplib
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from channels.email.examination import Finding, examine
from channels.email.options import EmailOptions
from channels.email.probe import probe_name, write_probe
from tests.doubles.imap_folders import Folder
from tests.doubles.post_office import AGENT, PostOffice, post_office
from tests.scenario.gateway.cli_installation import free_port

SECRET = b"s" * 32


@pytest.fixture
async def office() -> AsyncIterator[PostOffice]:
    """A post office with a mailbox."""
    async with post_office() as running:
        yield running


def options(office: PostOffice) -> EmailOptions:
    """Set email up by IMAP."""
    return EmailOptions(
        address=AGENT,
        smtp_url=office.smtp_url,
        imap_url=office.imap.url,
        authserv_id="mx.example.com",
        secret_key=SECRET,
    )


async def found(given: EmailOptions, *, seconds: float = 10) -> list[Finding]:
    """Look at everything."""
    return [one async for one in examine(given, None, seconds=seconds)]


async def test_mail_to_ourselves_comes_back_by_imap(office: PostOffice) -> None:
    """It is marked as ours, and as seen."""
    findings = await found(options(office))

    assert [one.status for one in findings] == ["ok"] * 4
    assert "has come back" in findings[-1].told
    (mail,) = office.imap.inbox.mails
    assert probe_name(mail.raw, SECRET)
    assert "\\Seen" in mail.flags


async def test_mail_to_ourselves_comes_back_by_our_own_door(office: PostOffice) -> None:
    """Nobody else has it open; other mail is asked to come again."""
    door = f"lmtp://127.0.0.1:{free_port()}"
    given = replace(options(office), imap_url="", listen=door)
    office.door = door
    looking = asyncio.create_task(found(given))
    findings = await looking

    assert [one.status for one in findings] == ["ok"] * 4


async def test_server_that_runs_tells_that_it_has_come(office: PostOffice) -> None:
    """Where only a provider brings mail, nobody else could see it."""
    asked: list[str] = []

    async def arrived(name: str) -> bool:
        asked.append(name)
        return len(asked) > 1

    given = replace(options(office), imap_url="")
    findings = [one async for one in examine(given, arrived, seconds=10)]

    assert findings[-1].status == "ok"
    assert len(set(asked)) == 1


async def test_nobody_who_could_see_it_is_a_warning(office: PostOffice) -> None:
    """Then no mail is sent at all."""
    findings = await found(replace(options(office), imap_url=""))

    assert (findings[-1].status, office.imap.inbox.mails) == ("warn", [])


@pytest.mark.parametrize(
    ("change", "setting"),
    [
        ({"smtp_url": "smtp+plain://agent:wrong@127.0.0.1:{smtp}"}, "SMTP_URL"),
        ({"smtp_url": "smtp+plain://127.0.0.1:{free}"}, "SMTP_URL"),
        ({"imap_url": "imap+plain://agent:wrong@127.0.0.1:{imap}"}, "IMAP_URL"),
        ({"imap_url": "imap+plain://a:b@127.0.0.1:{free}"}, "IMAP_URL"),
        ({"listen": "smtp://127.0.0.1:{smtp}"}, "EMAIL_LISTEN"),
    ],
)
async def test_what_can_not_be_reached_is_told_by_its_setting(
    office: PostOffice, change: dict[str, str], setting: str
) -> None:
    """And no mail is sent: it could not come."""
    ports = {"smtp": office.port, "imap": office.imap.port, "free": free_port()}
    more: dict[str, Any] = {name: text.format(**ports) for name, text in change.items()}
    given = replace(options(office), **more)
    findings = await found(given)

    (failed,) = [one for one in findings if one.status == "fail"]
    assert setting in failed.todo
    assert "wrong" not in failed.told
    assert office.imap.inbox.mails == []


async def test_without_proof_of_who_writes_it_warns(office: PostOffice) -> None:
    """Approvals would work by link only."""
    findings = await found(replace(options(office), authserv_id=""))

    (warned,) = [one for one in findings if one.status == "warn"]
    assert "EMAIL_AUTHSERV_ID" in warned.todo


async def test_provider_that_brings_no_proof_is_warned_of(office: PostOffice) -> None:
    """What stands in its mail about who wrote it, the writer has written."""
    findings = await found(replace(options(office), mailgun_key="key"))

    (warned,) = [one for one in findings if one.status == "warn"]
    assert "EMAIL_VERIFY_DKIM" in warned.todo


async def test_mail_that_does_not_come_back_is_a_failure(office: PostOffice) -> None:
    """After a while, and with where to look."""
    office.imap.folders["Spam"] = Folder()
    office.misdelivers = "Spam"
    findings = await found(options(office), seconds=0.6)

    assert findings[-1].status == "fail"
    assert "spam" in findings[-1].todo


async def test_address_that_takes_no_tags_is_a_warning(office: PostOffice) -> None:
    """Replies would be found by their references only."""
    office.takes_tags = False
    findings = await found(options(office))

    assert findings[-1].status == "warn"
    assert "tags" in findings[-1].told


def test_probe_of_somebody_else_is_none() -> None:
    """Nor one in the body, nor one that was changed."""
    probe = write_probe("ab" * 16, AGENT, SECRET, to=AGENT, at=datetime.now(UTC))

    assert probe_name(probe.raw, SECRET) == "ab" * 16
    assert probe_name(probe.raw, b"other") == ""
    assert probe_name(probe.raw.replace(b"abab", b"abac", 1), SECRET) in {"", "ab" * 16}
    assert probe_name(b"Subject: x\r\n\r\n" + probe.raw, SECRET) == ""


async def test_other_mail_at_the_doctors_door_is_asked_to_come_again(office: PostOffice) -> None:
    """A mail of a person is not lost because the doctor was there."""
    port = free_port()
    given = replace(options(office), imap_url="", listen=f"smtp://127.0.0.1:{port}")

    def hand_in() -> int:
        with smtplib.SMTP("127.0.0.1", port, timeout=10) as client:
            client.ehlo()
            client.mail("ann@example.com")
            client.rcpt(AGENT)
            return client.data(b"Subject: hello\r\n\r\nhello\r\n")[0]

    looking = asyncio.create_task(found(given, seconds=3))
    code = 0
    while not code:
        try:
            code = await asyncio.to_thread(hand_in)
        except OSError:
            await asyncio.sleep(0.02)
    looking.cancel()
    with suppress(asyncio.CancelledError):
        await looking

    assert code == 451
