"""Notes to people about their mail: when one is sent, and never more than is decent.

They are errands: nobody waits for them, and a note that can't be sent is worth a line in the log.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from agent_core.errors import ParleyError
from channels.email.mail import Address, ReadMail
from channels.email.tokens import tagged
from channels.errands import Errands
from channels.intake import Memory

_log = logging.getLogger("parley.email")

_HOUR: Final = 3_600.0
_DAY: Final = 24 * _HOUR
_MOST_AN_HOUR: Final = 10
_MOST_AT_ONCE: Final = 200
_NOTE_SECONDS: Final = 60.0


class Notes(Protocol):
    """Sends a short mail that belongs to no thread."""

    async def note(
        self,
        to: Address,
        *,
        subject: str,
        text: str,
        in_reply_to: str,
        references: tuple[str, ...],
        reply_to: str,
    ) -> None:
        """Send it, or raise a ChannelError; what is empty is left out."""
        ...


class Notices:
    """Decides whether somebody hears of what became of their mail."""

    def __init__(
        self, notes: Notes, memory: Memory, ours: str, *, clock: Callable[[], float] = time.time
    ) -> None:
        """Take our address, and a clock that gives seconds since 1970."""
        self._notes = notes
        self._memory = memory
        self._ours = ours
        self._clock = clock
        self.errands = Errands(_log, (ParleyError, TimeoutError), most=_MOST_AT_ONCE)

    def tell(self, mail: ReadMail, text: str) -> None:
        """Answer somebody who has a part in a conversation: each mail once, some each hour."""
        self.errands.run(self._tell(mail, text))

    def turn_away(self, mail: ReadMail, text: str) -> None:
        """Answer a stranger: once a day."""
        self.errands.run(self._turn_away(mail, text))

    async def _tell(self, mail: ReadMail, text: str) -> None:
        told = f"told:{_short(mail.message_id or mail.digest)}"
        if mail.sender is None or await self._memory.recall(told) is not None:
            return
        if not await self._is_decent(mail.sender.email):
            _log.warning("no note: too many within the hour", extra={"digest": mail.digest})
            return
        await self._memory.keep(told, b"1", seconds=_DAY)
        await self._send(mail.sender, mail, text)

    async def _turn_away(self, mail: ReadMail, text: str) -> None:
        if mail.sender is None:
            return
        key = f"turned away:{_short(mail.sender.email.lower())}"
        if await self._memory.recall(key) is not None:
            return
        await self._memory.keep(key, b"1", seconds=_DAY)
        await self._send(mail.sender, mail, text)

    async def _is_decent(self, email: str) -> bool:
        """Count the notes of the last hour; what is left of a loop ends here."""
        key, now = f"noted:{_short(email.lower())}", self._clock()
        kept = await self._memory.recall(key)
        before = msgspec.json.decode(kept, type=list[float]) if kept else []
        recent = [at for at in before if now - _HOUR < at <= now]
        if len(recent) >= _MOST_AN_HOUR:
            return False
        await self._memory.keep(key, msgspec.json.encode([*recent, now]), seconds=_HOUR)
        return True

    async def _send(self, to: Address, mail: ReadMail, text: str) -> None:
        async with asyncio.timeout(_NOTE_SECONDS):
            await self._notes.note(
                to,
                subject=f"Re: {mail.topic or 'your mail'}",
                text=text,
                in_reply_to=mail.message_id,
                references=tuple(filter(None, (*mail.references, mail.message_id))),
                reply_to=self._way_back(mail),
            )

    def _way_back(self, mail: ReadMail) -> str:
        """Give the signed address that they wrote to: a reply to our note is about the same."""
        tokens = (token.text for token in mail.tokens if token.purpose == "reply")
        return next((tagged(self._ours, one) for one in tokens), "")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
