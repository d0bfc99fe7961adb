"""What a click on a question comes to, given the question as it is now. Pure."""

from __future__ import annotations

from typing import Final

from agent_core.json_values import Json
from channels.outgoing import QuestionCard
from channels.slack.render.votes import AGREE, agreed
from channels.slack.tokens import card_digest

UNKNOWN: Final = "This question is not here any more. Nothing has changed."
_CHANGED: Final = (
    "This question has changed since you saw it: look for its newest message. Nothing has changed."
)
_CHOSEN: Final = "choose-"


def objection(card: QuestionCard, digest: str) -> str:
    """Say why what somebody saw can't be decided by this; empty where it can."""
    if card.status != "open":
        return ""  # the intake knows who was faster, and says so
    return "" if card_digest(card) == digest else _CHANGED


def decided(name: str, card: QuestionCard) -> Json:
    """Give the value that a button stands for; None where it stands for none."""
    match name:
        case "approve":
            return {"approved": True}
        case "deny":
            return {"approved": False}
        case _ if name.startswith(AGREE):
            arguments = agreed(name, card)
            return None if arguments is None else {"approved": True, "arguments": arguments}
        case _ if name.startswith(_CHOSEN):
            return _option(name.removeprefix(_CHOSEN), card)
        case _:
            return None


def _option(number: str, card: QuestionCard) -> Json:
    if not (number.isascii() and number.isdecimal()) or int(number) >= len(card.options):
        return None
    return card.options[int(number)].name
