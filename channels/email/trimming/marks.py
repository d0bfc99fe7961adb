"""Marks that stand alone: "-----Original Message-----", a forward, "reply above this line"."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from channels.email.trimming.lines import head
from channels.email.trimming.vocabulary import (
    ABOVE,
    FORWARD_LINES,
    FORWARDS,
    ORIGINALS,
    PREVIOUS,
)

_LONGEST: Final = 160
_DASHES: Final = "-–—_=*+~#<>| \t\\"
_RULE: Final = re.compile(r"^\s*(?:[-–—_=*+~#.•]\s?){2,}\s*$|^\s*[-–—_]+\s*$")
_HIDDEN: Final = ("[quoted text hidden]", "[message clipped]", "[zitierter text ausgeblendet]")


class Mark(Enum):
    """What a line that stands alone says of the lines after it."""

    NONE = auto()
    ORIGINAL = auto()
    """The message that is answered begins."""
    FORWARD = auto()
    """A message that is passed on begins: that is what the person wants to be read."""
    END = auto()
    """The reply ends here, whatever comes."""


def mark(line: str) -> Mark:
    """Judge one line."""
    text = head(line).strip()
    if not text or len(text) > _LONGEST:
        return Mark.NONE
    lower = text.lower()
    core = lower.strip(_DASHES).strip()
    if any(words in lower for words in ABOVE) or lower in _HIDDEN:
        return Mark.END
    if core.rstrip(":：") in PREVIOUS:
        return Mark.END
    if core.startswith(FORWARD_LINES) and len(core) <= _LONGEST // 2:
        return Mark.FORWARD
    if not _is_dashed(lower):
        return Mark.NONE
    return _between_dashes(core.rstrip(":： "))


def _between_dashes(core: str) -> Mark:
    if core in ORIGINALS:
        return Mark.ORIGINAL
    return Mark.FORWARD if core.startswith(FORWARDS) else Mark.NONE


def _is_dashed(lower: str) -> bool:
    bare = lower.strip("* ")
    return bare[:2] in {"--", "__", "==", "——", "––", "- ", "**"} or bare[-2:] in {"--", "__", "=="}


def says_original(line: str) -> bool:
    """Tell whether a line announces the original without dashes: one of two signs of it."""
    text = head(line).strip()
    return len(text) <= _LONGEST and text.lower().strip(_DASHES).rstrip(":： ") in ORIGINALS


def is_rule(line: str) -> bool:
    """Tell whether a line is only drawn: `---`, `***`, `_____`."""
    return bool(_RULE.match(head(line)))
