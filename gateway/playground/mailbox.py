"""Olga's mailbox as the page shows it: conversations, what came and what she wrote. Reads only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import EmailMessage

from markupsafe import Markup, escape

from channels.email.double import Errand, Letter, PostOffice
from gateway.playground.premises import OLGA

_LINK = re.compile(r"https?://[^\s<>\"']+")
_QUOTE = re.compile(r"\n+On [^\n]+ wrote:\n.*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail, in or out."""

    sender: str
    subject: str
    text: str
    number: int | None = None
    """Of a letter that can be replied to."""
    status: str = ""
    """Of a mail on its way."""

    @property
    def body(self) -> Markup:
        """Give the text with its links; all else in it is text."""
        pieces, last = Markup(), 0
        for found in _LINK.finditer(self.text):
            pieces += escape(self.text[last : found.start()])
            pieces += _link(found[0])
            last = found.end()
        return pieces + escape(self.text[last:])


def _link(address: str) -> Markup:
    shown = address if len(address) <= 48 else f"{address[:47]}…"  # noqa: PLR2004 - half a line
    return Markup('<a href="{}" target="_blank" rel="noreferrer">{}</a>').format(address, shown)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Mails that belong together, oldest first."""

    id: str
    mails: list[Mail]

    @property
    def subject(self) -> str:
        """Give what it is about."""
        return self.mails[0].subject

    @property
    def replied_to(self) -> int | None:
        """Give the letter that a reply would answer: the last that came."""
        return next((one.number for one in reversed(self.mails) if one.number is not None), None)


def conversations(office: PostOffice) -> list[Conversation]:
    """Give them all, the one with the newest letter first."""
    found: dict[str, list[tuple[float, Mail]]] = {}
    for number, letter in enumerate(office.letters(OLGA)):
        found.setdefault(_root(letter.message), []).append((letter.arrived, _came(number, letter)))
    for errand in office.errands:
        found.setdefault(_root(errand.mail), []).append((errand.begun, _went(errand)))
    ordered = sorted(found.items(), key=lambda one: max(when for when, _ in one[1]), reverse=True)
    return [
        Conversation(root, [mail for _, mail in sorted(mails, key=lambda one: one[0])])
        for root, mails in ordered
    ]


def _root(mail: EmailMessage) -> str:
    """Name the conversation: the first mail that this one refers to."""
    return (str(mail["References"] or "").split() or [str(mail["Message-ID"])])[0]


def _came(number: int, letter: Letter) -> Mail:
    return Mail(
        sender=letter.header("From"),
        subject=letter.subject,
        text=letter.text.strip(),
        number=number,
    )


def _went(errand: Errand) -> Mail:
    body = errand.mail.get_body(("plain",))
    text = "" if body is None else str(body.get_content())
    status = {"under way": f"on its way, try {errand.tries}", "taken": "", "given up": "given up"}
    return Mail(
        sender="you (Olga)",
        subject=str(errand.mail["Subject"]),
        text=_QUOTE.sub("", text).strip(),
        status=status[errand.status],
    )
