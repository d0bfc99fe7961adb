"""Attributions: "On Tuesday, Ada <ada@example.com> wrote:", over one line or several.

No grammar of each language: a line is one if it ends as they all do, and carries what they all
carry: a verb of writing, a date, an address. Two of these are enough; which two decides whether a
quote must follow.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from channels.email.trimming.lines import head, is_blank, is_quoted
from channels.email.trimming.vocabulary import OPENINGS, VERBS

_MOST_LINES: Final = 5
_LONGEST: Final = 400

_ADDRESS: Final = re.compile(r"[^\s<>@]{1,128}@[^\s<>@]{1,128}")
_TIME: Final = re.compile(r"(?<!\d)\d{1,2}\s?[:.h]\s?\d{2}(?!\d)")
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_DAY: Final = re.compile(r"(?<!\d)\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4}(?!\d)")
_DATE_AND_DAY: Final = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_VERB: Final = re.compile(
    "|".join(rf"(?<!\w){re.escape(v)}(?!\w)" if v[0].isascii() else re.escape(v) for v in VERBS)
)
_ENDS: Final = (":", "：", "--", "––", "——", ">", *VERBS)
_DASHED: Final = re.compile(r"^\**\s*[-–—_=]{2,}\s*(.{2,300}?)\s*[-–—_=]{2,}\s*\**$")
_SHARED: Final = re.compile(
    r"(?:\s|^|[-–—]{2,}\s*)(?=On (?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? |\d{1,4}[ ./-]|"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*\.? \d))"
)


class Sign(Enum):
    """How sure it is that a line is an attribution."""

    NO = 0
    WITH_A_QUOTE = 1
    """Only if a quote follows: people write such lines themselves."""
    SURE = 2


def sign(text: str) -> Sign:
    """Judge one line, or several joined by spaces."""
    line = text.strip().strip("*").strip()
    if not line or len(line) > _LONGEST:
        return Sign.NO
    lower = line.lower()
    if not lower.endswith(_ENDS):
        return Sign.NO
    if dashed := _DASHED.match(line):
        return _dashed(dashed[1].lower())
    when, address = _when(line), _ADDRESS.search(line) is not None
    if when == _FULL and address and _END_OF_ADDRESS.search(line):
        return Sign.SURE if lower.endswith((":", "：")) else Sign.WITH_A_QUOTE
    if _VERB.search(lower) is None:
        return Sign.WITH_A_QUOTE if _sent(lower) and (when or address) else Sign.NO
    if when == _FULL or (address and (when or _named(line))):
        return Sign.SURE
    return Sign.WITH_A_QUOTE if when or lower.endswith((":", "：")) else Sign.NO


_FULL: Final = 2
_END_OF_ADDRESS: Final = re.compile(r"[>)\]\"”»]\s*[:：]$|@\S+\s?[:：]$|@\S+>$")


def _when(line: str) -> int:
    """Tell how much of a date there is: nothing, something, or a day with a year or a time."""
    time, year, day = _TIME.search(line), _YEAR.search(line), _DAY.search(line)
    if day or (year and (time or _DATE_AND_DAY.search(line))):
        return _FULL
    if time and _DATE_AND_DAY.search(line[: time.start()] + " " + line[time.end() :]):
        return _FULL
    return 1 if time or year else 0


def _sent(lower: str) -> bool:
    """Some programs say "sent" where others say "wrote"; people do too, of other things."""
    return lower.endswith(("sent:", "sent :", "sendt:", "envoyé :", "gesendet:"))


def _named(line: str) -> bool:
    """Somebody by name and address: `Ada <ada@example.com> wrote:`."""
    return "<" in line or "(" in line or "[" in line


def _dashed(lower: str) -> Sign:
    """`---- On … wrote ----`, and Android's `---- John Smith wrote ----`."""
    if lower.rstrip(" :：").endswith(VERBS):
        return Sign.SURE
    return Sign.SURE if _when(lower) == _FULL and _VERB.search(lower) else Sign.NO


# --- over several lines ---------------------------------------------------------------------------


def attribution(lines: list[str], place: int) -> tuple[Sign, int]:
    """Judge what begins at a line: how sure, and how many lines it takes."""
    first = head(lines[place])
    if is_quoted(first) or is_blank(first):
        return Sign.NO, 0
    found = sign(first)
    if found is Sign.SURE or not _may_go_on(first):
        return found, 1
    return _joined(lines, place, found)


def _joined(lines: list[str], place: int, alone: Sign) -> tuple[Sign, int]:
    """Add lines until they make an attribution; blank ones only after a whole date."""
    text, blanks = head(lines[place]), 0
    for taken in range(2, _MOST_LINES + 1):
        if place + taken > len(lines):
            break
        line = head(lines[place + taken - 1])
        if is_blank(line):
            blanks += 1
            if blanks > 1 or _when(text) != _FULL:
                break
            continue
        if is_quoted(line) and not _closes(text, line):
            break
        text = f"{text} {line.strip()}"
        if sign(text) is Sign.SURE:
            return Sign.SURE, taken
    return alone, 1


def _may_go_on(first: str) -> bool:
    """Only a line that looks like one is joined with the next: text must not be swallowed."""
    lower = first.strip(" *").lower()
    if lower.endswith((".", "!", "?")):
        return False
    if not (lower.startswith(OPENINGS) or lower[:1].isdigit() or _ADDRESS.search(first)):
        return False
    return _when(first) > 0 or "<" in first or _ADDRESS.search(first) is not None


def _closes(text: str, line: str) -> bool:
    """A `>` that closes an address broken over two lines is no mark of a quote."""
    return text.count("<") > text.count(">") and len(line) <= _LONGEST and sign_end(line)


def sign_end(line: str) -> bool:
    """Tell whether a line is the tail of an attribution: `>:` or `> wrote:`."""
    rest = line.strip().lower()[1:].strip()
    return rest in {":", "："} or (rest.endswith((":", "：")) and _VERB.search(rest) is not None)


def shared(line: str) -> int:
    """Find where an attribution begins on a line that a reply shares with it; -1 if nowhere."""
    cut = head(line)
    for found in _SHARED.finditer(cut):
        if found.start() > 0 and sign(cut[found.end() :]) is Sign.SURE:
            return found.start()
    return -1
