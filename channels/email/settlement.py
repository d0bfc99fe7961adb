"""How a question ended, in the few words of a follow-up. Pure."""

from __future__ import annotations

from typing import Final

from agent_core.json_values import compact
from agent_core.thread.events import Millis
from agent_core.thread.times import spoken
from channels import verdicts
from channels.email.blocks import Block, Code, Line, Quote, Small
from channels.email.encoded_words import one_line
from channels.email.who import person
from channels.outgoing import QuestionCard
from channels.spelling import difference, spelled

_MOST: Final = 2_000
_MOST_PROMPT: Final = 300


def settlement(card: QuestionCard) -> list[Block]:
    """Say how it ended, and that nothing is left to do."""
    asked = one_line(card.prompt)
    shown = asked if len(asked) <= _MOST_PROMPT else f"{asked[:_MOST_PROMPT]}…"
    about: list[Block] = [Small(f"The question was: {shown}")] if shown else []
    return [
        Line(verdict(card), is_strong=True),
        *_evidence(card),
        *about,
        Small("You need not do anything."),
    ]


def verdict(card: QuestionCard) -> str:
    """Say in one sentence what became of it, by whom and when."""
    return verdicts.verdict(
        card,
        who=person(card.answered_by) if card.answered_by else "",
        when="" if card.settled_at is None else spoken(Millis(card.settled_at)),
        chosen=one_line(str(card.answer))[:200],
    )


def _evidence(card: QuestionCard) -> list[Block]:
    shown: list[Block] = []
    edited = verdicts.edits(card)
    if edited is not None:
        shown.append(Code(_short(difference(card.arguments or {}, edited))))
    elif card.status == "answered" and card.kind in {"form", "event"} and card.answer:
        value = card.answer
        shown.append(Code(_short(spelled(value) if isinstance(value, dict) else compact(value))))
    elif card.status == "answered" and card.kind == "text":
        shown.append(Quote(_short(str(card.answer))))
    return [*shown, *([Quote(_short(card.comment))] if card.comment.strip() else [])]


def _short(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
