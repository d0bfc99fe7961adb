"""Bounces: reports of what became of a mail (RFC 3464), and those that follow no standard."""

from __future__ import annotations

import re
from typing import Final

from channels.email.encoded_words import one_line
from channels.email.headers import Headers, parse_headers
from channels.email.mail import Action, Bounce
from channels.email.message_ids import message_ids
from channels.email.mime import Part

_STATUS: Final = re.compile(r"\b([245]\.\d{1,3}\.\d{1,3})\b")
_WORST: Final[tuple[Action, ...]] = ("failed", "delayed", "relayed", "delivered", "expanded")
_DAEMON: Final = re.compile(r"(?:mailer[-_.]?daemon|postmaster|mail-daemon)@", re.IGNORECASE)
_DELAY: Final = re.compile(
    r"delay|warning|not yet|still trying|verzöger|retardé|en attente|demorad", re.IGNORECASE
)
_FAILURE: Final = re.compile(
    r"undeliver|returned mail|delivery (?:status|failure|has failed|notification)|failure notice|"
    r"mail delivery|could not be delivered|unzustellbar|nicht zugestellt|non remis|échec|"
    r"no se puede entregar|não entregue|mancata consegna|onbestelbaar|не доставлено|退信|配信不能",
    re.IGNORECASE,
)
_BLANK: Final = re.compile(rb"\r?\n[ \t]*\r?\n")
_BY_CLASS: Final[dict[str, Action]] = {"2": "delivered", "4": "delayed", "5": "failed"}
_LONGEST: Final = 500
_MOST_REPORT: Final = 64_000
_MOST_GROUPS: Final = 100


def find_bounce(
    root: Part,
    reports: list[Part],
    *,
    return_path: str | None,
    sender: str,
    subject: str,
) -> Bounce | None:
    """Read the report, or give nothing if the mail is none."""
    original = _original_id(reports)
    statuses = [part for part in reports if part.type == "message/delivery-status"]
    is_report = root.type == "multipart/report"
    if statuses and (is_report or not return_path):
        return _worst(
            [_read(one, original) for part in statuses for one in _groups(part)], original
        )
    if is_report and root.parameters.get("report-type", "").lower() == "delivery-status":
        return Bounce(original_id=original, action=_guess(subject))
    if failed := one_line(root.headers.get("x-failed-recipients")):
        return Bounce(recipient=_address(failed.partition(",")[0]), original_id=original)
    # Without a standard: an empty return path and a mail system that says so (qmail, old Exim).
    told = _FAILURE.search(subject) or _DELAY.search(subject)
    if not return_path and _DAEMON.search(sender) and told:
        return Bounce(original_id=original, action=_guess(subject))
    return None


def _worst(found: list[Bounce], original: str) -> Bounce:
    """One mail of ours went to one person; where a report names several, the worst counts."""
    ranked = sorted(found, key=lambda bounce: _WORST.index(bounce.action))
    return ranked[0] if ranked else Bounce(original_id=original)


def _groups(part: Part) -> list[Headers]:
    """Give the groups of fields that tell of a recipient; the first group tells of the mail."""
    texts = _BLANK.split(part.content(_MOST_REPORT)[:_MOST_REPORT].strip())
    groups = [parse_headers(text) for text in texts[:_MOST_GROUPS]]
    return [group for group in groups if group.has("final-recipient") or group.has("action")]


def _read(fields: Headers, original: str) -> Bounce:
    found = _STATUS.search(fields.get("status")) or _STATUS.search(fields.get("diagnostic-code"))
    status = found[1] if found else ""
    recipient = fields.get("final-recipient") or fields.get("original-recipient")
    return Bounce(
        action=_action(fields.get("action"), status),
        status=status,
        recipient=_address(recipient.rpartition(";")[2]),
        diagnostic=one_line(fields.get("diagnostic-code"))[:_LONGEST],
        original_id=original,
    )


def _action(told: str, status: str) -> Action:
    word = told.strip().lower()
    for known in _WORST:
        if word == known:
            return known
    return _BY_CLASS.get(status[:1], "failed")


def _guess(subject: str) -> Action:
    return "delayed" if _DELAY.search(subject) else "failed"


def _address(text: str) -> str:
    return text.strip().strip("<>").strip().lower()[:320]


def _original_id(reports: list[Part]) -> str:
    """Find the Message-ID in what the report brings back of the mail."""
    for part in reports:
        if part.type in {"message/rfc822", "text/rfc822-headers"}:
            headers = parse_headers(part.content(_MOST_REPORT).lstrip())
            if found := message_ids(headers.get("message-id")):
                return found[0]
    return ""
