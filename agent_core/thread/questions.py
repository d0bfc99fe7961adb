"""A question to people as a value: what is asked, of whom, who decides, how long to wait.

Who the names in `to` are, and where they are reached, is the operator's to say, not ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NewType, TypeAlias, get_args

import msgspec

from agent_core.errors import DefinitionError
from agent_core.json_values import JsonObject

QuestionId = NewType("QuestionId", str)
CallKey = NewType("CallKey", str)
"""`SEQ.INDEX` of the model's reply and the call in it: servers' own call ids are not unique."""

Kind = Literal["text", "choice", "approval", "form", "event"]
Urgency = Literal["low", "normal", "high"]
Purpose = Literal["approval", "ask", "outcome", "limit", "failures"]
ResumeTo = Literal["next", "self", "ask", "event"]
OnExpiry = Literal["deny", "escalate", "tell_agent", "wait"]

_MOST_GROWTH = 10


def _is_from_1(number: object) -> bool:
    return type(number) is int and number >= 1


def _check_seconds(name: str, seconds: object) -> None:
    if seconds is not None and not _is_from_1(seconds):
        raise DefinitionError(f"{name} is a whole number of seconds, not {seconds!r}")


class Option(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One of the answers that a choice offers; its name is the answer's value."""

    name: str
    description: str = ""


class Escalation(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """A step of a chain: who is asked as well, and how long they have before the next step."""

    to: tuple[str, ...]
    after: int | None = None
    """In seconds; as long as the question had at first, unless it says so."""

    def __post_init__(self) -> None:
        """Refuse a step that leads nowhere."""
        if type(self.to) is not tuple or not self.to:
            raise DefinitionError(f"an escalation goes to a tuple of names, not {self.to!r}")
        _check_seconds("after", self.after)


class Waiting(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """How long to wait for people, in seconds, and what to do when nobody answers."""

    remind_after: int | None = None
    expires_after: int | None = None
    on_expiry: OnExpiry = "tell_agent"
    escalate_to: tuple[str | Escalation, ...] = ()
    """One after the other; a mere name has as long as the question had at first."""
    remind_times: int | None = None
    """How many reminders there are at the most, for the first people and at each escalation."""
    remind_growth: int = 1
    """How many times longer each further wait for a reminder is than the one before."""

    def __post_init__(self) -> None:
        """Refuse what no timer can follow, where it is written."""
        _check_seconds("remind_after", self.remind_after)
        _check_seconds("expires_after", self.expires_after)
        if self.on_expiry not in get_args(OnExpiry):
            choices = ", ".join(get_args(OnExpiry))
            raise DefinitionError(f"on_expiry is one of {choices}, not {self.on_expiry!r}")
        if not isinstance(self.escalate_to, tuple):
            raise DefinitionError(f"escalate_to is a tuple of names, not {self.escalate_to!r}")
        if self.remind_times is not None and not _is_from_1(self.remind_times):
            raise DefinitionError(f"remind_times is 1 or more, not {self.remind_times!r}")
        if not _is_from_1(self.remind_growth) or self.remind_growth > _MOST_GROWTH:
            raise DefinitionError(
                f"remind_growth is a whole number from 1 to {_MOST_GROWTH}, "
                f"not {self.remind_growth!r}"
            )

    def escalation_names(self) -> tuple[str, ...]:
        """Give everybody whom it may go on to."""
        return tuple(name for step in self.chain() for name in step.to)

    def chain(self) -> tuple[Escalation, ...]:
        """Give every step of the escalation, with its time."""
        steps = (
            one if isinstance(one, Escalation) else Escalation((one,)) for one in self.escalate_to
        )
        return tuple(Escalation(one.to, one.after or self.expires_after) for one in steps)


NO_WAITING_RULES = Waiting()
"""Wait for ever. The one instance, so that a question is written without it."""

WaitingRules: TypeAlias = Mapping[Urgency, Waiting]
"""How long questions wait that don't say so themselves, by how urgent they are."""


def waiting_rules(given: Waiting | WaitingRules) -> WaitingRules:
    """Give the rules for every urgency, from one for all or from some."""
    urgencies: tuple[Urgency, ...] = get_args(Urgency)
    if isinstance(given, Waiting):
        return dict.fromkeys(urgencies, given)
    for urgency in given:
        if urgency not in urgencies:
            names = ", ".join(urgencies)
            raise DefinitionError(f"waiting goes by urgency ({names}), not by {urgency!r}")
    return {**dict.fromkeys(urgencies, NO_WAITING_RULES), **given}


WAIT_FOR_EVER = waiting_rules(NO_WAITING_RULES)


class Policy(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What it takes to decide, beside being asked: how many people, and who may not."""

    quorum: int = 1
    """How many different people must approve the very same thing."""
    not_requester: bool = False
    """Four eyes: whoever began the thread can't approve in it, but may deny."""
    veto: bool = True
    """One denial is enough; else it takes as many as an approval."""

    def __post_init__(self) -> None:
        """Refuse what nobody could ever fulfil, where it is written."""
        if not _is_from_1(self.quorum):
            raise DefinitionError(f"quorum is a number of people, 1 or more, not {self.quorum!r}")
        if {type(self.not_requester), type(self.veto)} != {bool}:
            raise DefinitionError("not_requester and veto are True or False")


ANY_ONE = Policy()
"""The first valid answer decides. The one instance, so that a question is written without it."""


class Question(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    gc=False,
):
    """What an agent wants from people; its id is the handle of the pause."""

    id: QuestionId
    kind: Kind
    prompt: str
    purpose: Purpose = "ask"
    call: CallKey | None = None
    context: str = ""
    options: tuple[Option, ...] = ()
    schema: JsonObject | None = None
    tool: str = ""
    arguments: JsonObject | None = None
    digest: str = ""
    payload: JsonObject | None = None
    key: str = ""
    """Of an event: what the outside knows it by; see `awaited`."""
    to: tuple[str, ...] = ()
    urgency: Urgency = "normal"
    wait: bool = True
    resume_to: ResumeTo = "next"
    handler: str = ""
    waiting: Waiting = NO_WAITING_RULES
    policy: Policy = ANY_ONE

    @property
    def awaited(self) -> str:
        """The key of the event that this waits for; without one of its own, the question's id.

        Not written into the log: a copy in a fork has another id, and so another key.
        """
        return self.key or self.id


OUTCOME_OPTIONS = (
    Option("it_happened", "It took effect. Don't run it again; the agent goes on."),
    Option("run_again", "It had no effect. Run it again, with the same idempotency key."),
    Option("skip", "Leave it. The agent is told that the outcome is unknown."),
)
"""What a person can say of a call that a crash cut off."""

LIMIT_OPTIONS = (
    Option("go_on", "Let the agent go on for as long again."),
    Option("stop", "Finish here, with what there is."),
)
"""What a person can say when a limit stopped the agent."""

YES_NO = (Option("yes"), Option("no"))
