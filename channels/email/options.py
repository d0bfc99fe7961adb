"""What the email channel needs to know; the environment and `parley.toml` say it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """How to get access tokens for XOAUTH2: they live for an hour, the refresh token for long."""

    token_url: str
    client_id: str
    client_secret: str
    refresh_token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailOptions:
    """One mailbox of ours: how to send from it, and by which ways mail comes in."""

    address: str
    """Ours, without a tag: `agent@example.com`."""
    name: str = "Parley"
    """What stands beside the address in From."""
    smtp_url: str = ""
    """`smtp://USER:PASSWORD@host:587` (STARTTLS), `smtps://…:465`, `smtp+plain://…` without TLS."""
    imap_url: str = ""
    """`imaps://USER:PASSWORD@host/INBOX`, `imap://…` (STARTTLS), `imap+plain://…`."""
    listen: str = ""
    """`smtp://host:port` or `lmtp://host:port`: our own door for mail."""
    authserv_id: str = ""
    verify_dkim: bool = False
    oauth: OAuth | None = None
    """With it, logging in to SMTP and IMAP is by XOAUTH2, and the URLs hold no password."""
    mailgun_key: str = ""
    """The signing key of Mailgun's webhooks."""
    inbound_secret: str = ""
    """What Postmark and SendGrid must bring: as `?secret=…` or as a basic-auth password."""
    sns_topics: tuple[str, ...] = ()
    """Topics of Amazon SNS that may bring mail from SES."""
    senders: tuple[str, ...] = ()
    """Who may begin threads: addresses, `@domains`, `people`; empty is anybody."""
    mails_per_hour: int = 20
    """For each thread: what is left of a loop is slowed to this."""
    threads_per_hour: int = 100
    """For each sender; what they write beyond that, to begin another, is put aside."""
    public_url: str = ""
    """Where links in mail lead to."""
    secret_key: bytes = b""
