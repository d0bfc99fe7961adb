"""The post office on loopback: who may send, what is kept, and how mail comes to the app's door."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import aiosmtplib
import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from channels.email.double import PostOffice, reply, write

OLGA = "olga@example.com"


class Door:
    """The app's own door, which keeps what comes; it may refuse for a while."""

    def __init__(self) -> None:
        self.came: list[Envelope] = []
        self.refusals = 0

    async def handle_DATA(  # noqa: N802 (aiosmtpd calls it so)
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Take a mail, or not just now."""
        if self.refusals:
            self.refusals -= 1
            return "451 4.3.0 not now"
        self.came.append(envelope)
        return "250 OK"


@pytest.fixture
async def office() -> AsyncIterator[PostOffice]:
    """An office, with a door that nobody has opened yet."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    made = PostOffice(door=f"smtp://127.0.0.1:{port}")
    await made.start()
    yield made
    await made.stop()


async def open_door(office: PostOffice, door: Door) -> asyncio.Server:
    """Let the app listen."""
    loop = asyncio.get_running_loop()
    port = int(office.door.rpartition(":")[2])
    return await loop.create_server(lambda: SMTP(door), "127.0.0.1", port)


async def send(office: PostOffice, *, password: str) -> None:
    """Send a mail to Olga, as the app does."""
    mail = write(office.agent, OLGA, "May I?", subject="A question")
    await aiosmtplib.send(
        mail,
        hostname="127.0.0.1",
        port=office.port,
        username=office.user,
        password=password,
        start_tls=False,
    )


async def test_mail_of_the_app_is_kept_for_whom_it_is_for(office: PostOffice) -> None:
    """It must have logged in; whoever has not is refused."""
    await send(office, password=office.password)
    with pytest.raises(aiosmtplib.SMTPAuthenticationError):
        await send(office, password="guessed")

    (letter,) = office.letters(OLGA.upper())
    assert (letter.subject, letter.text.strip()) == ("A question", "May I?")


async def test_mail_waits_until_the_door_is_open(office: PostOffice) -> None:
    """Refused connections and a 451 are tried again; then it is there once, and says so."""
    door = Door()
    door.refusals = 1
    errand = office.send(write(OLGA, "agent+tag@example.com", "yes"))
    await office.until(lambda: errand.tries or None)
    assert errand.status == "under way"
    server = await open_door(office, door)
    await office.until(lambda: errand.status == "taken" or None)
    server.close()

    assert errand.tries >= 2
    assert [(one.mail_from, one.rcpt_tos) for one in door.came] == [
        (OLGA, ["agent+tag@example.com"])
    ]


async def test_office_vouches_for_its_own_people_at_the_top(office: PostOffice) -> None:
    """As the mail server of their domain does; or says that it can't."""
    mail = write(OLGA, office.agent, "yes")
    raw, sender, recipients = office.stamped(mail)
    forged, _, _ = office.stamped(mail, is_forged=True)

    first = b"Authentication-Results: mx.example.com; dmarc=pass header.from=example.com\r\n"
    assert raw.startswith(first)
    assert forged.startswith(first.replace(b"pass", b"fail"))
    assert (sender, recipients) == (OLGA, [office.agent])


async def test_reply_goes_to_where_the_letter_says(office: PostOffice) -> None:
    """With its thread, and the letter quoted below."""
    await send(office, password=office.password)
    (letter,) = office.letters(OLGA)
    answer = reply(letter, "no")

    assert answer["To"] == office.agent
    assert answer["In-Reply-To"] == letter.header("Message-ID")
    assert "> May I?" in answer.get_content()
