"""Header blocks: the `From: … Sent: … To: … Subject: …` that Outlook puts above an original."""

from __future__ import annotations

import re
from typing import Final

from channels.email.trimming.lines import head, is_blank
from channels.email.trimming.vocabulary import LABELS

_KINDS: Final = {label: kind for kind, labels in LABELS.items() for label in labels}
_LABEL: Final = re.compile(
    r"^[\s*_>|]{0,8}([^\s:：*<>][^:：<>]{0,24}?)\s?\*{0,2}\s?[:：]\*{0,2}(.*)$"
)
_INSIDE: Final = re.compile(r"(?:^|\s)\*{0,2}([^\s:：*<>]{1,20}) ?[:：]\*{0,2}\s")
_EVIDENCE: Final = re.compile(r"@|\d{1,2}[:.]\d{2}|(?:19|20)\d{2}")
_MOST_LINES: Final = 12
_LONGEST_VALUE: Final = 4
"""So many lines may a list of recipients go on."""
_FIRST: Final = frozenset({"from", "date", "sent", "to", "subject"})
_ENOUGH: Final = 3


def label(line: str) -> tuple[str, str]:
    """Give which label a line begins with, and what stands behind it."""
    found = _LABEL.match(head(line))
    if not found:
        return "", ""
    return _KINDS.get(found[1].strip().lower(), ""), found[2].strip(" *")


def header_block(lines: list[str], place: int) -> int:
    """Give how many lines of headers begin here; none if it is not a header block.

    Three different labels make one, or two whose values are an address or a date: "Date:" and
    "Time:" alone are an appointment.
    """
    kind, value = label(lines[place])
    if kind not in _FIRST:
        return 0
    if len(_on_one_line(lines[place])) >= _ENOUGH:
        return 1
    kinds, evidence, end = {kind}, bool(_EVIDENCE.search(value)), place + 1
    for at in range(place + 1, min(place + _MOST_LINES, len(lines))):
        kind, value = label(lines[at])
        if is_blank(lines[at]) or kind in kinds or at - end >= _LONGEST_VALUE:
            break
        if kind:
            kinds.add(kind)
            evidence, end = evidence or bool(_EVIDENCE.search(value)), at + 1
    return end - place if _convinces(kinds, evidence=evidence) else 0


def _on_one_line(line: str) -> set[str]:
    """Some programs lose the line breaks: `*From:* … *Sent:* … *To:* … *Subject:* …`."""
    found = (_KINDS.get(one[1].lower(), "") for one in _INSIDE.finditer(head(line)))
    return {kind for kind in found if kind}


def _convinces(kinds: set[str], *, evidence: bool) -> bool:
    named = kinds & {"from", "to"}
    dated = kinds & {"date", "sent", "subject"}
    return bool(named and dated) and (len(kinds - {"other"}) >= _ENOUGH or evidence)
