"""Finding the conversation that a mail belongs to: by proof, then by what it answers.

A signed token in an address of ours, or an id that only we could have minted, is proof of the
thread. References to mails that we have seen lead to their place. The subject is no sign at all:
everybody writes "Re: invoice".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from channels.email.conversations import Conversations
from channels.email.mail import Address, ReadMail, Token
from channels.email.places import Place, parse_place, root_of
from channels.intake import Desk
from channels.outgoing import QuestionCard


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where a mail belongs."""

    place: str
    thread: str = ""
    """Where there is proof of it."""
    question: QuestionCard | None = None
    """The one that it replies to, as it was before the mail."""
    is_known: bool = False
    """It belongs to a conversation that is there."""
    is_member: bool = True
    """The writer has written or been written to in this place, or begins it."""

    @property
    def is_inside(self) -> bool:
        """The writer had a part in the conversation before this mail."""
        return self.is_known and self.is_member


class Finder:
    """Finds where a mail belongs."""

    def __init__(self, desk: Desk, conversations: Conversations) -> None:
        self._desk = desk
        self._conversations = conversations

    async def find(self, mail: ReadMail, sender: Address) -> Where:
        """Find it; a mail that belongs nowhere begins something new."""
        thread, question = await self._proven(mail)
        place = await self._conversations.place_of((*mail.in_reply_to, *reversed(mail.references)))
        if thread and not await self._fits(place, thread, sender):
            # A program that writes no references; or that brings those of other people's mail.
            place = await self._conversations.place_with(thread, sender.email)
        is_known = bool(thread or place)
        return Where(
            place=place or str(Place(sender.email.lower(), root_of(_root(mail)))),
            thread=thread,
            question=question,
            is_known=is_known,
            is_member=not is_known or await self._is_member(place, sender),
        )

    async def _proven(self, mail: ReadMail) -> tuple[str, QuestionCard | None]:
        for token in _best_first(mail.tokens):
            card = await self._desk.question(token.reference)
            if card is not None:
                return card.thread, card
            if thread := _thread(token.reference):
                return thread, None
        return _thread(mail.delivery), None

    async def _fits(self, place: str, thread: str, sender: Address) -> bool:
        """Tell whether a place is where a thread goes on, or one that the writer is in anyway.

        Proof of one thread must not open the conversation of another to whoever knows an id of it.
        """
        known = await self._conversations.of(place) if place else None
        return known is not None and (
            known.thread == thread or await self._is_member(place, sender)
        )

    async def _is_member(self, place: str, sender: Address) -> bool:
        parsed, email = parse_place(place), sender.email.lower()
        if parsed is None:
            return False
        known = await self._conversations.of(place)
        people = known.participants if known else ()
        return parsed.email == email or any(one.email.lower() == email for one in people)


def _best_first(tokens: Sequence[Token]) -> list[Token]:
    """Somebody may reply to the return path: it names the thread, too, if nothing better does."""
    return sorted(tokens, key=lambda token: token.purpose != "reply")


def _thread(reference: str) -> str:
    """Give the thread in its own id or in that of a delivery; another id is a lost question's."""
    thread = reference.partition(".")[0]
    return thread if thread.startswith("th_") else ""


def _root(mail: ReadMail) -> str:
    """Name a conversation by the mail that began it, as far as this one tells."""
    first = (*mail.references[:1], *mail.in_reply_to[:1])
    return next(iter(first), mail.message_id or mail.digest)
