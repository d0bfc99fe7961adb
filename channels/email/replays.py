"""Replays: somebody's mail, good signature and all, that another has sent on to us. Pure.

A signature says who wrote a mail, not to whom it was sent: whoever got a "yes" of Ada's can hand it
in under any address of ours. So a mail that does not name us in To or Cc, or is older than the
question, is no proof of what she wants here. One that names us has come to us itself, and its copy
has no effect.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from channels.email.mail import Authentication, ReadMail
from channels.email.tokens import is_ours
from channels.outgoing import QuestionCard

_WRONG_CLOCK_SECONDS: Final = 900.0
"""Not everybody's clock is right."""


def weighed(mail: ReadMail, ours: str, *, is_reply: bool, asked: QuestionCard | None) -> ReadMail:
    """Take away what a mail only seems to prove."""
    is_named = any(is_ours(one.email, ours) for one in (*mail.to, *mail.cc))
    if is_reply and not is_named:
        return _unproven(mail, "it does not name us in To or Cc: somebody may have sent it on")
    if asked is not None and _is_older(mail, asked):
        return _unproven(mail, "it was written before the question: somebody may have sent it on")
    if not is_named:  # by a blind copy or an alias: whom it names has no part in what we say
        return msgspec.structs.replace(mail, to=(), cc=())
    return mail


def written_at(mail: ReadMail) -> float | None:
    """Give the Date in seconds since 1970, to the end of its second; nothing if it is nonsense."""
    try:
        return parsedate_to_datetime(mail.date).timestamp() + 0.999
    except (ValueError, TypeError, OverflowError):
        return None


def _is_older(mail: ReadMail, asked: QuestionCard) -> bool:
    written = written_at(mail)
    return written is not None and written + _WRONG_CLOCK_SECONDS < asked.asked_at / 1000


def _unproven(mail: ReadMail, reason: str) -> ReadMail:
    if not mail.authentication.passed:
        return mail
    doubted = Authentication(reason=reason, by=mail.authentication.by)
    return msgspec.structs.replace(mail, authentication=doubted)
