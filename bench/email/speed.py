"""Mails a second: read in this process, and by the children of the pool."""

from __future__ import annotations

import asyncio
import time

from channels.email.mail import ReadingOptions
from channels.email.pool import MailReader
from channels.email.reading import read_mail

_OPTIONS = ReadingOptions(address="agent@example.com", secret=b"x" * 32)
MAIL = (
    "From: Ada <ada@example.org>\r\nTo: agent@example.com\r\nSubject: Re: Refund\r\n"
    "Content-Type: multipart/alternative; boundary=b\r\n\r\n"
    "--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nYes, please do.\r\n\r\n"
    "On Tue, Mar 3, 2026 at 4:05 PM Parley <agent@example.com> wrote:\r\n\r\n"
    + "> May I run refund? It would cost 59.90 EUR.\r\n" * 20
    + "--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Yes, please do.</p>\r\n--b--\r\n"
).encode()


def report(seconds: float) -> str:
    """Measure both ways."""
    here = _here(seconds)
    pooled = asyncio.run(_pooled(seconds))
    return f"mails of {len(MAIL):,} bytes: {here:,.0f}/s here, {pooled:,.0f}/s by two children"


def _here(seconds: float) -> float:
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        assert read_mail(MAIL, None, _OPTIONS).reply == "Yes, please do."
        count += 1
    return count / (time.perf_counter() - start)


async def _pooled(seconds: float) -> float:
    async with MailReader(_OPTIONS, size=2) as reader:
        await asyncio.gather(reader.read(MAIL), reader.read(MAIL))
        start = time.perf_counter()
        counts = await asyncio.gather(*(_busy(reader, start + seconds) for _ in range(4)))
        return sum(counts) / (time.perf_counter() - start)


async def _busy(reader: MailReader, until: float) -> int:
    count = 0
    while time.perf_counter() < until:
        assert (await reader.read(MAIL)).reply == "Yes, please do."
        count += 1
    return count
