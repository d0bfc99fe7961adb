"""What of a mail is ours: tokens in addresses, ids that we minted, deliveries that bounced.

Needs the secret, so it runs on our side of the pipe, on what the child has read.
"""

from __future__ import annotations

import msgspec

from channels.email.mail import ReadingOptions, ReadMail, Token
from channels.email.tokens import delivery_of, tag_of, verify_token


def recognise(mail: ReadMail, options: ReadingOptions) -> ReadMail:
    """Add what only we can know."""
    if mail.kind == "rejected" and not mail.recipients:
        return mail
    tokens = _tokens(mail, options)
    answered = [*mail.in_reply_to, *reversed(mail.references)]
    is_ours = bool(delivery_of(mail.message_id, options.secret))
    changed = {
        "tokens": tokens,
        "delivery": next(filter(None, (delivery_of(one, options.secret) for one in answered)), ""),
        "is_ours": is_ours,
        "bounce": _bounced(mail, tokens, options),
    }
    if is_ours and mail.kind != "bounce":
        changed |= {"kind": "auto", "reason": "we sent it ourselves"}
    return msgspec.structs.replace(mail, **changed)


def _tokens(mail: ReadMail, options: ReadingOptions) -> tuple[Token, ...]:
    tags = dict.fromkeys(tag_of(address, options.address) for address in mail.recipients)
    found = (verify_token(tag, options.secret) for tag in tags if tag)
    return tuple(token for token in found if token)


def _bounced(mail: ReadMail, tokens: tuple[Token, ...], options: ReadingOptions) -> object:
    """The signed return path names the delivery; where it is lost, our id in the report does."""
    if mail.bounce is None:
        return None
    by_path = next((token.reference for token in tokens if token.purpose == "bounce"), "")
    by_id = delivery_of(mail.bounce.original_id, options.secret)
    return msgspec.structs.replace(mail.bounce, delivery=by_path or by_id)
