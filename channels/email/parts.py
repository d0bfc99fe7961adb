"""What a mail's parts are for: the text that was written, files that came along, reports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from channels.email.encoded_words import one_line
from channels.email.headers import parse_headers
from channels.email.mail import Attachment, Limits
from channels.email.mime import Part

_UNSAFE: Final = re.compile(r"[/\\:*?\"<>|\x00-\x1f\x7f]")
_LONGEST_NAME: Final = 150
_MOST_TEXT: Final = 2_000_000
"""Of a body this many bytes are decoded."""
_SEALS: Final = frozenset(
    {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
)
_REPORTS: Final = frozenset(
    {"message/delivery-status", "text/rfc822-headers", "message/disposition-notification"}
)


@dataclass(slots=True)
class Body:
    """One piece of text, in the ways in which it came."""

    plain: str = ""
    html: str = ""
    alternatives: Part | None = None
    """The set that its ways belong to, if they came as one."""


@dataclass(slots=True)
class Contents:
    """What was found."""

    bodies: list[Body] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    reports: list[Part] = field(default_factory=list)
    """Delivery reports, and the mails they are about."""
    defects: list[str] = field(default_factory=list)


def collect(root: Part, limits: Limits) -> Contents:
    """Go through the parts, in order."""
    found, left = Contents(), limits.attachment_bytes
    for part, alternatives in _leaves(root, found):
        if part.type in _REPORTS or part.type == "message/rfc822":
            found.reports.append(part)
        if _is_body(part):
            _add_body(found, part, alternatives)
        elif part.type not in _SEALS and part.type not in _REPORTS:
            attachment = _attachment(part, left, len(found.attachments) + 1)
            left -= len(attachment.content or b"")
            found.attachments.append(attachment)
    return found


def _leaves(root: Part, found: Contents) -> Iterator[tuple[Part, Part | None]]:
    """Give each part that holds something, with the nearest set of alternatives it stands in."""
    waiting: list[tuple[Part, Part | None]] = [(root, None)]
    while waiting:
        part, alternatives = waiting.pop()
        if part.defect:
            found.defects.append(part.defect)
        if not part.parts:
            yield part, alternatives
            continue
        around = part if part.type == "multipart/alternative" else alternatives
        waiting += [(inner, around) for inner in reversed(part.parts)]


def _is_body(part: Part) -> bool:
    if part.type not in {"text/plain", "text/html"} and not part.type.startswith("multipart/"):
        return False
    return part.disposition[0] != "attachment" and not _given_name(part)


def _add_body(found: Contents, part: Part, alternatives: Part | None) -> None:
    text = part.text(_MOST_TEXT)
    last = found.bodies[-1] if found.bodies else None
    if last is None or alternatives is None or last.alternatives is not alternatives:
        last = Body(alternatives=alternatives)
        found.bodies.append(last)
    if part.type == "text/html":
        last.html = f"{last.html}\n{text}" if last.html else text
    else:
        last.plain = f"{last.plain}\n{text}" if last.plain else text


# --- attachments ----------------------------------------------------------------------------------


def _attachment(part: Part, left: int, number: int) -> Attachment:
    data = part.content()
    return Attachment(
        name=_given_name(part) or _made_name(part, number),
        type=part.type,
        size=len(data),
        content=data if len(data) <= left else None,
        inline=part.disposition[0] != "attachment" and part.headers.has("content-id"),
    )


def _given_name(part: Part) -> str:
    """Give the name that the sender gave, as a name and never as a path."""
    given = part.disposition[1].get("filename") or part.parameters.get("name") or ""
    return _safe(one_line(given).replace("\\", "/").rpartition("/")[2])


def _made_name(part: Part, number: int) -> str:
    if part.type == "message/rfc822":
        return f"{_safe(one_line(parse_headers(part.body).get('subject'))) or 'mail'}.eml"
    ending = re.sub(r"\W", "", part.type.partition("/")[2])[:20]
    return f"attachment-{number}.{ending or 'bin'}"


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name).strip(". ")[:_LONGEST_NAME]
