"""Words as an answer: does what somebody wrote answer this question, and how? Pure.

A question in words takes any words. A choice takes its option's name or number; an approval only a
plain yes or no, because a sentence that merely begins with "yes" may say something else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_core.json_values import Json
from agent_core.thread.questions import Question

_YES = frozenset(
    {"yes", "y", "yep", "yeah", "ok", "okay", "approve", "approved", "approve it", "go ahead"}
    | {"do it", "lgtm", "+1", "👍", "✅", ":+1:", ":thumbsup:", ":white_check_mark:"}
    | {"ja", "oui", "sí", "si", "sim", "да"}
)
_NO = frozenset(
    {"no", "n", "nope", "deny", "denied", "reject", "rejected", "don't", "do not", "stop"}
    | {"-1", "👎", "❌", ":-1:", ":thumbsdown:", ":x:", "nein", "non", "não", "nao", "нет"}
)
_ENDS = " \t\n.!,;"
_REASON = re.compile(r"(?s)(?P<no>[^\s,:;.!–—-]+)\s*(?:[,:;.!–—-]|because)\s*(?P<why>\S.*)")  # noqa: RUF001 (dashes as people type them)


@dataclass(frozen=True, slots=True)
class Reading:
    """What words mean as an answer."""

    value: Json
    comment: str = ""


def read_words(question: Question, text: str) -> Reading | None:
    """Read words as the answer to a question; None if they are something else."""
    match question.kind:
        case "text":
            return Reading(text) if text.strip() else None
        case "choice":
            return _choice([option.name for option in question.options], text)
        case "approval":
            return _approval(text)
        case _:
            return None


def _choice(names: list[str], text: str) -> Reading | None:
    said = _plain(text)
    for number, name in enumerate(names, start=1):
        if said in {name.casefold(), str(number), f"{number})", f"{number}."}:
            return Reading(name)
    yes_no = {"yes": _YES, "no": _NO}
    return next((Reading(name) for name in names if said in yes_no.get(name, ())), None)


def _approval(text: str) -> Reading | None:
    said = _plain(text)
    if said in _YES:
        return Reading({"approved": True})
    if said in _NO:
        return Reading({"approved": False})
    reason = _REASON.fullmatch(text.strip())
    if reason and _plain(reason["no"]) in _NO:
        return Reading({"approved": False}, reason["why"].strip())
    return None


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").strip(_ENDS).casefold().split())  # noqa: RUF001 (as phones type it)
