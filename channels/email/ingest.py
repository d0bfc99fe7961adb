"""Ingest: what becomes of a mail, by whichever way it came. It is durable when `ingest` returns.

What raises here must not be acknowledged: then the other side sends it again, and a second copy has
no second effect, because the intake knows it by its Message-ID. Whatever a mail is, it ends in one
of a few ways, and nothing that a person wrote is lost: what is not taken is put aside with the
reason, and `parley email aside` lists it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol
from weakref import WeakValueDictionary

import msgspec

from channels.email.archive import Archive
from channels.email.beginnings import Beginnings
from channels.email.conversations import Conversations
from channels.email.explanations import GONE, NO_TEXT, NOT_FOR_YOU, late
from channels.email.files import attachments, storable
from channels.email.finding import Finder, Where
from channels.email.mail import Address, Envelope, ReadMail
from channels.email.notices import Notes, Notices
from channels.email.options import EmailOptions
from channels.email.reading import rejected
from channels.email.replays import weighed, written_at
from channels.email.senders import actor, may_begin, others
from channels.email.subjects import is_forward
from channels.email.tokens import is_ours
from channels.inbound import Message, Undelivered
from channels.intake import Gatehouse, Received
from channels.people import Actor

_log = logging.getLogger("parley.email")

Effect = Literal["taken", "copy", "refused", "empty", "noted", "aside", "ignored"]

_ONLY_FILES: Final = "(no text, only the files)"
_OLDEST_SECONDS: Final = 30 * 24 * 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What became of a mail. It is durable by now."""

    effect: Effect
    """`empty`: nothing new in it. `noted`: a report that changes nothing. `aside`: kept unread."""
    digest: str
    thread: str = ""
    reason: str = ""


class Reader(Protocol):
    """Reads mail, such as `pool.MailReader`."""

    async def read(self, raw: bytes, envelope: Envelope | None = None) -> ReadMail:
        """Read a mail; raises `ReaderUnavailable` where none can be read now."""
        ...


