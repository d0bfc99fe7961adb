"""Words as an answer: does what somebody wrote answer this question, and how? Pure.

A question in words takes any words. A choice takes its option's name or number; an approval only a
plain yes or no, in the languages of `answer_words.toml`, with politeness around it. A sentence that
merely begins with "yes" may say something else, so every single word must be one that we know: what
is left over makes the whole unclear. A no may be followed by its reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_core.json_values import Json
from agent_core.thread.questions import Question
from gateway.intake import answer_words as known

_LONGEST = 2_000
"""Nobody says yes in so many words."""
_FARTHEST = 200
"""By then a no has been said, or isn't one."""

_Meaning = Literal["yes", "no", "polite", "reassuring"]
_Words: TypeAlias = tuple[str, ...]

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc`\u00b4", "'"))
_UNSEEN = re.compile("[\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff\u20e3\U0001f3fb-\U0001f3ff]")
"""Marks of direction, variants and skin: they change how a sign looks, not what it says."""
_TOKEN = re.compile(r":[+\-a-z_]+:|[+-]1(?!\w)|[^\W_]+(?:['-][^\W_]+)*|\S")
_QUESTION = re.compile("[?\uff1f\u061f\u2047\u2753\u2754]")
_NEGATIVE = re.compile(r"\s*[-−]\d")  # noqa: RUF001 (a minus)
_BREAK = re.compile(
    r"[,;:.!،。，、；：！…\n]+|[—–]|\s-\s"  # noqa: RUF001 (as people type them)
    rf"|(?<!\w)(?:{'|'.join(map(re.escape, known.BECAUSE))})(?!\w)|因为|因為",
    re.IGNORECASE,
)
"""Where a no may end and its reason begin."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What words mean as an answer."""

    value: Json
    comment: str = ""


def read_words(question: Question, text: str, *, names: str = "") -> Reading | None:
    """Read words as the answer to a question; None if they are something else.

    `names` is how the writer is called: people sign with it.
    """
    match question.kind:
        case "text":
            return Reading(text) if text.strip() else None
        case "choice":
            return _choice([option.name for option in question.options], text, _tokens(names))
        case "approval":
            return _approval(text, _tokens(names))
        case _:
            return None


def expected(question: Question) -> str:
    """Say what words would answer a question."""
    match question.kind:
        case "text":
            return "Write your answer in your own words."
        case "choice":
            lines = [f"{number}. {one.name}" for number, one in enumerate(question.options, 1)]
            return "\n".join(["Reply with one of these, by name or number:", *lines])
        case "approval":
            return 'Reply "yes" or "no"; a reason may follow the no, as in "no, because …".'
        case _:
            return "It can't be answered in words: use the form that came with the question."


# Yes and no


def _approval(text: str, names: _Words) -> Reading | None:
    verdict = _verdict(text, names)
    if verdict is not None:
        return Reading({"approved": verdict})
    return _denial(text)


def _verdict(text: str, names: _Words = ()) -> bool | None:
    """Tell whether a text is nothing but a yes, or nothing but a no."""
    if len(text) > _LONGEST or _QUESTION.search(text):
        return None
    said = (_meanings(_tokens(text), names) or set()) - {"polite"}
    return said == {"yes"} if said in ({"yes"}, {"no"}) else None


def _denial(text: str) -> Reading | None:
    """Read a no with its reason; politeness may stand before it."""
    for end in _BREAK.finditer(text):
        head, reason = text[: end.start()], text[end.end() :].strip()
        if end.start() > _FARTHEST or _QUESTION.search(head):
            return None
        said = _meanings(_tokens(head))
        if said in ({"no"}, {"no", "polite"}):
            return Reading({"approved": False}, reason) if _is_reason(end[0], reason) else None
        if said is None or said - {"polite"}:
            return None
    return None


def _is_reason(mark: str, reason: str) -> bool:
    """Tell whether what follows a no explains it: "No. 5" does not, nor "no, that's fine"."""
    if not reason or ("." in mark and reason[0].isdigit()):
        return False
    return not any(_is_assent(clause) for clause in _BREAK.split(reason[:_LONGEST]))


def _is_assent(clause: str) -> bool:
    """Tell whether a clause begins as a yes does."""
    words = _tokens(clause[:_FARTHEST])
    while words:
        length, meaning = _first(words)
        if meaning != "polite":
            return meaning in ("yes", "reassuring") and len("".join(words[:length])) > 1
        words = words[length:]
    return False


def _meanings(words: _Words, names: _Words = ()) -> set[_Meaning] | None:
    """Give what all the words mean, or nothing if one is not known."""
    found: set[_Meaning] = set()
    while words:
        length, meaning = _first(words)
        if meaning is None and words[0] in names:
            length, meaning = 1, "polite"
        if meaning is None:
            return None
        found.add(meaning)
        words = words[length:]
    return found


def _first(words: _Words) -> tuple[int, _Meaning | None]:
    """Give the longest phrase that the words begin with, and what it means."""
    for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
        meaning = _PHRASES.get(words[:length])
        if meaning is not None:
            return length, meaning
    return 0, None


# Choices


def _choice(options: Sequence[str], text: str, names: _Words) -> Reading | None:
    if len(text) > _LONGEST:
        return None
    said = _tokens(text)
    found = _chosen(options, said) or _chosen(options, _bare(said, names))
    if _NEGATIVE.match(text) or _QUESTION.search(text):
        found = []
    found = found or _exact(options, text) or _yes_or_no(options, text, names)
    return Reading(found[0]) if len(found) == 1 else None


def _exact(options: Sequence[str], text: str) -> list[str]:
    """Give the option that is written just so: its name may be a sign, or a question."""
    return [name for name in options if name.strip().casefold() == text.strip().casefold()][:1]


def _yes_or_no(options: Sequence[str], text: str, names: _Words) -> list[str]:
    answer = {True: "yes", False: "no", None: None}[_verdict(text, names)]
    return [name for name in options if name.casefold() == answer]


def _chosen(options: Sequence[str], said: _Words) -> list[str]:
    """Give the options that words may stand for: by name, by number, or by both."""
    if not said:
        return []
    found = []
    for number, name in enumerate(options, start=1):
        written = _tokens(name)
        ways = (written, (str(number),), (str(number), *written), ("#", str(number)))
        if _with_digits(said) in ways:
            found.append(name)
    return found


def _bare(said: _Words, names: _Words) -> _Words:
    """Take politeness from both ends, and what may stand before a number."""
    while said and (length := _polite_at_start(said, names)):
        said = said[length:]
    while said and (length := _polite_at_end(said, names)):
        said = said[:-length]
    return said


def _polite_at_start(said: _Words, names: _Words) -> int:
    length, meaning = _first(said)
    if meaning == "polite":
        return length
    if len(said) == 1:
        return 0
    is_number = said[0] in known.NUMBERED and said[1].isdecimal()
    return int(is_number or said[0] in names or said[0] in known.ARTICLES)


def _polite_at_end(said: _Words, names: _Words) -> int:
    for length in range(min(_LONGEST_PHRASE, len(said) - 1), 0, -1):
        if _PHRASES.get(said[-length:]) == "polite":
            return length
    return int(len(said) > 1 and said[-1] in names)


def _with_digits(said: _Words) -> _Words:
    """Write numbers of any script as ours."""
    return tuple(str(int(one)) if one.isdecimal() and len(one) <= 3 else one for one in said)  # noqa: PLR2004 (no list is longer)


# Reading


def _tokens(text: str) -> _Words:
    """Give the words and signs of a text; punctuation says nothing, anything else does."""
    plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", text.translate(_APOSTROPHES)))
    found = _TOKEN.findall(unicodedata.normalize("NFC", plain.casefold()))
    return tuple(
        one for one in found if len(one) > 1 or unicodedata.category(one)[0] != "P" or one == "#"
    )


def _phrases(meaning: _Meaning, phrases: Iterable[str]) -> dict[_Words, _Meaning]:
    return {_tokens(phrase): meaning for phrase in phrases}


def _all(vocabulary: dict[str, tuple[str, ...]]) -> list[str]:
    return [phrase for phrases in vocabulary.values() for phrase in phrases]


_PHRASES: dict[_Words, _Meaning] = {
    **_phrases("reassuring", known.REASSURING),
    **_phrases("polite", _all(known.POLITE)),
    **_phrases("yes", _all(known.YES)),
    **_phrases("no", _all(known.NO)),
}
_LONGEST_PHRASE = max(map(len, _PHRASES))
