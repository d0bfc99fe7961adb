"""Mail as people and servers write it: a letter that came, a reply to it, a report of failure."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import format_datetime, localtime, make_msgid


@dataclass(frozen=True)
class Letter:
    """A mail as it came to somebody."""

    raw: bytes
    sender: str
    """Of the envelope: where reports of failure go."""
    recipient: str
    arrived: float = field(default_factory=time.time, compare=False)

    @property
    def message(self) -> EmailMessage:
        """Read it as a mail program does."""
        return BytesParser(policy=policy.default).parsebytes(self.raw)

    @property
    def text(self) -> str:
        """Give the plain text."""
        part = self.message.get_body(("plain",))
        return "" if part is None else str(part.get_content())

    @property
    def html(self) -> str:
        """Give the HTML, if it has any."""
        part = self.message.get_body(("html",))
        return "" if part is None else str(part.get_content())

    def header(self, name: str) -> str:
        """Give a header in one line, or nothing."""
        return re.sub(r"\s+", " ", str(self.message[name] or ""))

    @property
    def subject(self) -> str:
        """Give the subject."""
        return self.header("Subject")

    @property
    def links(self) -> list[str]:
        """Give where the links for answers lead to, each once."""
        found = re.findall(r"https?://[^\s<>\"']+/a/[\w.-]+\w", self.text)
        return list(dict.fromkeys(found))


def write(
    sender: str,
    to: str,
    text: str,
    *,
    subject: str = "Refund",
    headers: dict[str, str] | None = None,
) -> EmailMessage:
    """Write a mail."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, to, subject
    mail["Message-ID"] = make_msgid(domain="client.example")
    mail["Date"] = format_datetime(localtime())
    for name, value in (headers or {}).items():
        del mail[name]
        mail[name] = value
    mail.set_content(text)
    return mail


def reply(
    letter: Letter, text: str, *, sender: str = "", headers: dict[str, str] | None = None
) -> EmailMessage:
    """Answer a letter as a mail program does: to its Reply-To, in its thread, with it quoted."""
    there = letter.message
    quoted = "\n".join(f"> {line}" for line in letter.text.splitlines())
    references = f"{letter.header('References')} {letter.header('Message-ID')}".strip()
    subject = (
        letter.subject if letter.subject.lower().startswith("re:") else f"Re: {letter.subject}"
    )
    return write(
        sender or letter.recipient,
        str(there["Reply-To"] or there["From"]),
        f"{text}\n\nOn Mon, Nov 16, 2026 at 10:00 AM Parley <agent@example.com> wrote:\n{quoted}\n",
        subject=subject,
        headers={
            "In-Reply-To": letter.header("Message-ID"),
            "References": references,
            **(headers or {}),
        },
    )


def report(letter: Letter, *, action: str = "failed") -> bytes:
    """Write what a server sends back about a letter that it could not deliver (RFC 3464)."""
    status = "5.1.1" if action == "failed" else "4.4.1"
    name = letter.header("Message-ID")
    lines = [
        "From: MAILER-DAEMON@elsewhere.example",
        f"To: {letter.sender}",
        "Subject: Delivery Status Notification",
        f"Message-ID: {make_msgid(domain='elsewhere.example')}",
        "Auto-Submitted: auto-replied",
        "MIME-Version: 1.0",
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
        *("", "--b", "Content-Type: text/plain", "", "Your mail could not be delivered."),
        *("--b", "Content-Type: message/delivery-status", ""),
        *("Reporting-MTA: dns; elsewhere.example", ""),
        *(f"Final-Recipient: rfc822; {letter.recipient}", f"Action: {action}", f"Status: {status}"),
        *("--b", "Content-Type: text/rfc822-headers", "", f"Message-ID: {name}", "", "--b--", ""),
    ]
    return "\r\n".join(lines).encode()
