"""A post office: takes what an app sends, keeps it for people, and brings what they write.

It is the mail server of its people's domain: its word on who wrote a mail stands at the top of what
it brings, as Authentication-Results. What the app's door does not take just now is tried again, as
every mail server does.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from typing import Any, Final, Literal, TypeVar
from urllib.parse import urlsplit

import aiosmtplib
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from channels.email.double.letters import Letter

_WIRE: Final = policy.SMTP.clone(max_line_length=998)
_PAUSES: Final = (0.2, 0.3, 0.5, *(1.0,) * 60)
"""Between two tries to bring a mail: a mail server waits longer, and nobody watches it."""
_PATIENCE: Final = 10.0
_Seen = TypeVar("_Seen")


@dataclass(slots=True)
class Errand:
    """A mail on its way to the app, and how far it has come."""

    mail: EmailMessage
    status: Literal["under way", "taken", "given up"] = "under way"
    tries: int = 0
    begun: float = field(default_factory=time.time)


@dataclass(kw_only=True)
class PostOffice:
    """Boxes for people, and the way to the app's address."""

    agent: str = "agent@example.com"
    """The app's own address; with any tag (`agent+…@`) too."""
    authserv_id: str = "mx.example.com"
    user: str = "agent"
    password: str = "secret"  # noqa: S105 (it guards nothing: this is a double)
    door: str = ""
    """Where the app takes mail, like smtp://127.0.0.1:2525."""
    boxes: dict[str, list[Letter]] = field(default_factory=dict)
    errands: list[Errand] = field(default_factory=list)
    port: int = 0
    on_change: Callable[[], None] = lambda: None
    _server: asyncio.Server | None = None
    _sessions: list[SMTP] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def smtp_url(self) -> str:
        """Where the app sends, with its login."""
        return f"smtp+plain://{self.user}:{self.password}@127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Take mail; after a stop, on the same port."""
        logging.getLogger("mail.log").setLevel(logging.ERROR)  # it warns of its own deprecations
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self.session, "127.0.0.1", self.port)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Take no more mail, hang up, and give up what is under way."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for session in self._sessions:
            await _end(session)
        for _ in range(5):  # the loop closes an aborted socket in one of its next rounds
            await asyncio.sleep(0)
        self._sessions.clear()
        self._server = None

    def session(self, **options: Any) -> SMTP:  # noqa: ANN401 (aiosmtpd's own)
        """Let somebody in."""
        session = SMTP(
            self,
            authenticator=self._authenticate,
            hostname=self.authserv_id,
            enable_SMTPUTF8=True,
            **{"auth_require_tls": False, **options},
        )
        self._sessions.append(session)
        return session

    def _authenticate(
        self,
        _server: SMTP,
        _session: Session,
        _envelope: Envelope,
        _mechanism: str,
        data: Any,  # noqa: ANN401 (by mechanism)
    ) -> AuthResult:
        given = b"%b\0%b" % (data.login, data.password)
        known = f"{self.user}\0{self.password}".encode()
        return AuthResult(success=hmac.compare_digest(given, known), handled=False)

    # --- what the app sends

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
        if refused := self.refusal(address):
            return refused
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 (aiosmtpd calls it so)
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Take a mail for everybody it is for."""
        raw = envelope.content
        if not isinstance(raw, bytes):
            raise TypeError("aiosmtpd gives bytes unless it is told to decode them")
        for recipient in envelope.rcpt_tos:
            await self.deliver(Letter(raw, envelope.mail_from or "", recipient))
        await self.tell()
        return "250 OK"

    def refusal(self, address: str) -> str:  # noqa: ARG002 (for others to overrule)
        """Say why not to take mail for somebody, or nothing."""
        return ""

    async def deliver(self, letter: Letter) -> None:
        """Put a letter into its box; the app's own goes to the app."""
        if self.is_agent(letter.recipient):
            await self.bring(letter.raw, letter.sender, [letter.recipient])
        else:
            self.boxes.setdefault(letter.recipient.lower(), []).append(letter)

    # --- what people write

    def send(self, mail: EmailMessage) -> Errand:
        """Take a mail for the app, and bring it as soon as its door takes it."""
        errand = Errand(mail)
        self.errands.append(errand)
        self.later(self._run(errand))
        return errand

    async def _run(self, errand: Errand) -> None:
        raw, sender, recipients = self.stamped(errand.mail)
        for pause in _PAUSES:
            errand.tries += 1
            with suppress(aiosmtplib.SMTPException, OSError):
                await self.bring(raw, sender, recipients)
                errand.status = "taken"
                break
            await self.tell()
            await asyncio.sleep(pause)
        else:
            errand.status = "given up"
        await self.tell()

    def stamped(
        self, mail: EmailMessage, *, to: Iterable[str] = (), is_forged: bool = False
    ) -> tuple[bytes, str, list[str]]:
        """Write our word on who wrote a mail above it; give its sender and recipients too."""
        sender = mail["From"].addresses[0]
        everybody = [one for name in ("To", "Cc") for one in _addresses(mail, name)]
        recipients = list(to) or [one for one in everybody if self.is_agent(one)]
        verdict = "fail" if is_forged else "pass"
        said = f"{self.authserv_id}; dmarc={verdict} header.from={sender.domain}"
        raw = f"Authentication-Results: {said}\r\n".encode() + mail.as_bytes(policy=_WIRE)
        return raw, sender.addr_spec, recipients

    async def bring(self, raw: bytes, sender: str, recipients: list[str]) -> None:
        """Try once to hand a mail to the app."""
        there = urlsplit(self.door)
        await aiosmtplib.send(
            raw,
            sender=sender,
            recipients=recipients,
            hostname=there.hostname,
            port=there.port,
            start_tls=False,
            timeout=_PATIENCE,
        )

    def is_agent(self, address: str) -> bool:
        """Tell whether an address is the app's, with a tag or without."""
        local, _, domain = address.lower().rpartition("@")
        return f"{local.partition('+')[0]}@{domain}" == self.agent

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

    async def tell(self) -> None:
        """Say that something has changed."""
        self.on_change()
        async with self._changed:
            self._changed.notify_all()

    def later(self, work: Coroutine[None, None, None]) -> None:
        """Do something beside everything else, for as long as the office is open."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _end(session: SMTP) -> None:
    if isinstance(session.transport, asyncio.WriteTransport):
        session.transport.abort()
    task = session._handler_coroutine  # noqa: SLF001 (aiosmtpd offers no other way to end it)
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


def _addresses(mail: EmailMessage, name: str) -> list[str]:
    return [one.addr_spec for header in mail.get_all(name, []) for one in header.addresses]
