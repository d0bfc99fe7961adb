"""Never mind: words by which whoever began a thread takes its question back. Pure.

Only words that can mean nothing else, said alone: "never mind the price" is something to tell the
agent. With several questions open, a number says which.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from agent_core.errors import AmbiguousAnswer
from agent_core.thread import commands
from agent_core.thread.events import Event, Millis
from agent_core.thread.state import QuestionState, ThreadState
from channels.inbound import Message
from gateway.people.directory import Directory

_NEVER_MIND = frozenset(
    {"never mind", "nevermind", "nvm", "forget it", "forget about it", "forget that"}
    | {"no longer needed", "not needed anymore", "not needed any more", "scratch that"}
    | {"vergiss es", "vergessen sie es", "hat sich erledigt", "schon erledigt", "doch nicht"}
    | {"laisse tomber", "laissez tomber", "oublie", "oubliez", "oublie ça", "oubliez ça"}
    | {"olvídalo", "olvidalo", "olvídelo", "olvidelo", "déjalo", "dejalo", "ya no hace falta"}
    | {"deixa pra lá", "deixa para lá", "esquece", "esqueça"}
    | {"lascia stare", "lasci stare", "lascia perdere", "lasci perdere", "non serve più"}
    | {"laat maar", "niet meer nodig", "strunt i det", "glöm det", "glem det", "unohda koko juttu"}
    | {"nieważne", "zapomnij", "już nie trzeba", "to je jedno", "nech to být", "nechte to být"}
    | {"забудь", "забудьте", "неважно", "уже не надо", "вже не треба", "boşver", "boş ver"}
    | {"やっぱりいいです", "もういいです", "算了", "不用了", "됐어요", "잊어버려", "لا عليك"}
)
_LONGEST = 60
_NUMBERED = re.compile(r"(?s)(?P<words>.*?)[\s,:]*#?(?P<number>\d{1,3})?")
_ENDS = " \t\r\n.!,;…。！"  # noqa: RUF001 (as people type them)


def never_minded(state: ThreadState, said: Message, people: Directory, now: Millis) -> list[Event]:
    """Withdraw the question that whoever began the thread no longer needs; else nothing."""
    words = said.words or said.text  # their own: a mail brings what it answers along
    number = read_never_mind(words) if said.may_answer else None
    if number is None or not said.actor.is_authenticated:
        return []
    requesters = (state.requester, state.requester_person)
    if not any(one and people.may_control(said.actor, one) for one in requesters):
        return []
    asked = {
        place: one
        for place, one in enumerate(state.questions.values(), start=1)
        if one.status == "open" and _is_about(said, one)
    }
    if not asked:
        return []
    chosen = _chosen(asked, number)
    reason = f'they said "{words.strip()}"'
    return commands.withdraw(state, chosen.question.id, at=now, reason=reason, by=said.actor.id)


def read_never_mind(text: str) -> int | None:
    """Give the number that goes with a "never mind", 0 without one, or None for other words."""
    if len(text) > _LONGEST:
        return None
    plain = unicodedata.normalize("NFKC", text).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    found = _NUMBERED.fullmatch(plain.casefold().strip(_ENDS))
    if found is None or " ".join(found["words"].strip(_ENDS).split()) not in _NEVER_MIND:
        return None
    return int(found["number"] or 0)


def _is_about(said: Message, current: QuestionState) -> bool:
    """Tell whether words can be about a question: not about another, or one that came later."""
    if said.question not in ("", current.question.id):
        return False
    return said.said_at is None or said.said_at >= current.asked_at


def _chosen(asked: Mapping[int, QuestionState], number: int) -> QuestionState:
    """Find the one that is meant, by its place in the thread, as answers in words do."""
    if number in asked:
        return asked[number]
    if len(asked) == 1 and number == 0:
        return next(iter(asked.values()))
    lines = [f"{place}. {one.question.prompt}" for place, one in asked.items()]
    raise AmbiguousAnswer(
        "\n".join(
            [
                "Several questions are open here. Which one is not needed any more?",
                *lines,
                f'Write "never mind" with its number, as in "never mind {min(asked)}".',
            ]
        )
    )
