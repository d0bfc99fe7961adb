"""Message-IDs in Message-ID, In-Reply-To and References."""

from __future__ import annotations

import re
from typing import Final

_ID: Final = re.compile(r"<\s{0,4}([^\s<>]{1,500})\s{0,4}>")
_BARE: Final = re.compile(r"[^\s<>,;]{1,250}@[^\s<>,;]{1,250}")
_MOST: Final = 100


def message_ids(value: str) -> tuple[str, ...]:
    """Give the ids in a header, in their order, each once and with its brackets."""
    text = value[:64_000]
    found = _ID.findall(text) or _BARE.findall(text)
    return tuple(f"<{one}>" for one in list(dict.fromkeys(found))[:_MOST])
