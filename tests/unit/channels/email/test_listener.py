"""The door for mail: 250 when it is durable, 451 when it is not, and nobody holds it open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiosmtplib
import pytest

from channels.channel import TryLater
from channels.email.listener import Limits, Listener, is_public
from channels.email.mail import Envelope
from tests.unit.channels.email.letterbox import Letterbox
from tests.unit.channels.email.letters import OURS, REPLY_TO, letter

ADA = "ada@example.org"


class Taker:
    """Takes mail, or does as its script says."""

    def __init__(self, *script: Exception) -> None:
        """Follow a script, then take everything."""
        self.script = list(script)
        self.taken: list[tuple[bytes, Envelope | None]] = []
        self.hold: asyncio.Event | None = None
        self.came = asyncio.Event()

    async def take(self, raw: bytes, envelope: Envelope | None) -> None:
        """Take a mail."""
        self.came.set()
        if self.hold is not None:
            await self.hold.wait()
        if self.script:
            raise self.script.pop(0)
        self.taken.append((raw, envelope))


@asynccontextmanager
async def door(
    taker: Taker, *, scheme: str = "smtp", limits: Limits | None = None
) -> AsyncIterator[Listener]:
    """Open a door on this machine."""
    listener = Listener(f"{scheme}://127.0.0.1:0", OURS, taker.take, limits=limits)
    await listener.start()
    try:
        yield listener
    finally:
        await listener.stop()


class Talk:
    """A client that says what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold both ends."""
        self.reader, self.writer = reader, writer

    async def hear(self) -> str:
        """Hear one answer, the last line of it; nothing at the end."""
        async with asyncio.timeout(10):
            while line := await self.reader.readline():
                if line[3:4] != b"-":
                    return line.decode().strip()
        return ""

    async def say(self, text: str) -> str:
        """Say a line, and hear the answer."""
        self.writer.write(text.encode() + b"\r\n")
        return await self.hear()


@asynccontextmanager
async def talk(listener: Listener, *said: str) -> AsyncIterator[Talk]:
    """Connect, and say some lines."""
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    try:
        it = Talk(reader, writer)
        await it.hear()
        for line in said:
            await it.say(line)
        yield it
    finally:
        writer.close()


def to(*recipients: str) -> list[str]:
    """Say hello, and who it is for."""
    return ["EHLO there", f"MAIL FROM:<{ADA}>", *(f"RCPT TO:<{one}>" for one in recipients)]


async def test_mail_is_taken_with_its_envelope() -> None:
    """By a client as there are many, with its dots and long lines as they were."""
    taker = Taker()

    async with door(taker) as listener:
        await aiosmtplib.send(
            letter(body=".a dot\n" + "x" * 5_000 + "\n"),
            sender=ADA,
            recipients=[REPLY_TO.upper(), OURS],
            hostname="127.0.0.1",
            port=listener.port,
            start_tls=False,
        )

    [(raw, envelope)] = taker.taken
    assert envelope == Envelope(sender=ADA, recipients=(REPLY_TO.upper(), OURS))
    assert b"\r\n.a dot\r\nxxx" in raw


async def test_empty_return_path_is_known_as_such() -> None:
    """A bounce has one: it must not be taken for a mail without any."""
    taker = Taker()

    async with door(taker) as listener, talk(listener, "EHLO x", "MAIL FROM:<>") as it:
        await it.say(f"RCPT TO:<{OURS}>")
        await it.say("DATA")
        answer = await it.say("From: x@y.z\r\n\r\nhi\r\n.")

    assert answer.startswith("250")
    [(_, envelope)] = taker.taken
    assert envelope is not None
    assert envelope.sender == ""


@pytest.mark.parametrize("error", [TryLater("busy"), ValueError("a bug")])
async def test_what_is_not_durable_stays_in_their_queue(error: Exception) -> None:
    """451, and the same mail a minute later is taken."""
    taker = Taker(error)

    async with door(taker) as listener, talk(listener) as it:
        answers = []
        for _ in range(2):
            for line in [*to(OURS), "DATA"]:
                await it.say(line)
            answers.append(await it.say("From: x@y.z\r\n\r\nhi\r\n."))

    assert [one[:3] for one in answers] == ["451", "250"]
    assert len(taker.taken) == 1


async def test_nothing_is_acknowledged_before_it_is_durable() -> None:
    """The answer comes after the commit."""
    taker = Taker()
    taker.hold = asyncio.Event()

    async with door(taker) as listener, talk(listener, *to(OURS), "DATA") as it:
        answer = asyncio.create_task(it.say("From: x@y.z\r\n\r\nhi\r\n."))
        await taker.came.wait()
        done, _ = await asyncio.wait([answer], timeout=0.05)
        taker.hold.set()

        assert done == set()
        assert (await answer).startswith("250")


@pytest.mark.parametrize(
    "recipient",
    [
        "bob@example.net",
        "other@example.com",
        "agent@example.com.evil.net",
        "agent%example.net@example.com",
        "agentx@example.com",
        "bob@example.net@example.com",
        '"agent@example.com"@evil.net',
    ],
)
async def test_it_is_no_relay(recipient: str) -> None:
    """Mail for others is refused for good, in clear words."""
    taker = Taker()

    async with door(taker) as listener, talk(listener, *to()) as it:
        answer = await it.say(f"RCPT TO:<{recipient}>")
        data = await it.say("DATA")

    assert answer[:3] in {"550", "553", "501"}
    assert data.startswith("503")
    assert taker.taken == []


@pytest.mark.parametrize("scheme", ["smtp", "lmtp"])
async def test_too_large_a_mail_is_refused_by_its_size_and_by_its_bytes(scheme: str) -> None:
    """Before it is sent, where the client says how large it is."""
    taker = Taker()
    hello = "LHLO x" if scheme == "lmtp" else "EHLO x"

    async with door(taker, scheme=scheme, limits=Limits(bytes=1_000)) as listener:
        async with talk(listener, hello) as it:
            announced = await it.say(f"MAIL FROM:<{ADA}> SIZE=2000")
        async with talk(listener, hello, *to(OURS)[1:], "DATA") as it:
            sent = await it.say(("x" * 70 + "\r\n") * 30 + ".")

    assert (announced[:3], sent[:3]) == ("552", "552")
    assert taker.taken == []


async def test_too_many_recipients_are_put_off() -> None:
    """Those before are taken."""
    taker = Taker()
    many = [f"agent+{n}@example.com" for n in range(3)]

    async with door(taker, limits=Limits(recipients=2)) as listener, talk(listener, *to()) as it:
        answers = [await it.say(f"RCPT TO:<{one}>") for one in many]

    assert [one[:3] for one in answers] == ["250", "250", "452"]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("HELP", "250"),
        ("\0\xff\0", "500"),
        ("RCPT TO:<agent@example.com>", "503"),
        ("DATA", "503"),
        ("MAIL FROM:" + "x" * 3_000, "500"),
        ("AUTH PLAIN AGEAYg==", "5"),
        ("STARTTLS", "454"),
        ("EXPN everybody", "502"),
    ],
)
async def test_nonsense_gets_a_clear_answer_and_the_talk_goes_on(said: str, wanted: str) -> None:
    """Whatever is said, the next mail is taken."""
    taker = Taker()

    async with door(taker) as listener, talk(listener, "EHLO x") as it:
        answer = await it.say(said)
        for line in [*to(OURS), "DATA"]:
            await it.say(line)
        await it.say("From: x@y.z\r\n\r\nhi\r\n.")

    assert answer.startswith(wanted)
    assert len(taker.taken) == 1


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [(Limits(idle_seconds=0.2), ""), (Limits(session_seconds=0.2), "421")],
)
async def test_slow_client_is_sent_away(limits: Limits, wanted: str) -> None:
    """One that says nothing, or something now and then for ever, holds no place."""
    async with (
        door(Taker(), limits=limits) as listener,
        talk(listener, *to(OURS), "DATA") as it,
    ):
        last = await it.hear()

    assert last[:3] == wanted


async def test_connections_are_counted() -> None:
    """One too many is told to come again; when one goes there is room."""
    taker = Taker()

    async with door(taker, limits=Limits(connections=1)) as listener:
        async with talk(listener, "EHLO x") as it:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            refused = (await reader.readline()).decode()
            writer.write(b"EHLO x\r\n")
            assert await reader.read() == b""
            writer.close()
            await it.say("QUIT")
            assert await it.hear() == ""
        async with talk(listener) as it:
            answer = await it.say("NOOP")

    assert refused.startswith("421")
    assert answer.startswith("250")


async def test_endless_commands_end() -> None:
    """A client that asks for ever is sent away."""
    async with door(Taker(), limits=Limits(mails=5)) as listener, talk(listener) as it:
        answers = [await it.say("NOOP") for _ in range(6)]

    assert [one[:3] for one in answers] == ["250"] * 5 + ["421"]


@pytest.mark.parametrize(("script", "wanted"), [((), "250"), ((TryLater("busy"),), "451")])
async def test_lmtp_answers_for_each_recipient(script: tuple[Exception, ...], wanted: str) -> None:
    """And one mail has one effect."""
    taker = Taker(*script)

    async with (
        door(taker, scheme="lmtp") as listener,
        talk(listener, "LHLO x", *to(OURS, "eve@example.net", REPLY_TO)[1:]) as it,
    ):
        await it.say("DATA")
        answers = [await it.say("From: x@y.z\r\n\r\nhi\r\n."), await it.hear()]
        after = await it.say("NOOP")

    assert [one[:3] for one in answers] == [wanted, wanted]
    assert after.startswith("250 OK")
    assert len(taker.taken) == (wanted == "250")


async def test_lmtp_takes_no_smtp_greeting() -> None:
    """So that a mistaken client hears of it."""
    async with door(Taker(), scheme="lmtp") as listener, talk(listener) as it:
        answer = await it.say("EHLO x")

    assert answer.startswith("500")


async def test_what_is_being_taken_is_finished_when_the_door_closes() -> None:
    """And those who only stand there are told to come again."""
    taker = Taker()
    taker.hold = asyncio.Event()

    async with door(taker) as listener, talk(listener, *to(OURS), "DATA") as it:
        assert listener.health() == ""
        answer = asyncio.create_task(it.say("From: x@y.z\r\n\r\nhi\r\n."))
        await taker.came.wait()
        stopping = asyncio.create_task(listener.stop())
        await asyncio.sleep(0)
        taker.hold.set()
        await stopping

        assert (await answer).startswith("250")
        assert (await it.hear()).startswith("421")
        assert "closed" in listener.health()


async def test_addresses_stay_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Also where something went wrong."""
    caplog.set_level(logging.INFO)

    async with (
        door(Taker(TryLater("busy"))) as listener,
        talk(listener, *to(OURS), "NONSENSE", "DATA") as it,
    ):
        await it.say(f"From: {ADA}\r\n\r\nhi\r\n.")

    assert "mail not taken now" in caplog.text
    assert ADA not in caplog.text
    assert OURS not in caplog.text


