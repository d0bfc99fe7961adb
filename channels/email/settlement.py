"""How a question ended, in the few words of a follow-up. Pure."""

from __future__ import annotations

from typing import Final, assert_never

from agent_core.json_values import JsonObject, compact
from agent_core.thread.events import Millis
from agent_core.thread.times import spoken
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
    by = f" by {person(card.answered_by)}" if card.answered_by else ""
    when = f" at {spoken(Millis(card.settled_at))}" if card.settled_at is not None else ""
    match card.status:
        case "open":
            return "This question is still open."
        case "answered":
            return f"{_decision(card)}{by}{when}."
        case "expired":
            meaning = "that counts as a no" if card.expiry_denies else "that is not a denial"
            return f"This question has expired{when}. Nobody decided: {meaning}."
        case "withdrawn" if card.taken_back:
            return f"The approval was taken back{by}{when}: it is asked anew."
        case "withdrawn":
            return f"This question was withdrawn{by}{when}: it needs no answer any more."
        case never:
            assert_never(never)


def _decision(card: QuestionCard) -> str:
    match card.answer:
        case {"approved": True} if edits(card):
            return "Approved with edits"
        case {"approved": True}:
            return "Approved"
        case {"approved": False}:
            return "Denied"
        case str(name) if card.kind == "choice":
            return f"“{one_line(name)[:200]}” was chosen"
    return "Answered"


def edits(card: QuestionCard) -> JsonObject | None:
    """Give what was approved in place of what was proposed, if it was."""
    match card.answer:
        case {"approved": True, "arguments": dict(edited)} if card.status == "answered":
            return edited
    return None


def _evidence(card: QuestionCard) -> list[Block]:
    shown: list[Block] = []
    edited = edits(card)
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
