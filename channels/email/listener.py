"""Our own door for mail: SMTP, or LMTP behind a mail server (RFC 5321, RFC 2033).

It takes mail for our address only, and says 250 when it is durable, not before. What could not be
taken now gets 451: the other side keeps it in its queue. It relays nothing, and nobody can hold it
open: connections, commands, lines, bytes and time are all counted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, AnyStr, Final, TypeAlias
from urllib.parse import urlsplit

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Session
from aiosmtpd.smtp import Envelope as SmtpEnvelope

from agent_core.errors import ParleyError
from channels.email.mail import Envelope
from channels.email.tokens import is_ours

_log = logging.getLogger("parley.email")

Take: TypeAlias = Callable[[bytes, Envelope | None], Awaitable[object]]
"""As `Ingest.ingest`: what raises was not taken."""

_LONGEST_LINE: Final = 65_536
"""The RFC allows 1,000 octets; programs that write more are many, and their mail is not lost."""
_STOPPING_SECONDS: Final = 3.0
_NOT_NOW: Final = "451 4.3.0 Not taken just now; please try again later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one client, and all of them, may take."""

    connections: int = 100
    bytes: int = 10_000_000
    recipients: int = 100
    mails: int = 100
    """In one connection; and so many of any other command in vain."""
    idle_seconds: float = 120.0
    """For one command, or for one mail with its end."""
    session_seconds: float = 900.0


class Listener:
    """Takes mail at the door."""

    def __init__(self, url: str, address: str, take: Take, *, limits: Limits | None = None) -> None:
        """Take where to listen, `smtp://host:port` or `lmtp://host:port`, and our address."""
        parts = urlsplit(url)
        self._kind: type[_Smtp | _Lmtp] = _Lmtp if parts.scheme == "lmtp" else _Smtp
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 0
        self._address = address
        self._take = take
        self._limits = limits or Limits()
        self._server: asyncio.Server | None = None
        self._open: set[_Smtp | _Lmtp] = set()
        self._busy = 0
        self._rested = asyncio.Event()
        self._rested.set()

    @property
    def port(self) -> int:
        """Where it listens, once it does."""
        sockets = self._server.sockets if self._server else ()
        return int(sockets[0].getsockname()[1]) if sockets else self._port

    async def start(self) -> None:
        """Open the door; raises OSError where that can't be."""
        logging.getLogger("mail.log").setLevel(logging.ERROR)  # it writes down who mails whom
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._session, self._host, self._port)

    async def stop(self) -> None:
        """Let nobody in any more, finish what is being taken, and close."""
        if self._server is None:
            return
        self._server.close()
        try:
            async with asyncio.timeout(_STOPPING_SECONDS):
                await self._rested.wait()
        except TimeoutError:
            _log.warning("mail was being taken when the door closed; it comes again")
        for session in list(self._open):
            session.end()
        self._server = None

    def health(self) -> str:
        """Give nothing when all is well, else what is wrong."""
        if self._server is None or not self._server.is_serving():
            return "the door for mail (EMAIL_LISTEN) is closed"
        return ""

    # What sessions ask

    def _session(self) -> _Smtp | _Lmtp:
        limits = self._limits
        return self._kind(
            _Answers(self),
            door=self,
            data_size_limit=limits.bytes,
            enable_SMTPUTF8=True,
            hostname=self._address.rpartition("@")[2],
            ident="Parley",
            timeout=limits.idle_seconds,
            command_call_limit={
                "*": limits.mails,
                "RCPT": limits.mails * limits.recipients,
            },
        )

    def let_in(self, session: _Smtp | _Lmtp) -> bool:
        """Count a connection, if there is room for it."""
        if len(self._open) >= self._limits.connections:
            return False
        self._open.add(session)
        loop = asyncio.get_running_loop()
        session.deadline = loop.call_later(self._limits.session_seconds, session.end)
        return True

    def let_out(self, session: _Smtp | _Lmtp) -> None:
        """Forget a connection."""
        self._open.discard(session)
        if session.deadline is not None:
            session.deadline.cancel()

    def refusal(self, recipient: str, envelope: SmtpEnvelope) -> str:
        """Say why not to take mail for somebody, or nothing."""
        if not is_ours(recipient, self._address):
            return "550 5.7.1 Not for us: this server takes mail for its own address only"
        if len(envelope.rcpt_tos) >= self._limits.recipients:
            return "452 4.5.3 Too many recipients"
        return ""

    async def receive(self, session: Session, envelope: SmtpEnvelope) -> str:
        """Take a mail, and answer when it is durable."""
        raw = envelope.original_content or b""
        given = Envelope(
            sender=envelope.mail_from,
            recipients=tuple(envelope.rcpt_tos),
            is_direct=is_public(session.peer),
        )
        self._busy += 1
        self._rested.clear()
        try:
            await self._take(raw, _clean(given))
        except ParleyError as exc:
            _log.warning("mail not taken now", extra={"error": type(exc).__name__})
            return _NOT_NOW
        except Exception:  # noqa: BLE001 - whatever it was, the mail must not be lost by it
            _log.exception("mail not taken")
            return _NOT_NOW
        finally:
            self._busy -= 1
            if not self._busy:
                self._rested.set()
        return "250 2.0.0 Taken"


