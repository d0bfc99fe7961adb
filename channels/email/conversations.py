"""Mail threads that we take part in: what a client needs to show our next mail under the last.

Kept for each place (`email:otto@example.com:0f3c…`), and every Message-ID leads back to its place,
those of people as well as our own. A mailbox that we write to about a thread has its place, too, so
that a second mail stays beside the first. Names in the memory are digests: they are not sealed.

Two that write at once may each lose the other's reference; the mails still hang together by those
that are left.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable
from typing import Final

import msgspec

from channels.email.mail import Address, ReadMail
from channels.email.tokens import is_ours
from channels.intake import Memory

_log = logging.getLogger("parley.email")

KEPT_SECONDS: Final = 366 * 24 * 3_600.0
"""Threads wait for long, and so do their mails."""
_MOST_REFERENCES: Final = 10
_MOST_PEOPLE: Final = 50
_LONGEST_ID: Final = 500


class Conversation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What our next mail must fit to."""

    subject: str = ""
    """As the last mail had it, with its `Re:`."""
    references: tuple[str, ...] = ()
    """The Message-IDs so far, the first one first and the newest last; ten at the most."""
    participants: tuple[Address, ...] = ()
    """Everybody but us, in the order in which they came."""
    newest: str = ""
    """What our next mail replies to."""
    thread: str = ""
    """The one that we last wrote about here."""


class Conversations:
    """Keeps them."""

    def __init__(self, memory: Memory, ours: str = "") -> None:
        """Take our own address: we are no participant."""
        self._memory = memory
        self._ours = ours

    async def heard(self, place: str, mail: ReadMail) -> None:
        """Keep what a person's mail adds; they and whom they wrote to are in it from now on."""
        before = await self.of(place) or Conversation()
        people = (*((mail.sender,) if mail.sender else ()), *mail.to, *mail.cc)
        # The first mail of a conversation may answer others that we have never seen.
        earlier = before.references or (*mail.references, *mail.in_reply_to)
        await self._keep(
            place,
            Conversation(
                subject=mail.subject or before.subject,
                references=joined((*earlier, mail.message_id)),
                participants=self._people((*before.participants, *people)),
                newest=mail.message_id or before.newest,
                thread=before.thread,
            ),
        )

    async def sent(
        self, place: str, thread: str, *, subject: str, message_id: str, people: Iterable[Address]
    ) -> None:
        """Keep what a mail of ours adds; each who got it will find the thread at this place."""
        before, people = await self.of(place) or Conversation(), tuple(people)
        await self._keep(
            place,
            Conversation(
                subject=subject,
                references=joined((*before.references, message_id)),
                participants=self._people((*before.participants, *people)),
                newest=message_id,
                thread=thread,
            ),
        )
        for one in people:
            key = _at(thread, one.email)
            await self._memory.keep(key, place.encode(), seconds=KEPT_SECONDS)

    async def of(self, place: str) -> Conversation | None:
        """Give what is known of a conversation; a damaged record is none."""
        kept = await self._memory.recall(name_of(place))
        if kept is None:
            return None
        try:
            return msgspec.json.decode(kept, type=Conversation)
        except msgspec.DecodeError:
            _log.warning("conversation unreadable")
            return None

    async def place_of(self, ids: Iterable[str]) -> str:
        """Give the place of the first of some Message-IDs that is known, or nothing."""
        for one in dict.fromkeys(ids):
            if kept := await self._memory.recall(_by(one)):
                return kept.decode(errors="replace")
        return ""

    async def place_with(self, thread: str, email: str) -> str:
        """Give where somebody was last written to about a thread, or nothing."""
        kept = await self._memory.recall(_at(thread, email))
        return kept.decode(errors="replace") if kept else ""

    async def _keep(self, place: str, now: Conversation) -> None:
        await self._memory.keep(name_of(place), msgspec.json.encode(now), seconds=KEPT_SECONDS)
        if now.newest:
            await self._memory.keep(_by(now.newest), place.encode(), seconds=KEPT_SECONDS)

    def _people(self, people: Iterable[Address]) -> tuple[Address, ...]:
        """Name each once, with the first name that was given; never ourselves."""
        found: dict[str, Address] = {}
        for one in people:
            if not is_ours(one.email, self._ours):
                found.setdefault(one.email.lower(), one)
        return tuple(found.values())[:_MOST_PEOPLE]


def joined(ids: Iterable[str]) -> tuple[str, ...]:
    """Give the references for the next mail: the root, by which clients thread, and the newest."""
    known = list(dict.fromkeys(one for one in ids if one and len(one) <= _LONGEST_ID))
    if len(known) <= _MOST_REFERENCES:
        return tuple(known)
    return (known[0], *known[1 - _MOST_REFERENCES :])


def name_of(place: str) -> str:
    """Give the name under which a conversation is kept."""
    return f"conversation:{_digest(place.lower())}"


def _by(message_id: str) -> str:
    return f"mail:{_digest(message_id)}"


def _at(thread: str, email: str) -> str:
    return f"with:{_digest(f'{thread} {email.lower()}')}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
