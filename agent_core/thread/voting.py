"""Who may decide, and when enough have: four eyes, quorum and veto. Pure.

Whether somebody is asked at all is the gateway's to say: it knows the people. Here it says only
which identities are one person's, so that nobody counts twice by another door.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from agent_core.errors import AlreadyVoted, MayNotDecide
from agent_core.json_values import Json
from agent_core.thread.questions import ANY_ONE, Question
from agent_core.thread.state import QuestionState, ThreadState, Vote

Canonical: TypeAlias = Callable[[str], str]
"""From any identity of a person to the one name that all of them have in common."""


def themselves(identity: str) -> str:
    """Take everybody for who they say: nobody has told which identities belong together."""
    return identity


class Decider(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Who decides: by which identity, who that is, and how to tell whether it is somebody else."""

    by: str = ""
    person: str = ""
    canonical: Canonical = themselves

    def is_any_of(self, *identities: str) -> bool:
        """Tell whether one of these is theirs."""
        return not _names(self.canonical, *identities).isdisjoint(
            _names(self.canonical, self.by, self.person)
        )

    def recorded(self) -> str:
        """Give who they are for the log; nothing, where the identity says as much."""
        return "" if self.person == self.by else self.person


def require_may_decide(
    state: ThreadState, question: Question, value: Json, decider: Decider
) -> None:
    """Refuse who can't be told apart where that matters, and requesters where four eyes count."""
    policy = question.policy
    if policy == ANY_ONE or is_denial(question, value):
        return
    if not decider.by:
        words = "It matters here who decides: say who you are."
        raise MayNotDecide(words, question=question.id)
    if policy.not_requester and decider.is_any_of(state.requester, state.requester_person):
        words = _FOUR_EYES["approval" if question.kind == "approval" else "answer"]
        raise MayNotDecide(words, question=question.id)


def takes_words(state: ThreadState, question: Question, decider: Decider) -> bool:
    """Tell whether a question in words takes theirs: what four eyes keep out is still a message."""
    is_requester = decider.is_any_of(state.requester, state.requester_person)
    return not (question.kind == "text" and question.policy.not_requester and is_requester)


_FOUR_EYES = {
    "approval": "You began this yourself, so somebody else must approve it. You may deny it.",
    "answer": "You began this yourself, so somebody else must answer it.",
}


def is_denial(question: Question, value: Json) -> bool:
    """Tell whether an answer says no to an approval."""
    return question.kind == "approval" and not value["approved"]


def decides(current: QuestionState, vote: Vote, decider: Decider) -> bool:
    """Tell whether this vote settles the question; one that says nothing new is refused."""
    policy = current.question.policy
    if policy.quorum == 1:
        return True
    _refuse_repeated(current, vote, decider)
    if not vote.value["approved"] and policy.veto:
        return True
    return alike((*current.votes, vote), vote, decider.canonical) >= policy.quorum


def alike(votes: Sequence[Vote], vote: Vote, canonical: Canonical) -> int:
    """Count the people whose last word was the same: yes to the very same thing, or no."""
    return sum(_says_same(one, vote) for one in standing(votes, canonical))


def standing(votes: Sequence[Vote], canonical: Canonical = themselves) -> list[Vote]:
    """Give each person's last vote, in order: whoever changed their mind counts once."""
    kept: list[Vote] = []
    for vote in votes:
        theirs = _names(canonical, vote.by, vote.person)
        kept = [one for one in kept if theirs.isdisjoint(_names(canonical, one.by, one.person))]
        kept.append(vote)
    return kept


def _refuse_repeated(current: QuestionState, vote: Vote, decider: Decider) -> None:
    votes = standing(current.votes, decider.canonical)
    if not any(decider.is_any_of(one.by, one.person) and _says_same(one, vote) for one in votes):
        return
    said = "approved" if vote.value["approved"] else "denied"
    missing = current.question.policy.quorum - alike(current.votes, vote, decider.canonical)
    people = "one more person" if missing == 1 else f"{missing} more people"
    raise AlreadyVoted(f"You have {said} this already; {people} must do so, too.")


def _says_same(one: Vote, other: Vote) -> bool:
    return one.value["approved"] is other.value["approved"] and one.digest == other.digest


def _names(canonical: Canonical, *identities: str) -> set[str]:
    return {canonical(one) for one in identities if one}
