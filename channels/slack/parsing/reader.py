"""What a parser must know besides the payload. A value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """What a payload itself doesn't tell: who we are, and whom we know."""

    bot_user: str
    secret: bytes
    """Signs what our buttons and forms carry."""
    require_mention: bool = False
    """In a channel's threads too: words without a mention are then not for us."""
    names: Mapping[str, str] = field(default_factory=dict)
