"""What goes out by mail: each message to its people, once, in its conversation.

`Postman` is what the channel's `send` and `settle` are. Each recipient has an SMTP transaction of
their own, with the same headers: so each has their own link, and a bounce tells whose mailbox it
was. What the server has taken is written down at once, so that a second try sends only the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import make_msgid
from typing import Final, Literal, Protocol

from agent_core.json_values import JsonObject
from channels.channel import GiveUp, NoSuchAddress, Sent
from channels.email.blocks import Block, Line, Link, Small, Words
from channels.email.compose import Heading, by_address, heading, letter, return_path
from channels.email.conversations import Conversations
from channels.email.html import render_html
from channels.email.letters import Letter, render_letter, wire_address
from channels.email.links import link_actor, link_to
from channels.email.mail import Address
from channels.email.options import EmailOptions
from channels.email.places import Place, parse_place, root_of
from channels.email.plain_text import render_text
from channels.email.records import Records
from channels.email.wording import wording
from channels.intake import Desk, Memory
from channels.outgoing import Outgoing

_log = logging.getLogger("parley.email")
_ASKS: Final = frozenset({"question.asked", "question.reminded", "question.escalated"})


class Smtp(Protocol):
    """Who takes a mail from us."""

    async def send(self, raw: bytes, *, sender: str, recipient: str) -> None:
        """Hand a mail in; raises TryLater, GiveUp or NoSuchAddress."""
        ...


class Postman:
    """Sends, and settles what was sent."""

    def __init__(
        self,
        options: EmailOptions,
        memory: Memory,
        desk: Desk,
        smtp: Smtp,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._options = options
        self._desk = desk
        self._smtp = smtp
        self._clock = clock
        self._conversations = Conversations(memory, options.address)
        self._records = Records(memory, options.mails_per_hour, clock)

    async def send(self, message: Outgoing) -> Sent:
        """Send it to everybody in the conversation; raises TryLater or GiveUp."""
        mailbox = _mailbox(message.address)
        place, is_new = await self._place(message, mailbox)
        before = await self._conversations.of(str(place))
        head = heading(
            message,
            self._options,
            to=Address(email=mailbox.email),
            before=before,
            is_shared=place.email == mailbox.email,
        )
        is_again = message.attempt > 1
        await self._records.check(message.thread)
        await self._send_all(message, head, str(place), is_again=is_again)
        await self._conversations.sent(
            str(place),
            message.thread,
            subject=head.subject,
            message_id=head.message_id,
            people=head.people,
        )
        return Sent(
            receipt=_receipt(head, str(place)),
            place=str(place) if is_new else "",
        )

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Tell those who were asked how it ended, but for who has answered; each once."""
        card = message.question
        if card is None or card.status == "open":
            return
        sent_to = [str(one) for one in receipt.get("to") or []]
        told = [one for one in sent_to if f"email:{one.lower()}" != card.answered_by.lower()]
        for email in told:
            once = f"{card.id} {email.lower()}"
            if await self._records.is_done("settled", once):
                continue
            await self._records.check(message.thread)
            await self._follow_up(receipt, message, email)
            await self._records.done("settled", once)
            await self._records.count(message.thread)

    async def note(
        self,
        to: Address,
        *,
        subject: str,
        text: str,
        in_reply_to: str = "",
        references: Sequence[str] = (),
        reply_to: str = "",
    ) -> None:
        """Send somebody a few words of ours, once, with no thread behind them."""
        await self._note(
            to,
            [Words(text)],
            subject=subject,
            in_reply_to=in_reply_to,
            references=references,
            reply_to=reply_to,
            automatic="auto-replied",
        )

    async def mail_link(self, email: str, *, subject: str, words: Sequence[str], url: str) -> None:
        """Mail somebody a link that they have asked for, with sentences before and after it."""
        first, *rest = words
        rested: list[Block] = [Small(one) for one in rest]
        blocks = [Line(first), Link("Open this link", url), *rested]
        await self._note(Address(email=email), blocks, subject=subject, automatic="auto-generated")

    async def _note(
        self,
        to: Address,
        blocks: Sequence[Block],
        *,
        subject: str,
        automatic: Literal["auto-replied", "auto-generated"],
        in_reply_to: str = "",
        references: Sequence[str] = (),
        reply_to: str = "",
    ) -> None:
        domain = self._options.address.rpartition("@")[2]
        mail = Letter(
            message_id=make_msgid(domain=domain),
            sender=Address(email=self._options.address, name=self._options.name),
            to=(to,),
            reply_to=reply_to or self._options.address,
            subject=subject,
            in_reply_to=in_reply_to,
            references=tuple(references),
            automatic=automatic,
            text=render_text(blocks),
            html=render_html(blocks),
            at=self._clock(),
        )
        await self._hand_in(mail, to.email, self._options.address)

    # --- one message, several people --------------------------------------------------------------

    async def _send_all(
        self, message: Outgoing, head: Heading, place: str, *, is_again: bool
    ) -> None:
        """Send it to each, with a link of their own for those who may answer."""
        for one in head.people:
            may_answer = await self._may_answer(message, one.email, place)
            if is_again and await self._records.is_done("accepted", f"{head.delivery} {one.email}"):
                continue
            blocks = self._words(message, one.email, may_answer=may_answer)
            shown = head.alone(one) if may_answer and _is_approval(message) else head
            mail = letter(shown, blocks, self._options, self._clock())
            try:
                await self._send_one(head, mail, one.email)
            except GiveUp as exc:
                if one is head.to:
                    raise
                # They are only in Cc: the others must not go without it.
                _log.warning("copy not sent", extra=_ids(message) | {"error": str(exc)})
        await self._records.count(message.thread)

    async def _send_one(self, head: Heading, mail: Letter, email: str) -> None:
        await self._hand_in(mail, email, return_path(head, email, self._options))
        await self._records.done("accepted", f"{head.delivery} {email}")

    async def _hand_in(self, mail: Letter, email: str, sender: str) -> None:
        raw = render_letter(mail)
        await self._smtp.send(raw, sender=wire_address(sender), recipient=wire_address(email))

    def _words(self, message: Outgoing, email: str, *, may_answer: bool) -> list[Block]:
        card, link = message.question, ""
        if card is not None and may_answer:
            now = round(self._clock().timestamp() * 1000)
            options = self._options
            link = link_to(
                card, email, public_url=options.public_url, now=now, secret=options.secret_key
            )
        return wording(message, link=link, may_answer=may_answer)

    async def _may_answer(self, message: Outgoing, email: str, place: str) -> bool:
        if message.question is None or message.kind not in _ASKS:
            return False
        return await self._desk.may_answer(message.question.id, link_actor(email), place)

    # --- where ------------------------------------------------------------------------------------

    async def _place(self, message: Outgoing, mailbox: Place) -> tuple[Place, bool]:
        """Give the conversation, and whether it is ours to open."""
        if mailbox.root:
            return mailbox, False
        known = parse_place(await self._conversations.place_with(message.thread, mailbox.email))
        if known is not None:
            return known, known.email == mailbox.email
        first = heading(
            message, self._options, to=Address(email=mailbox.email), before=None, is_shared=False
        )
        return replace(mailbox, root=root_of(first.message_id)), True

    async def _follow_up(self, receipt: JsonObject, message: Outgoing, email: str) -> None:
        place = str(receipt.get("place") or "")
        before = await self._conversations.of(place)
        one = replace(message, id=by_address(message.id, email), address=f"email:{email}")
        head = heading(one, self._options, to=Address(email=email), before=before, is_shared=False)
        own = str(receipt.get("message_id") or "")
        head = replace(head, in_reply_to=own or head.in_reply_to)
        mail = letter(head, wording(one), self._options, self._clock())
        try:
            await self._send_one(head, mail, email)
        except GiveUp as exc:
            _log.warning("follow-up not sent", extra=_ids(message) | {"error": str(exc)})


def _mailbox(address: str) -> Place:
    place = parse_place(address)
    if place is None:
        raise NoSuchAddress("this is no address of a mailbox")
    return place


def _receipt(head: Heading, place: str) -> JsonObject:
    return {
        "id": head.delivery,
        "message_id": head.message_id,
        "place": place,
        "to": [one.email for one in head.people],
    }


def _ids(message: Outgoing) -> dict[str, str]:
    return {"thread_id": message.thread, "delivery_id": message.id}


def _is_approval(message: Outgoing) -> bool:
    return message.question is not None and message.question.kind == "approval"
