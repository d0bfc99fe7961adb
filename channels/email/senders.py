"""Who wrote, as the gateway knows people; and who may begin a conversation. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from channels.email.mail import Address, ReadMail
from channels.email.options import EmailOptions
from channels.email.tokens import is_ours
from channels.people import Actor

_MOST_OTHERS = 50


def actor(mail: ReadMail, sender: Address) -> Actor:
    """Name the writer; their address counts as theirs only where a server vouches for it."""
    found = mail.authentication
    proof = f"{found.method} {found.domain} by {found.by}" if found.passed else "unproven mail"
    return Actor(
        id=f"email:{sender.email.lower()}",
        name=sender.name,
        email=sender.email.lower() if found.passed else "",
        is_authenticated=found.passed,
        how=proof,
    )


def others(mail: ReadMail, ours: str) -> tuple[str, ...]:
    """Give whom the writer brings along: a forged mail must not bring in a listener."""
    if not mail.authentication.passed:
        return ()
    sender = mail.sender.email.lower() if mail.sender else ""
    found = dict.fromkeys(one.email.lower() for one in (*mail.to, *mail.cc))
    found.pop(sender, None)
    return tuple(f"email:{one}" for one in found if not is_ours(one, ours))[:_MOST_OTHERS]


def may_begin(mail: ReadMail, sender: Address, options: EmailOptions) -> bool:
    """Tell whether somebody may begin a conversation.

    Where only some may, and there is a way to prove who one is, then the proof is needed: anybody
    can write any address into From.
    """
    if not options.senders:
        return True
    has_proof = bool(options.authserv_id or options.verify_dkim)
    return _is_listed(sender, options.senders) and (mail.authentication.passed or not has_proof)


def _is_listed(sender: Address, senders: Sequence[str]) -> bool:
    """Compare addresses and `@domains`, without letter case; other words name nobody."""
    email = sender.email.lower()
    known = {one.strip().lower() for one in senders}
    return email in known or f"@{email.rpartition('@')[2]}" in known
