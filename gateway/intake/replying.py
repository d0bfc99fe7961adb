"""Replying: which of the open questions do somebody's words answer, and how? Pure.

With one question, words are read as its answer. With several they must say which: by the reply
itself (a mail knows), by the question's number, or by a word that stands in no other. A number is
the question's place in its thread, so it means the same when others have been settled meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.errors import AmbiguousAnswer
from agent_core.thread.questions import Question
from channels.inbound import Message
from gateway.intake.words import Reading, read_words

_NUMBERED = re.compile(r"(?s)\s*#?(?P<number>\d{1,3})\s*(?P<mark>[.):,-]?)\s*(?P<rest>\S.*)")
_WORD = re.compile(r"[^\W_]{3,}")
_FILLERS = re.compile(
    r"(?i)\b(?:to|the|for|on|about|of|with|that|this|one|question|please"
    r"|zu|zur|zum|für|die|der|das|den|bitte|pour|le|la|les|au|por|para|el|al)\b"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer in words to one question."""

    question: Question
    reading: Reading


def read_reply(said: Message, asked: Mapping[int, Question]) -> Reply | None:
    """Read words as the answer to one of these, each by its number; None if they are none.

    Raises AmbiguousAnswer if they may answer several.
    """
    if said.question:  # it brings proof of which one
        asked = {number: one for number, one in asked.items() if one.id == said.question}
    fitting = {number: found for number, one in asked.items() if (found := _whole(said, one))}
    if len(asked) > 1:
        addressed = _by_number(said, asked) or _by_word(said, list(asked.values()))
        if addressed is not None:
            return addressed
    elif not fitting:
        return _by_number(said, asked)
    if len(fitting) > 1:
        raise AmbiguousAnswer(_which_one(asked))
    return next(iter(fitting.values()), None)


def is_plain_answer(said: Message, question: Question) -> bool:
    """Tell whether words can only be meant as the answer to this question."""
    if not said.may_answer:
        return False
    if said.question == question.id:
        return True
    return not said.question and question.kind != "text" and _whole(said, question) is not None


def _whole(said: Message, question: Question) -> Reply | None:
    return _read(said, question, _words(said, question))


def _words(said: Message, question: Question) -> str:
    """Give the words that may answer: in one's own words what is quoted may matter, too."""
    return said.text if question.kind == "text" else said.words or said.text


def _read(said: Message, question: Question, words: str) -> Reply | None:
    reading = read_words(question, words, names=said.actor.name)
    return None if reading is None else Reply(question, reading)


def _by_number(said: Message, asked: Mapping[int, Question]) -> Reply | None:
    """Read "2: yes"; a text may begin with a number for other reasons, unless it is marked."""
    found = _NUMBERED.fullmatch(said.words or said.text)
    if found is None:
        return None
    question = asked.get(int(found["number"]))
    if question is None:
        decided = [one for one in asked.values() if one.kind != "text"]
        if any(_read(said, one, found["rest"]) for one in decided):
            raise AmbiguousAnswer(_which_one(asked, missing=found["number"]))
        return None
    is_marked = bool(found["mark"]) or "#" in found[0][: found.start("number") + 1]
    if question.kind == "text" and (len(asked) == 1 or not is_marked):
        return None
    return _read(said, question, found["rest"])


def _by_word(said: Message, asked: Sequence[Question]) -> Reply | None:
    """Read "yes to the refund" where one question alone speaks of a refund."""
    text = said.words or said.text
    spoken = _tokens(text)
    meant = [(one, spoken & _own_words(one, asked)) for one in asked]
    named = [(one, words) for one, words in meant if words]
    if len(named) != 1:
        return None
    question, words = named[0]
    rest = re.sub(rf"(?i)\b(?:{'|'.join(map(re.escape, sorted(words)))})\b", " ", text)
    return _whole(said, question) or _read(said, question, _FILLERS.sub(" ", rest))


def _own_words(question: Question, asked: Sequence[Question]) -> set[str]:
    """Give the words of a question that no other one has."""
    others = [_spoken_of(one) for one in asked if one.id != question.id]
    return _spoken_of(question).difference(*others)


def _spoken_of(question: Question) -> set[str]:
    return _tokens(f"{question.prompt} {question.tool}".replace("_", " "))


def _tokens(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(_FILLERS.sub(" ", text))}


def _which_one(asked: Mapping[int, Question], *, missing: str = "") -> str:
    first = next(iter(asked))
    lines = [f"{number}. {one.prompt}" for number, one in asked.items()]
    begin = "Which one do you mean? Several questions are open here:"
    if missing:
        begin = f"Question {missing} is not open. These are:"
    end = f'Write its number before your answer, as in "{first}: yes", or use its buttons.'
    return "\n".join([begin, *lines, end])
