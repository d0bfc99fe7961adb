"""The app's Home page: the questions that wait for whoever opens it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from channels.outgoing import QuestionCard
from channels.slack.render.cards import compact_card, section
from channels.slack.render.limits import HEADER, VIEW_BLOCKS, Block, plain

_EMPTY: Final = (
    ":sunny: *Nothing waits for you.*\n"
    "When an agent needs you, its question stands here and comes to you as a message. "
    "To give an agent something to do, mention it in a channel or write to it here."
)


def home_view(cards: Sequence[QuestionCard], *, team: str, secret: bytes) -> Block:
    """Give the page; what doesn't fit any more is counted."""
    if not cards:
        return {"type": "home", "blocks": [section(_EMPTY)]}
    blocks: list[Block] = [{"type": "header", "text": plain("Waiting for you", HEADER)}]
    for shown, card in enumerate(cards):
        one = [*compact_card(card, team=team, secret=secret), {"type": "divider"}]
        if len(blocks) + len(one) >= VIEW_BLOCKS:
            return _page([*blocks, section(f"… and {len(cards) - shown} more.")])
        blocks += one
    return _page(blocks)


def _page(blocks: list[Block]) -> Block:
    return {"type": "home", "blocks": blocks}
