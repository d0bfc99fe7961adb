"""Ways to see the doctor's own mail come: in the mailbox, or at a door that nobody has open."""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import urlsplit

from agent_core.errors import ParleyError
from channels.channel import ChannelError
from channels.email.imap import ImapLine, MailboxTrouble, Unfetchable, parse_imap_url
from channels.email.listener import Listener
from channels.email.mail import Envelope
from channels.email.oauth import AccessTokens
from channels.email.options import EmailOptions
from channels.email.probe import probe_name

_CALL_SECONDS: Final = 20.0


class NotNow(ParleyError):
    """It can't be looked at; and mail that is not ours must not be taken here."""


class ByMailbox:
    """Looks into the mailbox, and at nothing that was there before."""

    def __init__(self, options: EmailOptions, tokens: AccessTokens | None) -> None:
        self._secret = options.secret_key
        self._tokens = tokens
        self._line = ImapLine(parse_imap_url(options.imap_url), seconds=_CALL_SECONDS)
        self._last = 0

    async def open(self) -> None:
        """Log in."""
        try:
            token = await self._tokens.token() if self._tokens else ""
            await asyncio.to_thread(self._line.open, token)
        except (ChannelError, MailboxTrouble) as exc:
            raise NotNow(str(exc)) from exc
        self._last = self._line.next_uid - 1

    async def has(self, name: str) -> bool:
        """Tell whether a probe has come."""
        return await asyncio.to_thread(self._has, name)

    def _has(self, name: str) -> bool:
        try:
            for uid in self._line.uids_after(self._last):
                raw = self._line.raw(uid)
                if raw is not None and probe_name(raw, self._secret) == name:
                    self._line.mark_seen(uid)
                    return True
        except (MailboxTrouble, Unfetchable):
            return False
        return False

    async def close(self) -> None:
        """Hang up."""
        await asyncio.to_thread(self._line.close)


class ByDoor:
    """Opens the door itself, if nobody has it open; other mail is asked to come again."""

    def __init__(self, options: EmailOptions) -> None:
        self._options = options
        self._listener = Listener(options.listen, options.address, self._take)
        self.seen: set[str] = set()
        self.is_taken = False

    async def open(self) -> None:
        """Open the door, or see that a server of ours has it."""
        try:
            await self._listener.start()
        except OSError as exc:
            self.is_taken = await self._is_ours()
            if not self.is_taken:
                raise NotNow(f"the door for mail can't be opened: {exc.strerror or exc}") from exc

    async def _take(self, raw: bytes, _envelope: Envelope | None) -> None:
        name = probe_name(raw, self._options.secret_key)
        if not name:
            raise NotNow("only the doctor is here")
        self.seen.add(name)

    async def _is_ours(self) -> bool:
        parts = urlsplit(self._options.listen)
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
                greeting = await reader.readline()
                writer.close()
        except (OSError, TimeoutError):
            return False
        return b"Parley" in greeting

    async def close(self) -> None:
        """Close the door."""
        await self._listener.stop()
