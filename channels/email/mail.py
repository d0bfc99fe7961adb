"""What is known of a mail once it was read: values only.

A child process makes them out of what strangers send, so they cross a pipe: data, no behaviour, and
decoded by type on our side.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["human", "auto", "bounce", "rejected"]
Method = Literal["dmarc", "dkim"]
Purpose = Literal["reply", "bounce"]
Action = Literal["failed", "delayed", "delivered", "relayed", "expanded"]


class _Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value on the wire."""


class Envelope(_Value, frozen=True):
    """What the transport said, where there was one: the return path may be empty."""

    sender: str | None = None
    recipients: tuple[str, ...] = ()
    is_direct: bool = False
    """No server whose word is taken has looked at it: it came to our own door from the internet, or
    through a provider who passes on what the sender wrote."""


class Address(_Value, frozen=True):
    """Somebody's address, lower case in the domain, with the name that was given."""

    email: str
    name: str = ""

    @property
    def domain(self) -> str:
        """What stands behind the at sign."""
        return self.email.rpartition("@")[2]


class Authentication(_Value, frozen=True):
    """Whether the From is who it says it is, and who says so."""

    passed: bool = False
    failed: bool = False
    """Our own server says that it is forged: not the same as having no proof."""
    method: Method | None = None
    domain: str = ""
    """The domain that vouches: aligned with that of the From."""
    by: str = ""
    """The server whose word this is, or `parley` where we checked the signature ourselves."""
    reason: str = ""
    """Why not, for people who look for it."""


class Token(_Value, frozen=True):
    """A token of ours, in an address that the mail was sent to, with a good signature."""

    purpose: Purpose
    reference: str
    """What it names: a question, a thread or a delivery."""
    text: str


class Attachment(_Value, frozen=True):
    """A file that came along."""

    name: str
    type: str
    size: int
    content: bytes | None = None
    """Nothing where it, or all of them together, are larger than the limit."""
    inline: bool = False


class Bounce(_Value, frozen=True):
    """What a report says of a mail of ours."""

    action: Action = "failed"
    status: str = ""
    """Like 5.1.1 (RFC 3463)."""
    recipient: str = ""
    diagnostic: str = ""
    original_id: str = ""
    """The Message-ID of the mail that bounced; only half of real reports have it."""
    delivery: str = ""
    """The delivery, by the signed return path or by our own Message-ID."""

    @property
    def is_failure(self) -> bool:
        """Delayed mail may still arrive."""
        return self.action == "failed"


class Found(_Value, frozen=True):
    """What a mail of some kind is known by."""

    kind: Kind
    reason: str


class ReadMail(_Value, frozen=True):
    """A mail as read."""

    kind: Kind
    reason: str
    """Why it is of this kind, in a few words."""
    sender: Address | None = None
    """The one From; nothing if there is not exactly one."""
    return_path: str | None = None
    recipients: tuple[Address, ...] = ()
    """All it was sent to, by header or envelope: To, Cc, Delivered-To, X-Original-To and others."""
    to: tuple[Address, ...] = ()
    cc: tuple[Address, ...] = ()
    reply_to: tuple[Address, ...] = ()
    subject: str = ""
    topic: str = ""
    """The subject without what programs put before it."""
    message_id: str = ""
    in_reply_to: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    date: str = ""
    tokens: tuple[Token, ...] = ()
    delivery: str = ""
    """The delivery that is answered, by an id of ours in In-Reply-To or References."""
    is_ours: bool = False
    """We sent it ourselves."""
    authentication: Authentication = Authentication()
    reply: str = ""
    """What the person wrote, with the quotes that they answer one by one."""
    words: str = ""
    """Only their own lines."""
    is_truncated: bool = False
    """The body was longer than what is looked at."""
    attachments: tuple[Attachment, ...] = ()
    bounce: Bounce | None = None
    defects: tuple[str, ...] = ()
    digest: str = ""
    """The SHA-256 of the raw mail."""


class Limits(_Value, frozen=True):
    """What a mail may have; one that has more is put aside unread."""

    bytes: int = 10_000_000
    header_bytes: int = 64_000
    boundaries: int = 100
    depth: int = 20
    recipients: int = 100
    attachment_bytes: int = 10_000_000


class ReadingOptions(_Value, frozen=True):
    """What reading depends on."""

    address: str = ""
    """Ours: `agent@example.com`. Without it, a well signed token in any address counts."""
    secret: bytes = b""
    """Signs tokens; never given to the child process."""
    authserv_id: str = ""
    """How our mail server calls itself in Authentication-Results; without it none is believed."""
    verify_dkim: bool = False
    """Check signatures ourselves, where no server of ours does."""
    limits: Limits = Limits()
