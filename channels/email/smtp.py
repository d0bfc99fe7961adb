"""The mail server that takes our mail: a few connections, each used again while it is fresh.

One transaction is one recipient, because each has a return path of its own. What the server says
becomes one of three errors: try later, give up, or nobody is there.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

import aiosmtplib

from channels.channel import ChannelError, TryLater
from channels.email.oauth import AccessTokens
from channels.email.options import EmailOptions
from channels.email.servers import parse_smtp_url
from channels.email.smtp_errors import HungUp, translated

_log = logging.getLogger("parley.email")

_IDLE_SECONDS: Final = 20.0
"""Servers hang up on those who say nothing; most wait for minutes, some for less."""
_AT_ONCE: Final = 4


@dataclass(slots=True)
class _Line:
    """A connection, logged in."""

    smtp: aiosmtplib.SMTP
    used_at: float = 0.0
    is_used: bool = False


class SmtpClient:
    """Hands mail to the server."""

    def __init__(
        self,
        options: EmailOptions,
        *,
        tokens: AccessTokens | None = None,
        tls: ssl.SSLContext | None = None,
        seconds: float = 20.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take how long one mail may take; with `tls`, another idea of whose word is good."""
        self._server = parse_smtp_url(options.smtp_url)
        self._options = options
        self._tokens = tokens or (AccessTokens(options.oauth) if options.oauth else None)
        self._tls = tls
        self._seconds = seconds
        self._clock = clock
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._idle: list[_Line] = []

    async def send(self, raw: bytes, *, sender: str, recipient: str) -> None:
        """Hand a mail in; raises TryLater, GiveUp or NoSuchAddress.

        When TryLater comes, the server may have taken it all the same: the same Message-ID lets
        whoever gets it twice see it once.
        """
        try:
            async with asyncio.timeout(self._seconds), self._room:
                await self._hand_in(raw, sender, recipient)
        except TimeoutError as exc:
            raise TryLater("the mail server takes too long") from exc

    async def check(self) -> None:
        """Connect and log in, without sending; raises TryLater with what is wrong."""
        try:
            async with asyncio.timeout(self._seconds), self._room, self._lent(None) as line:
                with translated():
                    await line.smtp.noop()
        except TimeoutError as exc:
            raise TryLater("the mail server takes too long") from exc

    async def close(self) -> None:
        """Let go of the connections."""
        idle, self._idle = self._idle, []
        for line in idle:
            await _hang_up(line)

    # --- one mail ---------------------------------------------------------------------------------

    async def _hand_in(self, raw: bytes, sender: str, recipient: str) -> None:
        line = await self._fresh_idle()
        if line is not None:
            try:
                await self._transact(line, raw, sender, recipient)
            except HungUp:  # before the mail: another connection takes it
                _log.info("mail connection was gone")
            else:
                return
        await self._transact(None, raw, sender, recipient)

    async def _transact(self, line: _Line | None, raw: bytes, sender: str, recipient: str) -> None:
        async with self._lent(line) as lent:
            with translated(was_idle=lent.is_used):
                await lent.smtp.mail(sender)
                await lent.smtp.rcpt(recipient)
            with translated():
                await lent.smtp.data(raw)

    @asynccontextmanager
    async def _lent(self, line: _Line | None) -> AsyncIterator[_Line]:
        """Lend a connection; after any error but a plain refusal it is not used again."""
        lent = line or await self._connected()
        try:
            yield lent
        except ChannelError:
            await self._back(lent, is_clean=False)
            raise
        except BaseException:
            lent.smtp.close()
            raise
        await self._back(lent, is_clean=True)

    async def _back(self, line: _Line, *, is_clean: bool) -> None:
        try:
            if not is_clean:
                await line.smtp.rset()
        except (aiosmtplib.SMTPException, OSError):
            line.smtp.close()
            return
        if line.smtp.is_connected:
            line.is_used, line.used_at = True, self._clock()
            self._idle.append(line)

    async def _fresh_idle(self) -> _Line | None:
        while self._idle:
            line = self._idle.pop()
            if line.smtp.is_connected and self._clock() - line.used_at < _IDLE_SECONDS:
                return line
            await _hang_up(line)
        return None

    # --- connecting -------------------------------------------------------------------------------

    async def _connected(self) -> _Line:
        server, tokens = self._server, self._tokens
        smtp = aiosmtplib.SMTP(
            hostname=server.host,
            port=server.port,
            use_tls=server.security == "tls",
            start_tls=server.security == "starttls",  # required: without it nothing is sent
            tls_context=None if server.security == "plain" else self._tls,
            username=server.username or (self._options.address if tokens else None),
            password=None if tokens else server.password,
            oauth_token_generator=tokens.token if tokens else None,
            local_hostname=self._options.address.rpartition("@")[2] or None,
            timeout=self._seconds,
        )
        try:
            with translated():
                await smtp.connect()
        except ChannelError as exc:
            if tokens and isinstance(exc.__cause__, aiosmtplib.SMTPAuthenticationError):
                tokens.forget()
            _log.warning("no mail connection", extra={"error": str(exc)})
            raise TryLater(str(exc)) from exc
        return _Line(smtp)


async def _hang_up(line: _Line) -> None:
    with suppress(aiosmtplib.SMTPException, OSError, TimeoutError):
        async with asyncio.timeout(1.0):
            await line.smtp.quit()
    line.smtp.close()
