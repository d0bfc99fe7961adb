"""Does mail go out, and come in? What is wrong, and which setting to look at.

The last thing is a mail to ourselves: whoever takes it, we or the server that runs, it begins
nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from channels.channel import ChannelError, GiveUp
from channels.email.arrivals import ByDoor, ByMailbox, NotNow
from channels.email.oauth import AccessTokens
from channels.email.options import EmailOptions
from channels.email.probe import write_probe
from channels.email.smtp import SmtpClient
from channels.email.tokens import tagged

Arrived: TypeAlias = Callable[[str], Awaitable[bool]]
"""Tells whether a server that runs has taken a probe of this name."""

_LOOK_SECONDS: Final = 0.25
_SMTP, _IMAP, _LISTEN = "SMTP_URL", "IMAP_URL", "EMAIL_LISTEN"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    status: Literal["ok", "warn", "fail"]
    told: str
    todo: str = ""


async def examine(
    options: EmailOptions, arrived: Arrived | None, *, seconds: float = 60.0
) -> AsyncIterator[Finding]:
    """Look at each server and at the proof of who writes; then send a mail to ourselves."""
    tokens = AccessTokens(options.oauth) if options.oauth else None
    smtp = SmtpClient(options, tokens=tokens)
    mailbox = ByMailbox(options, tokens) if options.imap_url else None
    door = ByDoor(options) if options.listen else None
    try:
        out = await _out(smtp)
        ways = [await _mailbox(mailbox)] if mailbox else []
        ways += [await _door(door)] if door else []
        for one in (out, *ways, _proof(options)):
            yield one
        if all(one.status != "fail" for one in (out, *ways)):
            yield await _Errand(options, smtp, mailbox, door, arrived).run(seconds)
    finally:
        await smtp.close()
        for way in (mailbox, door):
            if way is not None:
                await way.close()


async def _out(smtp: SmtpClient) -> Finding:
    try:
        await smtp.check()
    except ChannelError as exc:
        return Finding("fail", f"mail can't go out: {exc}", f"see {_SMTP}")
    return Finding("ok", "the server for outgoing mail lets us in")


async def _mailbox(mailbox: ByMailbox) -> Finding:
    try:
        await mailbox.open()
    except NotNow as exc:
        return Finding("fail", str(exc), f"see {_IMAP}")
    return Finding("ok", "the mailbox can be read")


async def _door(door: ByDoor) -> Finding:
    try:
        await door.open()
    except NotNow as exc:
        return Finding("fail", str(exc), f"stop what listens there, or see {_LISTEN}")
    told = "a server of ours takes mail there" if door.is_taken else "the door for mail can open"
    return Finding("ok", told)


def _proof(options: EmailOptions) -> Finding:
    """Can anybody prove who they are?"""
    if options.verify_dkim:
        return Finding("ok", "who wrote a mail is checked by its signature")
    if options.authserv_id and (options.mailgun_key or options.inbound_secret):
        told = "mail that a provider brings proves nothing: approvals by it work by link only"
        return Finding("warn", told, "set EMAIL_VERIFY_DKIM=true")
    if options.authserv_id:
        return Finding("ok", f"who wrote a mail, {options.authserv_id} says")
    todo = "set EMAIL_AUTHSERV_ID, or EMAIL_VERIFY_DKIM=true"
    return Finding("warn", "nobody can prove who they are: approvals work by link only", todo)


@dataclass
class _Errand:
    """A mail to ourselves, on its way."""

    options: EmailOptions
    smtp: SmtpClient
    mailbox: ByMailbox | None
    door: ByDoor | None
    arrived: Arrived | None

    async def run(self, seconds: float) -> Finding:
        """Send it, and wait until it has come by any of the ways."""
        if not self._can_see():
            return Finding(
                "warn",
                "no mail was sent: nobody here could see it come",
                "set IMAP_URL or EMAIL_LISTEN, or start the server, and look again",
            )
        name = secrets.token_hex(16)
        try:
            has_tags = await self._send(name)
        except ChannelError as exc:
            return Finding("fail", f"a mail to ourselves can't be sent: {exc}", f"see {_SMTP}")
        try:
            async with asyncio.timeout(seconds):
                await self._until_it_comes(name)
        except TimeoutError:
            told = f"a mail to ourselves has not come back within {seconds:g} seconds"
            todo = "see where EMAIL_ADDRESS is delivered to, and whether it is taken for spam"
            return Finding("fail", told, todo)
        if not has_tags:
            told = "a mail to ourselves has come back, but the address takes no tags"
            todo = "let agent+anything@… be delivered: else replies are found by References only"
            return Finding("warn", told, todo)
        return Finding("ok", "a mail to ourselves has come back")

    def _can_see(self) -> bool:
        is_open = self.door is not None and not self.door.is_taken
        return self.mailbox is not None or is_open or self.arrived is not None

    async def _send(self, name: str) -> bool:
        """Send it to an address with a tag, as answers are; tell whether that is taken."""
        with suppress(GiveUp):
            await self._hand_in(name, tagged(self.options.address, f"doctor{name[:8]}"))
            return True
        await self._hand_in(name, self.options.address)
        return False

    async def _hand_in(self, name: str, to: str) -> None:
        ours = self.options.address
        probe = write_probe(name, ours, self.options.secret_key, to=to, at=datetime.now(UTC))
        await self.smtp.send(probe.raw, sender=ours, recipient=to)

    async def _until_it_comes(self, name: str) -> None:
        while not await self._has_come(name):  # noqa: ASYNC110 (others see it, and can't call us)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _has_come(self, name: str) -> bool:
        if self.mailbox is not None and await self.mailbox.has(name):
            return True
        if self.door is not None and name in self.door.seen:
            return True
        return self.arrived is not None and await self.arrived(name)
