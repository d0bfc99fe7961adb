"""What a person may type at the question, and the answer that it stands for. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from agent_core import Question

HELP = "approve · deny REASON · edit AMOUNT · show · quit"


@dataclass(frozen=True)
class Answer:
    """An answer to an approval, as the library takes it."""

    value: dict[str, object]
    comment: str = ""


@dataclass(frozen=True)
class Approve:
    """Let it run as it is."""


@dataclass(frozen=True)
class Deny:
    """Don't let it run; without a reason, they are asked for one."""

    reason: str = ""


@dataclass(frozen=True)
class Edit:
    """Let it run with another amount; without one, they are asked for it."""

    amount: float | None = None


@dataclass(frozen=True)
class Show:
    """Look at the checkpoint first."""


@dataclass(frozen=True)
class Quit:
    """Leave."""


@dataclass(frozen=True)
class Unclear:
    """Not understood: what to type instead."""

    advice: str


Reply: TypeAlias = Approve | Deny | Edit | Show | Quit | Unclear

_AMOUNT = re.compile(r"(-?\d{1,9}(?:[.,]\d{1,2})?)\s*(?:EUR|€)?", re.IGNORECASE)


def parse_reply(line: str) -> Reply:
    """Read one line, by the whole word or its first letter."""
    word, _, rest = printable(line).strip().partition(" ")
    rest = rest.strip()
    match word.casefold():
        case "approve" | "approved" | "a" | "yes" | "y" | "ok" if not rest:
            return Approve()
        case "deny" | "denied" | "d" | "no" | "n":
            return Deny(rest)
        case "edit" | "e":
            return parse_amount(rest) if rest else Edit()
        case "show" | "s" if not rest:
            return Show()
        case "quit" | "q" | "exit" if not rest:
            return Quit()
        case "":
            return Unclear(f"Please type one of: {HELP}")
    return Unclear(f"I don't understand {_cut(line)!r}. Please type one of: {HELP}")


def parse_amount(text: str) -> Edit | Unclear:
    """Read an amount of money."""
    amount = _AMOUNT.fullmatch(printable(text).strip())
    if amount is None:
        return Unclear(f"{_cut(text)!r} is not an amount. For example: edit 45.50")
    return Edit(float(amount[1].replace(",", ".")))


def answer_of(reply: Approve | Deny | Edit, question: Question) -> Answer:
    """Put a decision in the form that `agent.resume` takes."""
    match reply:
        case Approve():
            return Answer({"approved": True})
        case Deny(reason):
            return Answer({"approved": False}, comment=reason)
        case Edit(amount):
            arguments = {**(question.arguments or {}), "amount": amount}
            return Answer({"approved": True, "arguments": arguments})


def printable(text: str) -> str:
    """Leave out what a terminal would obey, and bytes that were no text."""
    return "".join(character for character in text if character.isprintable())


def _cut(text: str) -> str:
    shown = printable(text).strip()
    return shown if len(shown) <= 40 else f"{shown[:40]}…"  # noqa: PLR2004 - half a line
