"""What somebody's vote would have in place of what was asked, and the button that agrees. Pure."""

from __future__ import annotations

import hashlib
from typing import Final

from agent_core.json_values import JsonObject, canonical
from channels.outgoing import QuestionCard

AGREE: Final = "agree-"
"""Begins the name of the button that approves what somebody else's vote has changed."""


def proposed(card: QuestionCard) -> tuple[str, JsonObject] | None:
    """Give the newest change that somebody proposed, with the name of the button that agrees."""
    changed = [one.arguments for one in card.votes if one.arguments is not None]
    return (_name(changed[-1]), changed[-1]) if changed else None


def agreed(name: str, card: QuestionCard) -> JsonObject | None:
    """Give the arguments that the button of this name approves."""
    changed = (one.arguments for one in card.votes if one.arguments is not None)
    return next((one for one in changed if _name(one) == name), None)


def _name(arguments: JsonObject) -> str:
    return AGREE + hashlib.sha256(canonical(arguments)).hexdigest()[:16]