@pytest.mark.parametrize(
    ("peer", "is_direct"),
    [
        (("127.0.0.1", 25), False),
        (("10.1.2.3", 25), False),
        (("::1", 25, 0, 0), False),
        (("fd00::1", 25, 0, 0), False),
        (("::ffff:10.1.2.3", 25, 0, 0), False),
        (("8.8.8.8", 25), True),
        (("::ffff:8.8.8.8", 25, 0, 0), True),
        (("2600::1", 25, 0, 0), True),
        ((), True),
        (None, True),
    ],
)
def test_who_comes_from_the_internet_is_known_as_such(peer: object, *, is_direct: bool) -> None:
    """No server of ours has looked at what they bring."""
    assert is_public(peer) is is_direct


async def test_odd_bytes_in_an_address_are_no_error() -> None:
    """They reach the reader as text, whatever they were."""
    box = Letterbox()
    listener = Listener("smtp://127.0.0.1:0", OURS, box.ingest.ingest)
    await listener.start()
    try:
        async with talk(listener, "EHLO x") as it:
            it.writer.write(b"MAIL FROM:<\xff\xfe@example.org>\r\n")
            await it.hear()
            for line in [f"RCPT TO:<{OURS}>", "DATA"]:
                await it.say(line)
            answer = await it.say("From: x@y.z\r\n\r\nhi\r\n.")
    finally:
        await listener.stop()

    assert answer[:3] in {"250", "503"}
