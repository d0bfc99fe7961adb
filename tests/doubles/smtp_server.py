"""A mail server for tests, on a real socket: aiosmtpd, with a script of what it says to whom.

It writes down every mail that it takes, with its envelope. It can refuse, hang up, say nothing,
want TLS (with a certificate made for the test) and want to know who one is.
"""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from ipaddress import ip_address
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HANG = "hang"
DROP = "drop"


@dataclass(frozen=True, slots=True)
class Taken:
    """A mail that the server took."""

    sender: str
    recipients: tuple[str, ...]
    raw: bytes

    @property
    def mail(self) -> EmailMessage:
        """The mail, as another program reads it."""
        read = message_from_bytes(self.raw, policy=default)
        assert isinstance(read, EmailMessage)
        return read

    def text(self, kind: str = "plain") -> str:
        """What stands in one of its two forms."""
        part = self.mail.get_body((kind,))
        assert part is not None
        return str(part.get_content())


@dataclass
class Script:
    """What the server says, one entry for each time and then yes; and what it has heard."""

    to_sender: list[str] = field(default_factory=list)
    to_recipient: dict[str, list[str]] = field(default_factory=dict)
    to_data: list[str] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    connections: int = 0
    user: tuple[str, str] = ("", "")
    bearer: str = ""
    logins: list[str] = field(default_factory=list)
    servers: list[SMTP] = field(default_factory=list)
    transports: list[asyncio.WriteTransport] = field(default_factory=list)

    # --- hooks of aiosmtpd ---

    async def handle_MAIL(  # noqa: N802 (its name there)
        self, server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Answer MAIL FROM."""
        if said := await self._said(server, self.to_sender):
            return said
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802 (its name there)
        self, server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Answer RCPT TO."""
        if said := await self._said(server, self.to_recipient.get(address, [])):
            return said
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 (its name there)
        """Take a mail, or don't."""
        if said := await self._said(server, self.to_data):
            return said
        raw = envelope.content if isinstance(envelope.content, bytes) else b""
        self.taken.append(Taken(envelope.mail_from or "", tuple(envelope.rcpt_tos), raw))
        return "250 OK"

    async def auth_XOAUTH2(self, _server: SMTP, arguments: list[str]) -> AuthResult:  # noqa: N802 (its name there)
        """Check a bearer token, as Google describes it."""
        said = base64.b64decode(arguments[1]).decode()
        self.logins.append(said)
        good = said == f"user={self.user[0]}\x01auth=Bearer {self.bearer}\x01\x01"
        return AuthResult(success=good, handled=False)

    def check(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: object
    ) -> AuthResult:
        """Check a password."""
        assert isinstance(data, LoginPassword)
        given = (data.login.decode(), data.password.decode())
        self.logins.append(given[0])
        return AuthResult(success=given == self.user, handled=False)

    async def _said(self, server: SMTP, script: list[str]) -> str:
        said = script.pop(0) if script else ""
        if said == HANG:
            await asyncio.Event().wait()
        if said == DROP:
            assert isinstance(server.transport, asyncio.WriteTransport)
            server.transport.abort()
            await asyncio.Event().wait()
        return said


class _Smtp(SMTP):
    """Counts its connections, and lets none outlive the test."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.event_handler.servers.append(self)
        self.event_handler.transports.append(transport)
        self.event_handler.connections += 1
        super().connection_made(transport)


@dataclass(frozen=True)
class MailServer:
    """The server at work."""

    script: Script
    port: int


@asynccontextmanager
async def mail_server(
    script: Script,
    *,
    tls: ssl.SSLContext | None = None,
    starttls: ssl.SSLContext | None = None,
) -> AsyncIterator[MailServer]:
    """Serve on a free port of this machine."""
    loop = asyncio.get_running_loop()
    wants_login = bool(script.user[0])

    def made() -> SMTP:
        return _Smtp(
            script,
            hostname="mail.test",
            loop=loop,
            tls_context=starttls,
            require_starttls=starttls is not None,
            authenticator=script.check,
            auth_required=wants_login,
            auth_require_tls=wants_login or starttls is not None,
        )

    server = await loop.create_server(made, "127.0.0.1", 0, ssl=tls)
    try:
        yield MailServer(script, server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for one in script.servers:
            await _end(one)
        for transport in script.transports:  # TLS may wait for a farewell that never comes
            transport.abort()
        for _ in range(5):  # the loop closes an aborted socket in one of its next rounds
            await asyncio.sleep(0)


async def _end(server: SMTP) -> None:
    task = server._handler_coroutine
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


@dataclass(frozen=True)
class Certificates:
    """A certificate for this machine: the server's side, and a client that trusts it."""

    server: ssl.SSLContext
    client: ssl.SSLContext


def make_certificates(folder: Path) -> Certificates:
    """Make a throw-away certificate for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail.test")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return Certificates(server, ssl.create_default_context(cafile=str(file)))
