"""What it takes where more than one person decides, and who has said what so far. Pure."""

from __future__ import annotations

import hashlib
from typing import Final

from agent_core.json_values import JsonObject, canonical
from channels.email.encoded_words import one_line
from channels.email.who import person
from channels.outgoing import QuestionCard, Vote

AGREE: Final = "agree-"
"""Begins the name of the button that approves what somebody else's vote has changed."""
_MOST: Final = 20
_LONGEST: Final = 300


def rules(card: QuestionCard) -> str:
    """Say what it takes; nothing where one person decides."""
    told = [f"{card.quorum} people must approve the same."] if card.quorum > 1 else []
    told += ["Whoever asked for it can't approve it."] if card.not_requester else []
    return " ".join(told)


def votes(card: QuestionCard) -> list[str]:
    """Say who has decided how, a line each; the newest last."""
    return [_line(one) for one in card.votes[-_MOST:]]


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


def _line(vote: Vote) -> str:
    said = "approved" if vote.approved else "denied"
    edited = " with other arguments" if vote.arguments is not None else ""
    comment = f": {one_line(vote.comment)[:_LONGEST]}" if vote.comment.strip() else ""
    return f"{person(vote.by)} {said}{edited}{comment}"
