"""How a question ended, in one plain sentence: for every page and mail that tells it. Pure.

Slack says it with signs of its own.
"""

from __future__ import annotations

from typing import assert_never

from agent_core.json_values import JsonObject
from channels.outgoing import QuestionCard


def verdict(card: QuestionCard, *, who: str, when: str, chosen: str) -> str:
    """Say what became of it, by whom and when; names as whoever tells it can show them."""
    by, at = f" by {who}" if who else "", f" at {when}" if when else ""
    match card.status:
        case "open":
            return "This question is still open."
        case "answered":
            return f"{_decision(card, chosen)}{by}{at}."
        case "expired":
            meaning = "that counts as a no" if card.expiry_denies else "that is not a denial"
            return f"This question has expired{at}. Nobody decided: {meaning}."
        case "withdrawn" if card.taken_back:
            return f"The approval was taken back{by}{at}: it is asked anew."
        case "withdrawn":
            return f"This question was withdrawn{by}{at}: it needs no answer any more."
        case never:
            assert_never(never)


def edits(card: QuestionCard) -> JsonObject | None:
    """Give what was approved in place of what was proposed, if it was."""
    match card.answer:
        case {"approved": True, "arguments": dict(edited)} if card.status == "answered":
            return edited
    return None


def _decision(card: QuestionCard, chosen: str) -> str:
    match card.answer:
        case {"approved": True} if edits(card) is not None:
            return "Approved with edits"
        case {"approved": True}:
            return "Approved"
        case {"approved": False}:
            return "Denied"
        case str() if card.kind == "choice":
            return f"“{chosen}” was chosen"
    return "Answered"
