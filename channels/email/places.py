"""Addresses of the email channel: a person's mailbox, or one conversation with them. Pure.

`email:otto@example.com` is where somebody is reached. `email:otto@example.com:0f3c…` is one mail
thread that they began; what follows the address names its first mail.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_SHAPE = re.compile(r"email:([^\s:@<>,;\"]+@[^\s:@<>,;\"]+)(?::([0-9a-f]{16}))?")


@dataclass(frozen=True, slots=True)
class Place:
    """A mailbox, and perhaps a conversation with it."""

    email: str
    root: str = ""

    def __str__(self) -> str:
        """Write it as the address that `parse_place` reads."""
        return f"email:{self.email}" + (f":{self.root}" if self.root else "")


def parse_place(address: str) -> Place | None:
    """Read an address, or give nothing if it is none of this channel."""
    found = _SHAPE.fullmatch(address)
    return Place(found[1].lower(), found[2] or "") if found else None


def root_of(message_id: str) -> str:
    """Give the short name of a conversation by the Message-ID of its first mail."""
    return hashlib.sha256(message_id.encode()).hexdigest()[:16]
