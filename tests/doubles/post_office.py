"""The post office of the tests: the one that ships, with IMAP, with TLS, and with trouble.

The agents' mail goes to an IMAP mailbox; or, where there is one, to Parley's door.
"""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any
from urllib.parse import urlsplit

from aiosmtpd.smtp import SMTP

from channels.email import double
from channels.email.double.letters import Letter, report
from tests.doubles.imap_server import ImapServer

AGENT = double.PostOffice.agent
AUTHSERV_ID = double.PostOffice.authserv_id
USER, PASSWORD = double.PostOffice.user, double.PostOffice.password


@dataclass(kw_only=True)
class PostOffice(double.PostOffice):
    """Mailboxes, and servers in front of them."""

    imap: ImapServer
    tls: ssl.SSLContext | None = None
    refuses: dict[str, str] = field(default_factory=dict)
    """What is said to who writes to an address, such as `550 no such user`."""
    takes_tags: bool = True
    """Whether `agent+anything@…` is delivered, as `agent@…` is."""
    misdelivers: str = ""
    """The folder that the agents' mail is put into, in place of the inbox."""
    reports: dict[str, str] = field(default_factory=dict)
    """For an address: what becomes of mail that was taken, `failed` or `delayed`."""

    @property
    def smtp_url(self) -> str:
        """Where Parley sends, as `SMTP_URL` has it."""
        url = super().smtp_url
        return url.replace("smtp+plain:", "smtp:") if self.tls else url

    def session(self, **options: Any) -> SMTP:  # noqa: ANN401 (aiosmtpd's own)
        """Ask for TLS before a login, where there is any."""
        needs_tls = self.tls is not None
        return super().session(tls_context=self.tls, auth_require_tls=needs_tls, **options)

    def refusal(self, address: str) -> str:
        """Refuse whom a test says."""
        if "+" in address and not self.takes_tags:
            return "550 5.1.1 no such user"
        return self.refuses.get(address.lower(), "")

    async def deliver(self, letter: Letter) -> None:
        """Deliver, or report that it could not be done."""
        if action := self.reports.get(letter.recipient.lower()):
            told = report(letter, action=action)
            self.later(_after(0.5, lambda: self.bring(told, "", [letter.sender])))
        else:
            await super().deliver(letter)

    async def post(
        self, mail: EmailMessage, *, to: Iterable[str] = (), is_forged: bool = False
    ) -> bytes:
        """Bring a mail to the agents, with our word on who wrote it; give it as it was brought."""
        raw, sender, recipients = self.stamped(mail, to=to, is_forged=is_forged)
        await self.bring(raw, sender, recipients)
        return raw

    async def bring(self, raw: bytes, sender: str, recipients: list[str]) -> None:
        """Deliver a mail to the agents."""
        head = f"Return-Path: <{sender}>\r\nDelivered-To: {recipients[0]}\r\n".encode()
        if self.door:
            await asyncio.to_thread(self._hand_over, head + raw, sender, recipients)
        else:
            await self.imap.deliver(head + raw, self.misdelivers or "INBOX")

    def _hand_over(self, raw: bytes, sender: str, recipients: list[str]) -> None:
        parts = urlsplit(self.door)
        client = smtplib.LMTP if parts.scheme == "lmtp" else smtplib.SMTP
        with client(parts.hostname or "", parts.port or 0, timeout=20) as connection:
            connection.sendmail(sender, recipients, raw)


async def _after(seconds: float, errand: Callable[[], Awaitable[None]]) -> None:
    """Do something a moment later: reports come when the mail was taken, not before."""
    await asyncio.sleep(seconds)
    await errand()


@asynccontextmanager
async def post_office(
    *, door: str = "", tls: ssl.SSLContext | None = None
) -> AsyncIterator[PostOffice]:
    """Run a post office for a while."""
    office = PostOffice(imap=ImapServer(tls=tls, implicit_tls=tls is not None), tls=tls, door=door)
    await office.imap.start()
    await office.start()
    try:
        yield office
    finally:
        await office.stop()
        await office.imap.stop()
