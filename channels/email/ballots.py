"""What it takes where more than one person decides, and who has said what so far. Pure."""

from __future__ import annotations

from typing import Final

from channels.email.encoded_words import one_line
from channels.email.who import person
from channels.outgoing import QuestionCard, Vote

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


def _line(vote: Vote) -> str:
    said = "approved" if vote.approved else "denied"
    edited = " with other arguments" if vote.arguments is not None else ""
    comment = f": {one_line(vote.comment)[:_LONGEST]}" if vote.comment.strip() else ""
    return f"{person(vote.by)} {said}{edited}{comment}"
