"""A mail in its conversation: who gets it, under which subject, after which mails. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from channels.email.blocks import Block
from channels.email.conversations import Conversation, joined
from channels.email.encoded_words import one_line
from channels.email.html import render_html
from channels.email.letters import Letter, is_writable
from channels.email.mail import Address
from channels.email.options import EmailOptions
from channels.email.plain_text import render_text
from channels.email.subjects import topic
from channels.email.tokens import is_ours, mint_message_id, signed_address
from channels.outgoing import Outgoing, OutgoingKind

_LONGEST_SUBJECT: Final = 100
_MARKS: Final = re.compile(r"^[#>*\-\s]+|[*`]+|(?<!\w)_+|_+(?!\w)")
"""Of Markdown; an underscore inside a word is part of a name, like `roll_back`."""
_SUBJECTS: Final[dict[OutgoingKind, str]] = {
    "question.asked": "A question for you",
    "question.reminded": "A question for you",
    "question.escalated": "A question for you",
    "question.voted": "A question for you",
    "question.settled": "A question was settled",
    "thread.finished": "The agent is done",
    "thread.failed": "The agent could not go on",
    "thread.cancelled": "Cancelled",
    "notice": "A message from Parley",
}
_FIRST_BY_ADDRESS: Final = 1_000
"""Copies that the gateway itself makes of a delivery are numbered from zero."""
_BY_ADDRESS: Final = 499_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """All of a mail but its words: the same for each who gets it."""

    delivery: str
    message_id: str
    subject: str
    in_reply_to: str
    references: tuple[str, ...]
    to: Address
    cc: tuple[Address, ...]
    reply_to: str

    @property
    def people(self) -> tuple[Address, ...]:
        """Everybody who gets it, the one that it is for first."""
        return (self.to, *self.cc)

    def alone(self, one: Address) -> Heading:
        """Show nobody else to somebody: their reply to all would quote a link that is theirs."""
        return replace(self, to=one, cc=())


def heading(
    message: Outgoing,
    options: EmailOptions,
    *,
    to: Address,
    before: Conversation | None,
    is_shared: bool,
) -> Heading:
    """Put a message into its conversation; shared, its people stay in it."""
    delivery, so_far = message.id, before or Conversation()
    domain = options.address.rpartition("@")[2]
    message_id = mint_message_id(delivery, domain, options.secret_key)
    earlier = tuple(one for one in so_far.references if one != message_id)
    known = {one.email.lower(): one for one in so_far.participants}
    others = [one for key, one in known.items() if key != to.email.lower() and is_writable(one)]
    question = message.question.id if message.question else ""
    named = [one for one in (question, message.thread) if one]
    return Heading(
        delivery=delivery,
        message_id=message_id,
        subject=_subject(message, so_far),
        in_reply_to=earlier[-1] if earlier else "",
        references=joined((*earlier, message_id)),
        to=known.get(to.email.lower(), to),
        cc=tuple(one for one in others if is_shared and not is_ours(one.email, options.address)),
        reply_to=signed_address(options.address, named, "reply", options.secret_key),
    )


def letter(head: Heading, blocks: Sequence[Block], options: EmailOptions, at: datetime) -> Letter:
    """Give a heading its words."""
    return Letter(
        message_id=head.message_id,
        sender=Address(email=options.address, name=options.name),
        to=(head.to,),
        cc=head.cc,
        reply_to=head.reply_to,
        subject=head.subject,
        in_reply_to=head.in_reply_to,
        references=head.references,
        automatic="auto-replied" if head.in_reply_to else "auto-generated",
        text=render_text(blocks),
        html=render_html(blocks),
        at=at,
    )


def return_path(head: Heading, email: str, options: EmailOptions) -> str:
    """Give where a bounce goes: it names the delivery.

    One to somebody in Cc names a copy that the outbox doesn't know: that they can't be reached is
    no reason to ask somebody else.
    """
    is_first = email.lower() == head.to.email.lower()
    named = head.delivery if is_first else by_address(head.delivery, email)
    return signed_address(options.address, [named], "bounce", options.secret_key)


def by_address(delivery: str, email: str) -> str:
    """Name the copy of a delivery that is for one address."""
    digest = hashlib.sha256(email.lower().encode()).digest()
    return f"{delivery}+{_FIRST_BY_ADDRESS + int.from_bytes(digest[:4], 'big') % _BY_ADDRESS}"


def _subject(message: Outgoing, so_far: Conversation) -> str:
    if so_far.references:
        return f"Re: {topic(so_far.subject)}"
    card = message.question
    lines = (_MARKS.sub("", one_line(line)) for line in (card.prompt if card else "").splitlines())
    first = next(filter(None, lines), "")
    if not first:
        return _SUBJECTS[message.kind]
    return first if len(first) <= _LONGEST_SUBJECT else f"{first[:_LONGEST_SUBJECT].rstrip()}…"