def _clean(envelope: Envelope) -> Envelope:
    """Addresses may hold bytes that are no text: aiosmtpd keeps them as surrogates, and `<>`."""

    def clean(text: str) -> str:
        return text.encode("utf-8", "replace").decode()

    sender = None if envelope.sender is None else clean(envelope.sender).strip("<>")
    recipients = tuple(map(clean, envelope.recipients))
    return Envelope(sender=sender, recipients=recipients, is_direct=envelope.is_direct)


def is_public(peer: object) -> bool:
    """Tell whether somebody comes from the internet, and not from a machine of the operator's."""
    try:
        host = str(peer[0]) if isinstance(peer, tuple) else str(peer)
        address = ip_address(host.partition("%")[0])
    except (ValueError, IndexError):
        return True
    return (getattr(address, "ipv4_mapped", None) or address).is_global


class _Answers:
    """What aiosmtpd asks, by the names that it looks for."""

    def __init__(self, door: Listener) -> None:
        self._door = door

    async def handle_RCPT(  # noqa: N802 (aiosmtpd's name)
        self,
        _server: SMTP,
        _session: Session,
        envelope: SmtpEnvelope,
        address: str,
        options: list[str],
    ) -> str:
        if refusal := self._door.refusal(address, envelope):
            return refusal
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 2.1.5 OK"

    async def handle_DATA(  # noqa: N802 (aiosmtpd's name)
        self, _server: SMTP, session: Session, envelope: SmtpEnvelope
    ) -> str:
        return await self._door.receive(session, envelope)

    async def handle_exception(self, error: Exception) -> str:
        """Hide what went wrong with a command of theirs, but not from us."""
        _log.error("mail session failed", extra={"error": type(error).__name__})
        return "451 4.3.0 That did not work; please try again later"


class _Smtp(SMTP):
    """One connection, which is counted and has an end."""

    line_length_limit = _LONGEST_LINE
    deadline: asyncio.TimerHandle | None = None
    _is_in = False

    def __init__(self, handler: _Answers, *, door: Listener, **more: Any) -> None:  # noqa: ANN401 (aiosmtpd's)
        super().__init__(handler, **more)
        self._door = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let somebody in, or tell them that there is no room."""
        self._is_in = self._door.let_in(self)
        if self._is_in:
            super().connection_made(transport)
        elif isinstance(transport, asyncio.Transport):
            transport.write(b"421 4.3.2 Too many connections; please try again later\r\n")
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Hear those who are in."""
        if self._is_in:
            super().data_received(data)

    def eof_received(self) -> bool | None:
        """Hear that they will say no more."""
        return super().eof_received() if self._is_in else False

    def connection_lost(self, error: Exception | None) -> None:
        """Forget them."""
        if self._is_in:
            self._door.let_out(self)
            super().connection_lost(error)

    def end(self) -> None:
        """Say goodbye."""
        if isinstance(self.transport, asyncio.Transport):
            self.transport.write(b"421 4.3.2 Closing; please try again later\r\n")
            self.transport.close()


class _Lmtp(_Smtp, LMTP):
    """The same for LMTP, where each recipient gets an answer of its own (RFC 2033, 4.2)."""

    _answers_each = 1

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 (aiosmtpd's name)
        """Take a mail; one mail has one effect, so each recipient hears the same."""
        try:
            await super().smtp_DATA(arg)
        finally:
            self._answers_each = 1

    async def push(self, status: AnyStr) -> None:
        """Answer; after the mail, once for each recipient."""
        for _ in range(self._answers_each):
            await super().push(status)
        if self.envelope is not None and str(status).startswith("354"):
            self._answers_each = max(1, len(self.envelope.rcpt_tos))
