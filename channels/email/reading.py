"""Reading a mail: `read_mail` is the whole of it, from bytes to what is known.

Pure but for time: it may take long over a mail that was made for it. So strangers' mail is read by
`pool.MailReader`, which does the same in a child process.
"""

from __future__ import annotations

import hashlib

import msgspec

from channels.email.addresses import Parsed, parse_addresses
from channels.email.authentication import judge
from channels.email.automation import sign_of_automation
from channels.email.bounces import find_bounce
from channels.email.dkim_check import TxtLookup, check
from channels.email.encoded_words import one_line
from channels.email.headers import Headers, parse_headers
from channels.email.limits import has_odd_ends, refusal
from channels.email.mail import (
    Address,
    Authentication,
    Bounce,
    Envelope,
    Found,
    ReadingOptions,
    ReadMail,
)
from channels.email.message_ids import message_ids
from channels.email.mime import TooMuch, parse_part
from channels.email.parts import Contents, collect
from channels.email.recognition import recognise
from channels.email.replies import reply_in
from channels.email.subjects import clean_subject, is_forward, topic

_RECIPIENTS = (
    "to",
    "cc",
    "bcc",
    "delivered-to",
    "x-original-to",
    "envelope-to",
    "x-envelope-to",
    "x-forwarded-to",
    "resent-to",
    "resent-cc",
    "apparently-to",
)


def read_mail(
    raw: bytes,
    envelope: Envelope | None,
    options: ReadingOptions,
    *,
    lookup: TxtLookup | None = None,
) -> ReadMail:
    """Read a mail, here and now."""
    return recognise(parse_mail(raw, envelope, options, lookup=lookup), options)


def parse_mail(
    raw: bytes,
    envelope: Envelope | None,
    options: ReadingOptions,
    *,
    lookup: TxtLookup | None = None,
) -> ReadMail:
    """Read all that needs no secret of ours."""
    digest = hashlib.sha256(raw).hexdigest()
    if reason := refusal(raw, options.limits):
        return rejected(reason, digest)
    headers = parse_headers(raw, most=options.limits.header_bytes)
    seen = _Seen(headers, envelope, options)
    if len(seen.recipients) > options.limits.recipients:
        return rejected(f"more than {options.limits.recipients} recipients", digest)
    try:
        root = parse_part(raw, options.limits)
    except TooMuch as exc:
        return rejected(str(exc), digest)
    contents = collect(root, options.limits)
    bounce = find_bounce(
        root,
        contents.reports,
        return_path=seen.return_path,
        sender=seen.sender_text,
        subject=seen.subject,
    )
    authentication = _authenticated(raw, seen, options, lookup)
    return _put_together(seen, contents, bounce, authentication, digest)


def rejected(reason: str, digest: str = "") -> ReadMail:
    """Give what is known of a mail that was put aside."""
    return ReadMail(kind="rejected", reason=reason, digest=digest)


class _Seen:
    """What the headers and the envelope say."""

    def __init__(
        self, headers: Headers, envelope: Envelope | None, options: ReadingOptions
    ) -> None:
        self.headers = headers
        most = options.limits.recipients + 1
        self.by_header = {
            name: _addresses(headers, name, most=most) for name in (*_RECIPIENTS, "reply-to")
        }
        given = [one for name in _RECIPIENTS for one in self.by_header[name]]
        outside = parse_addresses(",".join(envelope.recipients[:most])) if envelope else Parsed()
        self.recipients = list({one.email: one for one in (*given, *outside.addresses)}.values())
        self.subject = clean_subject(headers.get("subject"))
        self.return_path = _return_path(headers, envelope)
        self.is_direct = envelope is not None and envelope.is_direct
        self.sender, self.refusal = _one_sender(headers)

    @property
    def sender_text(self) -> str:
        """The From as it is: a mail system's is often no address."""
        return self.sender.email if self.sender else one_line(self.headers.get("from")).lower()


def _addresses(headers: Headers, name: str, *, most: int) -> list[Address]:
    return [
        one for value in headers.all(name) for one in parse_addresses(value, most=most).addresses
    ]


def _one_sender(headers: Headers) -> tuple[Address | None, str]:
    """Give the sender, or why there is none: exactly one From with one address, nothing odd."""
    values = headers.all("from")
    if len(values) != 1:
        return None, "it has no From" if not values else "it has more than one From"
    parsed = parse_addresses(values[0])
    if parsed.defects:
        return None, f"its From has {parsed.defects[0]}"
    if len(parsed.addresses) != 1:
        return None, "its From is not exactly one address"
    return parsed.addresses[0], ""


def _return_path(headers: Headers, envelope: Envelope | None) -> str | None:
    """Give the return path: empty is a value, and nothing means that nobody told."""
    if envelope and envelope.sender is not None:
        return envelope.sender.strip().strip("<>")
    if not headers.has("return-path"):
        return None
    return one_line(headers.get("return-path")).strip("<> ")


def _authenticated(
    raw: bytes, seen: _Seen, options: ReadingOptions, lookup: TxtLookup | None
) -> Authentication:
    if seen.sender is None:
        return Authentication(reason=seen.refusal)
    if has_odd_ends(raw, options.limits.header_bytes):
        # Who vouched for it may have read another From than we do.
        return Authentication(reason="its headers have line ends that programs read differently")
    if seen.is_direct:  # whoever sent it has written its Authentication-Results, too
        found = Authentication(reason="no server of ours has checked it on its way")
    else:
        found = judge(seen.headers, seen.sender.domain, options.authserv_id)
    if found.passed or found.failed or not options.verify_dkim or lookup is None:
        return found
    return check(raw, seen.headers, seen.sender.domain, lookup)


def _kind(seen: _Seen, bounce: Bounce | None) -> Found:
    if bounce is not None:
        return Found(kind="bounce", reason=f"a delivery report: {bounce.action}")
    sign = sign_of_automation(
        seen.headers,
        return_path=seen.return_path,
        sender=seen.sender_text,
        subject=seen.subject,
    )
    if sign:
        return Found(kind="auto", reason=sign)
    if seen.refusal:
        return Found(kind="rejected", reason=seen.refusal)
    return Found(kind="human", reason="no sign of automation")


def _put_together(
    seen: _Seen,
    contents: Contents,
    bounce: Bounce | None,
    authentication: Authentication,
    digest: str,
) -> ReadMail:
    found, headers = _kind(seen, bounce), seen.headers
    reply, is_truncated = reply_in(contents.bodies, forwarded=is_forward(seen.subject))
    odd = ["lines in the headers that are none"] if headers.odd else []
    return ReadMail(
        kind=found.kind,
        reason=found.reason,
        sender=seen.sender,
        return_path=seen.return_path,
        recipients=tuple(seen.recipients),
        to=tuple(seen.by_header["to"]),
        cc=tuple(seen.by_header["cc"]),
        reply_to=tuple(seen.by_header["reply-to"]),
        subject=seen.subject,
        topic=topic(seen.subject),
        message_id=next(iter(message_ids(headers.get("message-id"))), ""),
        in_reply_to=message_ids(headers.get("in-reply-to")),
        references=message_ids(headers.get("references")),
        date=one_line(headers.get("date"))[:100],
        authentication=authentication,
        reply=reply.text,
        words=reply.words,
        is_truncated=is_truncated,
        attachments=tuple(contents.attachments),
        bounce=bounce,
        defects=tuple(dict.fromkeys([*odd, *contents.defects]))[:20],
        digest=digest,
    )


def without_secret(options: ReadingOptions) -> ReadingOptions:
    """Give the options that a child process may know."""
    return msgspec.structs.replace(options, secret=b"")
