"""Slack's limits as numbers, and text cut to them. What goes over one is refused as a whole.

Counted in characters of Python, as Slack's documents do; the margins are ours.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Block: TypeAlias = dict[str, Any]
"""One block, element or object of Block Kit, as it goes over the wire."""

MARKDOWN = 12_000
"""All `markdown` blocks of one message together."""
SECTION = 3_000
HEADER = 150
BUTTON = 75
BUTTON_VALUE = 2_000
OPTION = 75
OPTION_VALUE = 150
OPTIONS = 100
ACTIONS = 25
MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
MODAL_TITLE = 24
MODAL_BUTTON = 24
LABEL = 2_000
HINT = 2_000
PLACEHOLDER = 150
INPUT = 3_000
"""What a text input holds, also at first."""
METADATA = 3_000
NOTIFICATION = 3_000
"""`text` beside blocks: what notifications and screen readers say (Slack advises 4,000)."""
PLAIN = 39_000
"""`text` alone: Slack cuts it at 40,000."""

_NOTHING = "(nothing)"


def cut(text: str, limit: int) -> str:
    """Give text for a `plain_text` object: not empty, and within the limit."""
    text = clean(text)
    if not text.strip():
        return _NOTHING[:limit]
    return text if len(text) <= limit else text[: limit - 1] + "…"


def clean(text: str) -> str:
    """Take out what nobody can see: control characters, and those that turn a line around."""
    return text.translate(_UNSEEN)


_UNSEEN = dict.fromkeys(
    [
        *(code for code in range(32) if chr(code) not in "\n\t"),
        *(*range(127, 160), 0x2028, 0x2029, 0xFEFF),
        # Bidirectional overrides and isolates: with them an amount can be made to read as another.
        *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
        *range(0xD800, 0xE000),
    ]
)


def plain(text: str, limit: int) -> Block:
    """Make a `plain_text` object, in which Slack finds neither mentions nor emoji."""
    return {"type": "plain_text", "text": cut(text, limit), "emoji": False}