class Ingest:
    """The one way behind all transports."""

    def __init__(
        self,
        options: EmailOptions,
        house: Gatehouse,
        reader: Reader,
        conversations: Conversations,
        notes: Notes,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take a clock that gives seconds since 1970."""
        self._options = options
        self._intake = house.intake
        self._reader = reader
        self._conversations = conversations
        self._finder = Finder(house.desk, conversations)
        self._clock = clock
        self._beginnings = Beginnings(options.threads_per_hour, clock)
        self.archive = Archive(house.memory, clock=clock)
        self.notices = Notices(notes, house.memory, options.address, clock=clock)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def ingest(self, raw: bytes, envelope: Envelope | None = None) -> Ingested:
        """Take a mail, or raise what says that it could not be taken now."""
        mail = await self._reader.read(raw, envelope)
        # Copies come at the same time by two ways; one after the other, people hear of it once.
        async with self._locks.setdefault(_key(mail), asyncio.Lock()):
            match mail.kind:
                case "human":
                    return await self._human(raw, mail)
                case "bounce":
                    return await self._bounce(raw, mail)
                case "auto":
                    return await self._automatic(raw, mail)
                case "rejected":
                    return await self._aside(raw, mail)

    async def put_aside(self, raw: bytes, reason: str, digest: str) -> Ingested:
        """Put a mail aside that could not even be looked at."""
        return await self._aside(raw, rejected(reason, digest))

    async def close(self) -> None:
        """Let go, after what is under way."""
        await self.notices.errands.close()

    # What no person wrote

    async def _automatic(self, raw: bytes, mail: ReadMail) -> Ingested:
        """Keep it from people and agents; we never answer it either."""
        if mail.is_ours or self._is_own(mail):
            _log.info("mail of our own ignored", extra={"digest": mail.digest})
            return Ingested(effect="ignored", digest=mail.digest, reason=mail.reason)
        return await self._aside(raw, mail)

    async def _bounce(self, raw: bytes, mail: ReadMail) -> Ingested:
        bounce = mail.bounce
        if bounce is not None and not bounce.is_failure:  # delayed: it may still arrive
            _log.info("delivery report", extra={"digest": mail.digest, "effect": bounce.action})
            return Ingested(effect="noted", digest=mail.digest, reason=mail.reason)
        if bounce is None or not bounce.delivery:
            return await self._aside(raw, mail)
        told = " ".join(filter(None, (bounce.status, bounce.diagnostic))) or mail.reason
        came = Undelivered(
            key=f"bounce:{bounce.delivery}",
            place=f"email:{bounce.recipient or 'unknown'}",
            actor=Actor(id="email:mailer-daemon", is_authenticated=False, how="delivery report"),
            delivery=bounce.delivery,
            reason=storable(told),
        )
        received = await self._intake.receive(came)
        _log.info("delivery report", extra={"digest": mail.digest, "effect": received.effect})
        if received.effect == "ignored":
            return await self._aside(raw, mail)
        return Ingested(effect="noted", digest=mail.digest, thread=received.thread)

    async def _aside(self, raw: bytes, mail: ReadMail) -> Ingested:
        await self.archive.put_aside(raw, mail)
        ids = {"digest": mail.digest, "kind": mail.kind, "reason": mail.reason}
        _log.warning("mail put aside", extra=ids)
        return Ingested(effect="aside", digest=mail.digest, reason=mail.reason)

    # What a person wrote

    async def _human(self, raw: bytes, mail: ReadMail) -> Ingested:
        sender = mail.sender
        if sender is None or self._is_own(mail):
            return await self._automatic(raw, mail)
        if mail.authentication.failed:
            # Silence: whoever is in From did not write it, and must not hear of it.
            _log.warning("forged mail ignored", extra={"digest": mail.digest})
            forged = f"forged: {mail.authentication.reason}"
            return await self._aside(raw, msgspec.structs.replace(mail, reason=forged))
        where = await self._finder.find(mail, sender)
        ours = self._options.address
        mail = weighed(mail, ours, is_reply=where.is_known, asked=where.question)
        if not where.is_known and not may_begin(mail, sender, self._options):
            return await self._turn_away(raw, mail)
        if not where.is_known and self._beginnings.are_enough(sender.email):
            # In silence: it may be a program that answers us, and would answer that, too.
            many = "its sender has begun too many conversations within the hour"
            return await self._aside(raw, msgspec.structs.replace(mail, reason=many))
        message = self._message(mail, sender, where, len(raw))
        if message is None:
            return await self._empty(raw, mail, where)
        received = await self._take(raw, mail, where, message)
        if received.is_new:
            self._beginnings.count(sender.email)
        if received.effect in {"refused", "ignored"}:
            told = msgspec.structs.replace(mail, reason=received.words or "nothing to reply to")
            await self.archive.list_aside(told, len(raw))
        self._follow_up(mail, where, received)
        return _ended(mail, received)

    def _message(self, mail: ReadMail, sender: Address, where: Where, size: int) -> Message | None:
        """Say it in the gateway's words; nothing if there is nothing new in it."""
        files = attachments(mail, size)
        said = mail.reply.strip()
        if not where.is_known and mail.topic:
            said = f"Subject: {mail.topic}\n\n{said}".strip()
        elif where.is_known and not mail.words.strip() and not is_forward(mail.subject):
            said = ""  # nothing but what they quote
        if not said and not files:
            return None
        return Message(
            key=_key(mail),
            place=where.place,
            actor=actor(mail, sender),
            text=storable(said or _ONLY_FILES),
            words=storable(mail.words.strip()) if where.is_known else "",
            attachments=files,
            others=others(mail, self._options.address),
            is_addressed=not where.thread and may_begin(mail, sender, self._options),
            said_at=None if where.question else self._said_at(mail),
            thread=where.thread,
            question=where.question.id if where.question else "",
            is_private=True,
        )

    async def _take(self, raw: bytes, mail: ReadMail, where: Where, message: Message) -> Received:
        """Keep the mail, and what our next one must fit to; then hand it in.

        Whoever has no part in the conversation enters it only when the gateway has let them in:
        its people get our next mails.
        """
        heard = self._conversations.heard(where.place, _vouched(mail))
        if where.is_member:
            await asyncio.gather(self.archive.keep(raw, mail), heard)
            return await self._intake.receive(message)
        try:
            await self.archive.keep(raw, mail)
            received = await self._intake.receive(message)
            if received.effect in {"taken", "copy"}:
                await heard
        finally:
            heard.close()
        return received

    async def _turn_away(self, raw: bytes, mail: ReadMail) -> Ingested:
        if mail.authentication.passed:
            self.notices.turn_away(mail, NOT_FOR_YOU)
        told = "its sender may not begin a conversation ([email] senders)"
        return await self._aside(raw, msgspec.structs.replace(mail, reason=told))

    async def _empty(self, raw: bytes, mail: ReadMail, where: Where) -> Ingested:
        await self.archive.keep(raw, mail)
        if mail.authentication.passed or where.is_inside:
            self.notices.tell(mail, NO_TEXT)
        return Ingested(effect="empty", digest=mail.digest, reason="there is no new text in it")

    def _follow_up(self, mail: ReadMail, where: Where, received: Received) -> None:
        """Tell people what became of it, where they could not see that otherwise."""
        if received.thread:
            self.notices.errands.run(self.archive.file(received.thread, mail.digest))
        if received.effect == "copy":
            return
        is_proven = mail.authentication.passed
        if received.is_stranger:
            _log.warning("mail of a stranger refused", extra={"digest": mail.digest})
            if is_proven:
                self.notices.turn_away(mail, received.words)
            return
        words = received.words or late(where.question, received)
        if received.effect == "ignored":
            words = GONE
        is_inside = where.is_inside or (where.is_known and received.effect == "taken")
        if words and (is_proven or is_inside):
            self.notices.tell(mail, words)

    def _is_own(self, mail: ReadMail) -> bool:
        """Our own address in From: a provider may have given our mail another Message-ID."""
        return mail.sender is not None and is_ours(mail.sender.email, self._options.address)

    def _said_at(self, mail: ReadMail) -> int:
        """Give when it was written: a "yes" from before a question is about something else.

        Date is the writer's word; one from the future, or that is nonsense, counts as now. It is
        in whole seconds: the benefit of the doubt is theirs.
        """
        now = self._clock()
        written = written_at(mail) or now
        return round((written if now - _OLDEST_SECONDS < written < now else now) * 1000)


def _key(mail: ReadMail) -> str:
    """Name a mail the same for every copy; and nobody can use up somebody else's Message-ID."""
    sender = mail.sender.email.lower() if mail.sender else ""
    return f"{mail.message_id} {sender}" if mail.message_id else mail.digest


def _vouched(mail: ReadMail) -> ReadMail:
    """Leave out whom a mail without proof brings along: a forged one must not bring a listener."""
    return mail if mail.authentication.passed else msgspec.structs.replace(mail, to=(), cc=())


def _ended(mail: ReadMail, received: Received) -> Ingested:
    effect: Effect = "ignored" if received.effect == "waiting" else received.effect
    return Ingested(
        effect=effect, digest=mail.digest, thread=received.thread, reason=received.words
    )
