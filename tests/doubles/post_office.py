"""A post office: takes what Parley sends, keeps it for people, and brings what they write.

It is the mail server of `example.com`: its word on who wrote a mail stands at the top of what it
brings, as Authentication-Results. The agents' mail goes to an IMAP mailbox, or to Parley's door.
"""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from typing import Any, TypeVar
from urllib.parse import urlsplit

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from tests.doubles.imap_server import ImapServer
from tests.doubles.letters import Letter, report

AGENT = "agent@example.com"
AUTHSERV_ID = "mx.example.com"
USER, PASSWORD = "agent", "secret"

_Seen = TypeVar("_Seen")
_WIRE = policy.SMTP.clone(max_line_length=998)


@dataclass
class PostOffice:
    """Mailboxes, and servers in front of them."""

    imap: ImapServer
    tls: ssl.SSLContext | None = None
    door: str = ""
    """Parley's own, as `EMAIL_LISTEN` has it; without one, the agents' mail waits for IMAP."""
    boxes: dict[str, list[Letter]] = field(default_factory=dict)
    refuses: dict[str, str] = field(default_factory=dict)
    """What is said to who writes to an address, such as `550 no such user`."""
    authserv_id: str = AUTHSERV_ID
    takes_tags: bool = True
    """Whether `agent+anything@…` is delivered, as `agent@…` is."""
    misdelivers: str = ""
    """The folder that the agents' mail is put into, in place of the inbox."""
    reports: dict[str, str] = field(default_factory=dict)
    """For an address: what becomes of mail that was taken, `failed` or `delayed`."""
    port: int = 0
    _server: asyncio.Server | None = None
    _sessions: list[SMTP] = field(default_factory=list)
    _errands: set[asyncio.Task[None]] = field(default_factory=set)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def smtp_url(self) -> str:
        """Where Parley sends, as `SMTP_URL` has it."""
        scheme = "smtp" if self.tls else "smtp+plain"
        return f"{scheme}://{USER}:{PASSWORD}@127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Take mail; after a stop, on the same port."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._session, "127.0.0.1", self.port)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Take no more mail, and hang up."""
        if self._server is not None:
            self._server.close()
        for session in self._sessions:
            await _end(session)
        for _ in range(5):  # the loop closes an aborted socket in one of its next rounds
            await asyncio.sleep(0)
        self._sessions.clear()
        self._server = None

    def _session(self) -> SMTP:
        session = SMTP(
            self,
            tls_context=self.tls,
            authenticator=_authenticate,
            auth_require_tls=self.tls is not None,
            hostname=AUTHSERV_ID,
            enable_SMTPUTF8=True,
        )
        self._sessions.append(session)
        return session

    # --- what Parley sends

    async def handle_MAIL(  # noqa: N802 (aiosmtpd calls it so)
        self, _server: SMTP, session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Let those send who have logged in."""
        if not session.authenticated:
            return "530 5.7.0 log in first"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802 (aiosmtpd calls it so)
        self,
        _server: SMTP,
        _session: Session,
        envelope: Envelope,
        address: str,
        _options: list[str],
    ) -> str:
        """Take a recipient, or not."""
        refused = self.refuses.get(address.lower(), "")
        if "+" in address and not self.takes_tags:
            refused = "550 5.1.1 no such user"
        if not refused:
            envelope.rcpt_tos.append(address)
        return refused or "250 OK"

    async def handle_DATA(  # noqa: N802 (aiosmtpd calls it so)
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Take a mail: for people into their boxes, for the agents as any other mail."""
        raw = envelope.content
        assert isinstance(raw, bytes)
        for recipient in envelope.rcpt_tos:
            letter = Letter(raw, envelope.mail_from or "", recipient)
            if _is_agent(recipient):
                await self.bring(raw, envelope.mail_from or "", [recipient])
            elif action := self.reports.get(recipient.lower()):
                self._later(self.bring(report(letter, action=action), "", [letter.sender]))
            else:
                self.boxes.setdefault(recipient.lower(), []).append(letter)
        async with self._changed:
            self._changed.notify_all()
        return "250 OK"

    def _later(self, errand: Coroutine[None, None, None]) -> None:
        """Do something a moment later: reports come when the mail was taken, not before."""
        task = asyncio.create_task(_after(0.5, errand))
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    # --- what people write

    async def post(
        self, mail: EmailMessage, *, to: Iterable[str] = (), is_forged: bool = False
    ) -> bytes:
        """Bring a mail to the agents, with our word on who wrote it; give it as it was brought."""
        sender = mail["From"].addresses[0]
        everybody = [one for name in ("To", "Cc") for one in _addresses(mail, name)]
        recipients = list(to) or [one for one in everybody if _is_agent(one)]
        verdict = "fail" if is_forged else "pass"
        said = f"{self.authserv_id}; dmarc={verdict} header.from={sender.domain}"
        raw = f"Authentication-Results: {said}\r\n".encode() + mail.as_bytes(policy=_WIRE)
        await self.bring(raw, sender.addr_spec, recipients)
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

    # --- what is to be seen

    def letters(self, email: str) -> list[Letter]:
        """Give what came to somebody."""
        return self.boxes.get(email.lower(), [])

    async def letter(self, email: str, number: int = 1, within: float = 30) -> Letter:
        """Wait for somebody's letter of that number."""
        return await self.until(lambda: next(iter(self.letters(email)[number - 1 :]), None), within)

    async def until(self, look: Callable[[], _Seen | None], within: float = 30) -> _Seen:
        """Wait until something is to be seen."""
        async with asyncio.timeout(within), self._changed:
            while (seen := look()) is None:
                await self._changed.wait()
            return seen


def _authenticate(
    _server: SMTP,
    _session: Session,
    _envelope: Envelope,
    _mechanism: str,
    data: Any,  # noqa: ANN401 (by mechanism)
) -> AuthResult:
    return AuthResult(success=(data.login, data.password) == (USER.encode(), PASSWORD.encode()))


async def _after(seconds: float, errand: Coroutine[None, None, None]) -> None:
    await asyncio.sleep(seconds)
    await errand


async def _end(session: SMTP) -> None:
    if isinstance(session.transport, asyncio.WriteTransport):
        session.transport.abort()
    task = session._handler_coroutine
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


def _addresses(mail: EmailMessage, name: str) -> list[str]:
    return [one.addr_spec for header in mail.get_all(name, []) for one in header.addresses]


def _is_agent(address: str) -> bool:
    local, _, domain = address.lower().rpartition("@")
    return f"{local.partition('+')[0]}@{domain}" == AGENT


@asynccontextmanager
async def post_office(
    *, door: str = "", tls: ssl.SSLContext | None = None
) -> AsyncIterator[PostOffice]:
    """Run a post office for a while."""
    office = PostOffice(ImapServer(tls=tls, implicit_tls=tls is not None), tls, door)
    await office.imap.start()
    await office.start()
    try:
        yield office
    finally:
        await office.stop()
        await office.imap.stop()
