"""A mail to ourselves, by which `parley doctor` sees that mail comes through. Pure.

It is signed, so that nobody else can write one, and the channel takes it out before anything reads
it: it begins nothing, and nobody answers it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

HEADER: Final = "X-Parley-Probe"
_DOMAIN: Final = b"parley email probe 1\x00"
_HEADERS_END: Final = 64_000
_LINE: Final = re.compile(rb"(?im)^x-parley-probe:[ \t]*([0-9a-f]{16,64})\.([0-9a-f]{40})\s*$")
_BLANK: Final = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One such mail, and what it is known by."""

    name: str
    raw: bytes


def write_probe(name: str, address: str, secret: bytes, *, to: str, at: datetime) -> Probe:
    """Write one; its name is hexadecimal, and it goes to an address of ours, with a tag or not."""
    domain = address.rpartition("@")[2]
    lines = [
        f"From: Parley <{address}>",
        f"To: {to}",
        "Subject: A mail from Parley to itself",
        f"Message-ID: <probe.{name}@{domain}>",
        f"Date: {format_datetime(at)}",
        "Auto-Submitted: auto-generated",
        f"{HEADER}: {name}.{_mac(name, secret)}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "",
        "`parley doctor` sends this to see that mail comes through. You may delete it.",
        "",
    ]
    return Probe(name=name, raw="\r\n".join(lines).encode())


def probe_name(raw: bytes, secret: bytes) -> str:
    """Give the name of the probe that a mail is, or nothing."""
    head = _BLANK.split(raw[:_HEADERS_END], maxsplit=1)[0]
    found = _LINE.search(head)
    if found is None or not secret:
        return ""
    name = found[1].decode()
    return name if hmac.compare_digest(_mac(name, secret), found[2].decode()) else ""


def memory_key(name: str) -> str:
    """Name where the channel keeps that a probe has come."""
    return f"probe:{name}"


def _mac(name: str, secret: bytes) -> str:
    return hmac.new(secret, _DOMAIN + name.encode(), hashlib.sha256).hexdigest()[:40]
