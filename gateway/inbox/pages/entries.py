"""An event as a page tells it. One shape for all: a template and a few lines of script show it.

Plain values; nothing here knows what an event means.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from gateway.inbox.pages.texts import Shown

Tone = Literal["person", "agent", "tool", "question", "good", "bad", "control", "quiet"]


class Block(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A text inside an entry."""

    text: Shown
    label: str = ""
    is_code: bool = False


class Copy(Struct, frozen=True, kw_only=True, gc=False):
    """A message that told somebody of it."""

    to: str
    channel: str
    status: str
    error: str = ""


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """What happened, who did it, and what they said."""

    seq: int
    kind: str
    tone: Tone
    who: str
    what: str
    at: str
    iso: str
    by: str = ""
    """By which channel, where that is known."""
    note: str = ""
    """Figures and the like, small."""
    question: str = ""
    """The question that it is about."""
    blocks: tuple[Block, ...] = ()
    copies: tuple[Copy, ...] = ()
