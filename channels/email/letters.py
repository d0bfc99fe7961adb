"""A mail of ours as bytes: headers that nobody can add to, and both forms of its text. Pure.

Everything that came from outside (subjects, names, addresses, ids) is cleaned here again, whatever
was done to it before: the standard library decodes encoded words on the way out, and a line break
that was hidden in one would become a header.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.headerregistry import Address as HeaderAddress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Final, Literal

from channels.channel import NoSuchAddress
from channels.email.encoded_words import one_line
from channels.email.mail import Address
from channels.email.subjects import clean_subject

_POLICY: Final = SMTP.clone(max_line_length=998, cte_type="7bit")
"""With 78 columns long ids are mangled; with 8 bit some servers refuse."""
_ID: Final = re.compile(r"<[!-;=?-~]{1,248}>")
_LOCAL: Final = re.compile(
    r"(?=.{1,64}$)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
)
_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_LONGEST_DOMAIN: Final = 253
_LONGEST_SUBJECT: Final = 200
_LONGEST_NAME: Final = 80
_NO_AUTOMATION: Final = "DR, RN, NRN, OOF, AutoReply"
"""What Exchange should not send back; not `All`, because we want its non-delivery reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """What a mail says to whom."""

    message_id: str
    sender: Address
    to: tuple[Address, ...]
    cc: tuple[Address, ...] = ()
    reply_to: str = ""
    subject: str
    in_reply_to: str = ""
    references: tuple[str, ...] = ()
    automatic: Literal["auto-replied", "auto-generated"]
    """RFC 3834: an answer to somebody's mail, or begun by us. Programs leave both alone."""
    text: str
    html: str
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


def render_letter(letter: Letter) -> bytes:
    """Write a mail as it goes over the wire; raises NoSuchAddress for one that can't be written."""
    mail = EmailMessage(policy=_POLICY)
    mail["From"] = _mailbox(letter.sender)
    mail["To"] = [_mailbox(one) for one in letter.to]
    if letter.cc:
        mail["Cc"] = [_mailbox(one) for one in letter.cc]
    if letter.reply_to:
        mail["Reply-To"] = _mailbox(Address(email=letter.reply_to, name=letter.sender.name))
    mail["Subject"] = clean_subject(letter.subject)[:_LONGEST_SUBJECT].strip() or "(no subject)"
    mail["Date"] = format_datetime(letter.at)
    mail["Message-ID"] = letter.message_id
    if _is_id(letter.in_reply_to):
        mail["In-Reply-To"] = letter.in_reply_to
    references = [one for one in (*letter.references, letter.message_id) if _is_id(one)]
    mail["References"] = " ".join(dict.fromkeys(references))
    mail["Auto-Submitted"] = letter.automatic
    mail["X-Auto-Response-Suppress"] = _NO_AUTOMATION
    mail.set_content(letter.text)
    mail.add_alternative(letter.html, subtype="html")
    return mail.as_bytes()


def wire_address(email: str) -> str:
    """Give an address as the wire takes it, or raise NoSuchAddress.

    A domain in another alphabet has a spelling in ASCII; what stands before the at sign has none.
    """
    local, _, domain = email.strip().rpartition("@")
    try:
        ascii_domain = domain.encode("idna").decode()
    except UnicodeError as exc:
        raise NoSuchAddress("this is no address of a mailbox") from exc
    labels = ascii_domain.split(".")
    if (
        not _LOCAL.fullmatch(local)
        or not all(map(_LABEL.fullmatch, labels))
        or len(ascii_domain) > _LONGEST_DOMAIN
    ):
        raise NoSuchAddress("this is no address of a mailbox")
    return f"{local}@{ascii_domain}"


def is_writable(address: Address) -> bool:
    """Tell whether an address can stand in a mail of ours."""
    try:
        _mailbox(address)
    except NoSuchAddress:
        return False
    return True


def _mailbox(address: Address) -> HeaderAddress:
    name = one_line(address.name).replace('"', "").replace("\\", "")[:_LONGEST_NAME].strip()
    local, _, domain = wire_address(address.email).rpartition("@")
    return HeaderAddress(display_name=name, username=local, domain=domain)


def _is_id(text: str) -> bool:
    return bool(_ID.fullmatch(text)) and "=?" not in text
