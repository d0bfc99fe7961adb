"""Regret: words by which whoever approved something takes that back before it runs. Pure.

As with "never mind", only words that can mean nothing else, said alone. Whether it is too late is
for the core to say: then they are a message to the agent, which may know how to undo it.
"""

from __future__ import annotations

import unicodedata

from agent_core.thread.questions import QuestionId
from agent_core.thread.state import QuestionState, ThreadState
from channels.inbound import Message
from gateway.people.directory import Directory

_REGRETS = frozenset(
    {"i take it back", "i take that back", "take it back", "take that back", "taking it back"}
    | {"i take my approval back", "i take back my approval", "i revoke my approval"}
    | {"revoke my approval", "approval revoked", "i withdraw my approval"}
    | {"ich nehme das zurück", "ich nehme es zurück", "ich nehme meine zustimmung zurück"}
    | {"ich ziehe meine zustimmung zurück", "je retire mon accord", "je retire mon approbation"}
    | {"retiro mi aprobación", "retiro mi aprobacion", "retiro a minha aprovação"}
    | {"ritiro la mia approvazione", "ik trek mijn goedkeuring in", "jag tar tillbaka det"}
    | {"wycofuję zgodę", "odvolávám souhlas", "отзываю согласие", "я отзываю согласие"}
    | {"撤回批准", "我撤回批准", "承認を取り消します", "승인을 철회합니다"}
)
_LONGEST = 60
_ENDS = " \t\r\n.!,;…。！"  # noqa: RUF001 (as people type them)


def regretted(state: ThreadState, said: Message, people: Directory) -> QuestionId | None:
    """Find the approval that somebody takes back: the last that was theirs."""
    if not said.may_answer or not said.actor.is_authenticated or not _is_regret(said):
        return None
    who = people.whois(said.actor)
    theirs = [
        one.question.id
        for one in state.questions.values()
        if said.question in ("", one.question.id) and _is_approved_by(one, who, people)
    ]
    return theirs[-1] if theirs else None


def _is_regret(said: Message) -> bool:
    text = said.words or said.text  # their own: a mail brings what it answers along
    plain = unicodedata.normalize("NFKC", text).casefold().strip(_ENDS)
    return len(text) <= _LONGEST and " ".join(plain.split()) in _REGRETS


def _is_approved_by(one: QuestionState, who: str, people: Directory) -> bool:
    """Tell whether somebody has approved it, alone or with others."""
    if one.question.purpose != "approval" or one.status != "answered":
        return False
    match one.value:
        case {"approved": True}:
            voters = [(vote.by, vote.person) for vote in one.votes]
            known = {people.canonical(name) for pair in voters for name in pair if name}
            return people.canonical(who) in known | {people.canonical(one.settled_by)}
        case _:
            return False
