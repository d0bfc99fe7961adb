"""The pool: mail is read by children, and none can hold up or harm the others."""

from __future__ import annotations

import asyncio
import base64
import os
import time
from pathlib import Path

import dkim
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from channels.email.mail import Envelope, ReadingOptions
from channels.email.pool import MailReader, ReaderUnavailable
from channels.email.reading import read_mail
from tests.unit.channels.email.letters import OPTIONS, QUESTION, REPLY_TO, letter

ODD = (str(Path(__file__).parents[3] / "doubles" / "odd_mail_child.py"),)


async def test_child_reads_what_we_would_read() -> None:
    """The same mail, the same result: also the token, which the child can't verify."""
    raw, envelope = letter(f"To: {REPLY_TO}", "Subject: Re: x"), Envelope(sender="ada@example.org")

    async with MailReader(OPTIONS, seconds=20) as reader:
        mail = await reader.read(raw, envelope)

    assert mail == read_mail(raw, envelope, OPTIONS)
    assert [token.reference for token in mail.tokens] == [QUESTION]


async def test_child_is_used_again() -> None:
    """A mail doesn't cost the start of a process."""
    async with MailReader(OPTIONS, size=1, seconds=20) as reader:
        await reader.read(letter())
        (child,) = reader._all
        for number in range(20):
            assert (await reader.read(letter(body=f"{number}"))).reply == str(number)

        assert reader._all == {child}


@pytest.mark.parametrize("word", ["die", "babble"])
async def test_child_that_breaks_costs_only_its_mail(word: str) -> None:
    """It is put aside with a reason, and the next mail gets a new child."""
    async with MailReader(OPTIONS, size=1, seconds=20, command=ODD) as reader:
        broken = await reader.read(letter(body=word))
        fine = await reader.read(letter())

    assert (broken.kind, fine.kind) == ("rejected", "human")
    assert "ended its process" in broken.reason
    assert broken.digest


async def test_mail_that_takes_too_long_is_put_aside_and_others_go_on() -> None:
    """The child that hangs is killed at the limit; meanwhile the other child reads."""
    async with MailReader(OPTIONS, size=2, seconds=1.5, command=ODD) as reader:
        await asyncio.gather(reader.read(letter()), reader.read(letter()))
        children = {child._process.pid for child in reader._all}
        hanging = asyncio.create_task(reader.read(letter(body="hang")))
        others = [(await reader.read(letter())).kind for _ in range(5)]
        is_still_hanging = not hanging.done()
        put_aside = await hanging
        gone = children - {child._process.pid for child in reader._all}

    assert others == ["human"] * 5
    assert is_still_hanging
    assert (put_aside.kind, put_aside.reason) == (
        "rejected",
        "reading it took longer than 1.5 seconds",
    )
    assert [_is_alive(pid) for pid in gone] == [False]


async def test_child_that_died_while_it_waited_is_not_the_mails_fault() -> None:
    """The mail is read by a new one."""
    async with MailReader(OPTIONS, size=1, seconds=20, command=ODD) as reader:
        await reader.read(letter())
        (child,) = reader._all
        child._process.kill()
        await child._process.wait()

        assert (await reader.read(letter())).kind == "human"
        assert (await reader.read(letter(body="die"))).kind == "rejected"


async def test_without_a_child_no_mail_is_judged() -> None:
    """A machine that can't start a process must not put good mail aside."""
    async with MailReader(OPTIONS, size=1, command=("-c", "raise SystemExit(1)")) as reader:
        for _ in range(2):
            with pytest.raises(ReaderUnavailable, match="does not start"):
                await reader.read(letter())

        assert reader._all == set()


async def test_reading_that_is_cancelled_leaves_its_place_to_others() -> None:
    """Who no longer waits takes nobody's turn."""
    async with MailReader(OPTIONS, size=1, seconds=20, command=ODD) as reader:
        await reader.read(letter())
        task = asyncio.create_task(reader.read(letter(body="hang")))
        await asyncio.sleep(0)  # now it has taken the only place
        assert reader._idle.empty()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        assert (await reader.read(letter())).kind == "human"


async def test_closing_ends_every_child() -> None:
    """Nothing is left running."""
    reader = MailReader(OPTIONS, size=2, seconds=20)
    await asyncio.gather(reader.read(letter()), reader.read(letter()))
    pids = [child._process.pid for child in reader._all]

    await reader.close()

    assert [_is_alive(pid) for pid in pids] == [False] * len(pids)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (letter(body="x" * 10_000_001), "larger than 10,000,000 bytes"),
        (letter("X: " + "y" * 64_001), "headers larger than 64,000 bytes"),
        (
            letter("Content-Type: multipart/mixed; boundary=b", body="--b\n\n" * 200_000),
            "more than 100 boundaries",
        ),
        (
            letter("To: " + ", ".join(f"a{n}@example.com" for n in range(101))),
            "more than 100 recipients",
        ),
    ],
)
async def test_mail_over_a_limit_is_put_aside(raw: bytes, reason: str) -> None:
    """Unread, with the reason, and quickly."""
    async with MailReader(OPTIONS, size=1, seconds=20) as reader:
        mail = await reader.read(raw)

    assert (mail.kind, mail.reason) == ("rejected", reason)


@pytest.mark.parametrize(
    "raw",
    [
        letter(body="\n" * 9_000_000),
        letter("Subject: " + "=?utf-8?q?x?= " * 4_000),
        letter("To: " + "(" * 50_000),
        letter("Content-Type: text/html", body="<table><tr><td>" * 400_000),
        letter("Content-Type: text/html", body="<b>" * 2_000_000),
        letter("Content-Type: multipart/mixed" + ";x" * 30_000),
        letter("Content-Transfer-Encoding: base64", body="QUJD" * 2_000_000),
        letter(body="On 1.1.2026 10:00 <a@b.c>\n" * 300_000),
    ],
)
async def test_bombs_are_read_or_put_aside_within_the_limit(raw: bytes) -> None:
    """Two seconds, the pipe and the child's death included; a mail behind it is read."""
    async with MailReader(OPTIONS, size=1) as reader:
        await reader.read(letter())
        start = time.monotonic()
        mail = await reader.read(raw)
        took = time.monotonic() - start

        assert mail.kind in {"human", "rejected"}
        assert took < 4.0  # the limit is 2; the rest is for machines with other work
        assert (await reader.read(letter())).kind == "human"


async def test_keys_for_signatures_come_from_our_side_of_the_pipe() -> None:
    """The child asks by name, and we look it up: it needs no network."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=1024)  # noqa: S505 - quick, and no secret
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    asked: list[str] = []

    async def records(name: str) -> bytes | None:
        asked.append(name)
        return b"v=DKIM1; k=rsa; p=" + base64.b64encode(public)

    raw = letter()
    signed = dkim.sign(raw, b"s1", b"example.org", private, include_headers=[b"from"]) + raw
    options = ReadingOptions(verify_dkim=True)
    async with MailReader(options, size=1, seconds=20, lookup=records) as reader:
        mail = await reader.read(signed)

    assert mail.authentication.passed, mail.authentication.reason
    assert [name.rstrip(".") for name in asked] == ["s1._domainkey.example.org"]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
