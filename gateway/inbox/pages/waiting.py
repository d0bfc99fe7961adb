"""A question as the inbox shows it: what is asked, exactly, by whom, how long it waits. Pure."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from agent_core.json_values import JsonObject
from agent_core.thread.events import Millis
from channels.outgoing import QuestionCard, Vote
from channels.posted_answers import Mistakes, Posted, card_digest, form_fields
from channels.proposals import proposed
from channels.spelling import spelled
from channels.verdicts import verdict
from gateway.inbox.pages.diffs import Row, side_by_side
from gateway.inbox.pages.inputs import Input, inputs
from gateway.inbox.pages.texts import Shown, clock, exact, iso, one_line, prose, span

_ALL: Final = 10_000_000
"""Characters: more than any call has. Of what is decided nothing may be left out."""
_TITLES: Final = {
    "text": "A question",
    "choice": "A choice",
    "approval": "Approval needed",
    "form": "A form",
    "event": "Waits for an event",
}
_SOON_MS: Final = 3_600_000


class Told(Struct, frozen=True, kw_only=True, gc=False):
    """What is known of the thread in which a question was asked."""

    agent: str = ""
    requester: str = ""


class VoteLine(Struct, frozen=True, kw_only=True, gc=False):
    """What somebody has said so far."""

    who: str
    said: str
    is_yes: bool
    comment: str
    at: str
    iso: str


class Proposal(Struct, frozen=True, kw_only=True, gc=False):
    """What a voter would have in place of what was asked."""

    button: str
    rows: tuple[Row, ...]


class Expiry(Struct, frozen=True, kw_only=True, gc=False):
    """When it is too late, and what that means."""

    left: str
    iso: str
    is_soon: bool
    means: str


class Item(Struct, frozen=True, kw_only=True, gc=False):
    """One question, ready to be shown."""

    id: str
    thread: str
    kind: str
    title: str
    status: str
    is_urgent: bool
    prompt: Shown
    context: Shown | None
    tool: str
    arguments: Shown | None
    has_arguments: bool
    options: tuple[tuple[str, str], ...]
    inputs: tuple[Input, ...]
    agent: str
    requester: str
    audience: str
    asked: str
    asked_iso: str
    age: str
    expiry: Expiry | None
    rules: str
    quorum: int
    yes: int
    votes: tuple[VoteLine, ...]
    proposal: Proposal | None
    verdict: str
    shown: str
    """Names what is looked at; posted back, so that nothing else is decided."""


def item(
    card: QuestionCard,
    told: Told,
    now: Millis,
    *,
    posted: Posted | None = None,
    mistakes: Mistakes | None = None,
) -> Item:
    """Make a question ready to be shown; with what was typed, where something is to mend."""
    arguments = card.arguments or {}
    return Item(
        id=card.id,
        thread=card.thread,
        kind=card.kind,
        title=_TITLES[card.kind] if card.status == "open" else "Settled",
        status=card.status,
        is_urgent=card.urgency == "high",
        prompt=prose(card.prompt),
        context=prose(card.context) if card.context.strip() else None,
        tool=one_line(card.tool),
        arguments=exact(spelled(arguments), most=_ALL) if arguments else None,
        has_arguments=bool(arguments),
        options=tuple((one_line(one.name), one_line(one.description)) for one in card.options),
        inputs=inputs(form_fields(card), posted, mistakes) if card.kind == "form" else (),
        agent=one_line(told.agent),
        requester=one_line(told.requester),
        audience=", ".join(one_line(one, 80) for one in card.audience),
        asked=clock(Millis(card.asked_at)),
        asked_iso=iso(Millis(card.asked_at)),
        age=span(now - card.asked_at),
        expiry=_expiry(card, now),
        rules=_rules(card),
        quorum=card.quorum,
        yes=_agreeing(card),
        votes=tuple(_vote(one) for one in card.votes),
        proposal=_proposal(card, arguments),
        verdict=_verdict(card),
        shown=card_digest(card),
    )


def _verdict(card: QuestionCard) -> str:
    """Say what became of it; nothing while it is open."""
    if card.status == "open":
        return ""
    return verdict(
        card,
        who=one_line(card.answered_by, 80),
        when="" if card.settled_at is None else f"{clock(Millis(card.settled_at))} UTC",
        chosen=one_line(str(card.answer)),
    )


def _expiry(card: QuestionCard, now: Millis) -> Expiry | None:
    if card.expires_at is None:
        return None
    left = card.expires_at - now
    return Expiry(
        left=f"in {span(left)}" if left > 0 else "now",
        iso=iso(Millis(card.expires_at)),
        is_soon=left < _SOON_MS,
        means="then it counts as a no" if card.expiry_denies else "",
    )


def _rules(card: QuestionCard) -> str:
    told = [f"{card.quorum} people must approve the very same."] if card.quorum > 1 else []
    told += ["Whoever asked for it can't approve it."] if card.not_requester else []
    return " ".join(told)


def _agreeing(card: QuestionCard) -> int:
    """Count the largest group that approves the same thing; a person's last word counts."""
    last: dict[str, Vote] = {one.by: one for one in card.votes}
    groups: dict[str, int] = {}
    for one in last.values():
        if one.approved:
            key = spelled(one.arguments) if one.arguments is not None else ""
            groups[key] = groups.get(key, 0) + 1
    return max(groups.values(), default=0)


def _vote(one: Vote) -> VoteLine:
    edited = " with other arguments" if one.arguments is not None else ""
    return VoteLine(
        who=one_line(one.by, 80),
        said=f"approved{edited}" if one.approved else "denied",
        is_yes=one.approved,
        comment=one_line(one.comment, 300),
        at=clock(Millis(one.at)),
        iso=iso(Millis(one.at)),
    )


def _proposal(card: QuestionCard, arguments: JsonObject) -> Proposal | None:
    newest = proposed(card)
    if newest is None:
        return None
    return Proposal(button=newest[0], rows=side_by_side(arguments, newest[1]))
