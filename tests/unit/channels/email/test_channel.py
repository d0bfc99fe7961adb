"""The email channel put together: what it serves, what it lets in, and how it ends."""

from __future__ import annotations

import asyncio
import smtplib
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from channels.channel import TryLater
from channels.email.channel import CannotListen, EmailChannel
from channels.email.options import EmailOptions
from channels.email.probe import memory_key, write_probe
from channels.outgoing import Outgoing
from channels.recording import Recording
from channels.web_routes import WebRequest
from tests.doubles.post_office import AGENT, PostOffice, post_office
from tests.scenario.gateway.cli_installation import free_port

SECRET = b"s" * 32


@pytest.fixture
async def office() -> AsyncIterator[PostOffice]:
    """A post office."""
    async with post_office() as running:
        yield running


def channel(office: PostOffice, **more: str) -> EmailChannel:
    """Set a channel up."""
    options = EmailOptions(
        address=AGENT,
        smtp_url=office.smtp_url,
        listen=more.get("listen", ""),
        inbound_secret=more.get("inbound_secret", ""),
        secret_key=SECRET,
    )
    return EmailChannel(options)


def hand_in(port: int, raw: bytes) -> None:
    """Bring a mail to the door."""
    with smtplib.SMTP("127.0.0.1", port, timeout=20) as client:
        client.sendmail("ann@example.com", [AGENT], raw)


async def test_doctors_mail_is_noted_and_goes_no_further(office: PostOffice) -> None:
    """It begins nothing; a person's mail right after it does."""
    port, recording = free_port(), Recording()
    at_work = channel(office, listen=f"smtp://127.0.0.1:{port}")
    probe = write_probe("ab" * 16, AGENT, SECRET, to=AGENT, at=datetime.now(UTC))
    await at_work.start(recording.house())
    try:
        await asyncio.to_thread(hand_in, port, probe.raw)
        await asyncio.to_thread(hand_in, port, b"From: ann@example.com\r\n\r\nhello\r\n")
    finally:
        await at_work.stop()

    assert await recording.memory.recall(memory_key("ab" * 16))
    assert [one.actor.id for one in recording.intake.taken] == ["email:ann@example.com"]


async def test_door_that_somebody_has_is_told_by_its_setting(office: PostOffice) -> None:
    """And nothing is left open behind it."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        at_work = channel(office, listen=f"smtp://127.0.0.1:{other.getsockname()[1]}")

        with pytest.raises(CannotListen, match="EMAIL_LISTEN"):
            await at_work.start(Recording().house())


async def test_provider_is_asked_to_come_again_while_it_is_stopped(office: PostOffice) -> None:
    """A provider tries again on 503; the mail is not lost."""
    at_work = channel(office, inbound_secret="0123456789abcdef")
    serve = at_work.routes()[("POST", "/email/inbound/postmark")]
    request = WebRequest(method="POST", path="/email/inbound/postmark")
    closed = await serve(request)
    await at_work.start(Recording().house())
    refused = await serve(request)
    await at_work.stop()

    assert (closed.status, refused.status) == (503, 401)
    assert (await serve(request)).status == 503


async def test_without_a_provider_there_is_no_door_for_one(office: PostOffice) -> None:
    """What is not set up is not served, and takes no large bodies."""
    plain, open_to_all = channel(office), channel(office, inbound_secret="0123456789abcdef")

    assert not any(path.startswith("/email/") for _, path in plain.routes())
    assert plain.capabilities.largest_body == 0
    assert open_to_all.capabilities.largest_body > 10_000_000


async def test_before_the_start_nothing_is_sent(office: PostOffice) -> None:
    """The outbox keeps it."""
    message = Outgoing(id="d_1", thread="th_1", address="email:a@example.com", kind="notice")
    with pytest.raises(TryLater):
        await channel(office).send(message)


async def test_server_that_is_away_is_told_to_the_operator(office: PostOffice) -> None:
    """By the setting that names it."""
    at_work = channel(office)
    await at_work.start(Recording().house())
    well = await at_work.health()
    await office.stop()
    ill = await at_work.health()
    await at_work.stop()

    assert well == ""
    assert "SMTP_URL" in ill
