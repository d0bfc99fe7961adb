"""Subjects: decoded, on one line, and without what programs put before them."""

from __future__ import annotations

import re
from typing import Final

from channels.email.encoded_words import one_line
from channels.email.trimming.vocabulary import FORWARD_PREFIXES, REPLY_PREFIXES

_LONGEST: Final = 500
_MOST_PREFIXES: Final = 20
_PREFIX: Final = re.compile(
    r"\s{0,20}([^\s:：\[\]()]{1,20})\s{0,3}(?:[\[(]\d{1,3}[\])])?\s{0,3}[:：]\s{0,20}"
)


def clean_subject(value: str) -> str:
    """Give a subject that can stand in a header of ours: no line break can hide in it."""
    return one_line(value)[:_LONGEST]


def topic(subject: str) -> str:
    """Take off `Re:`, `AW:`, `Fwd:` and their likes, however many."""
    place = 0
    for _ in range(_MOST_PREFIXES):
        found = _PREFIX.match(subject, place)
        if not found or found[1].lower() not in {*REPLY_PREFIXES, *FORWARD_PREFIXES}:
            break
        place = found.end()
    return subject[place:].strip()


def is_forward(subject: str) -> bool:
    """Tell whether a mail is passed on, and not an answer to such a mail."""
    found = _PREFIX.match(subject)
    return bool(found) and found is not None and found[1].lower() in FORWARD_PREFIXES
