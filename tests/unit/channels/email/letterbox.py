"""A letterbox for the tests: an ingest whose house and notes are recorded."""

from __future__ import annotations

from dataclasses import dataclass, field

from channels.email.conversations import Conversations
from channels.email.ingest import Ingest, Ingested
from channels.email.mail import Address, Envelope, ReadingOptions, ReadMail
from channels.email.options import EmailOptions
from channels.email.reading import read_mail
from channels.intake import Gatehouse
from channels.recording import Recording
from tests.unit.channels.email.letters import OPTIONS, OURS, SECRET, letter

ADA = "ada@example.org"
PROVEN = "Authentication-Results: mx.example.com; dmarc=pass header.from=example.org"
FORGED = "Authentication-Results: mx.example.com; dmarc=fail header.from=example.org"
NOW = 1_790_000_000.0


class InProcess:
    """Reads mail here: the tests write it themselves."""

    def __init__(self, options: ReadingOptions = OPTIONS) -> None:
        """Read as these say."""
        self.options = options

    async def read(self, raw: bytes, envelope: Envelope | None = None) -> ReadMail:
        """Read a mail."""
        return read_mail(raw, envelope, self.options)


@dataclass(frozen=True, slots=True)
class Note:
    """A note that was sent."""

    to: str
    subject: str
    text: str
    in_reply_to: str
    reply_to: str


@dataclass(slots=True)
class NotePad:
    """Writes down what would be sent, or fails."""

    sent: list[Note] = field(default_factory=list)
    error: Exception | None = None

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
        """Write it down."""
        assert in_reply_to == (references[-1] if references else "")
        if self.error is not None:
            raise self.error
        self.sent.append(Note(to.email, subject, text, in_reply_to, reply_to))


class Letterbox:
    """An ingest, and what came of it."""

    def __init__(
        self,
        *,
        senders: tuple[str, ...] = (),
        recording: Recording | None = None,
        house: Gatehouse | None = None,
    ) -> None:
        """Open it."""
        self.recording = recording or Recording()
        self.pad = NotePad()
        self.now = NOW
        options = EmailOptions(
            address=OURS, secret_key=SECRET, authserv_id="mx.example.com", senders=senders
        )
        house = house or self.recording.house()
        self.conversations = Conversations(house.memory, ours=OURS)
        self.ingest = Ingest(
            options, house, InProcess(), self.conversations, self.pad, clock=lambda: self.now
        )

    async def drop(self, raw: bytes, envelope: Envelope | None = None) -> Ingested:
        """Drop a mail in, and wait until everybody has heard of it."""
        done = await self.ingest.ingest(raw, envelope)
        await self.ingest.notices.errands.rested()
        return done

    async def asides(self) -> list[str]:
        """Give the reasons of what was put aside."""
        return [one.reason for one in await self.ingest.archive.aside()]


def mail(
    *headers: str, name: str = "m1", body: str = "Hello there.\n", proven: bool = True
) -> bytes:
    """Write a mail of Ada's with a Message-ID, with proof unless told otherwise."""
    proof = (PROVEN,) if proven else ()
    return letter(*proof, f"Message-ID: <{name}@example.org>", *headers, body=body)
