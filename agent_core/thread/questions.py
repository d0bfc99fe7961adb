"""A question to people as a value: what is asked, of whom, and how long to wait.

Who the names in `to` are, and where they are reached, is the operator's to say, not ours.
"""

from __future__ import annotations

from typing import Literal, NewType, get_args

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


class Option(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One of the answers that a choice offers; its name is the answer's value."""

    name: str
    description: str = ""


class Waiting(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """How long to wait for people, in seconds, and what to do when nobody answers."""

    remind_after: int | None = None
    expires_after: int | None = None
    on_expiry: OnExpiry = "tell_agent"
    escalate_to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no timer can follow, where it is written."""
        for name in ("remind_after", "expires_after"):
            seconds = getattr(self, name)
            if seconds is not None and (type(seconds) is not int or seconds <= 0):
                raise DefinitionError(f"{name} is a whole number of seconds, not {seconds!r}")
        if self.on_expiry not in get_args(OnExpiry):
            choices = ", ".join(get_args(OnExpiry))
            raise DefinitionError(f"on_expiry is one of {choices}, not {self.on_expiry!r}")
        if not isinstance(self.escalate_to, tuple):
            raise DefinitionError(f"escalate_to is a tuple of names, not {self.escalate_to!r}")


NO_WAITING_RULES = Waiting()
"""Wait for ever. The one instance, so that a question is written without it."""


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
    to: tuple[str, ...] = ()
    urgency: Urgency = "normal"
    wait: bool = True
    resume_to: ResumeTo = "next"
    handler: str = ""
    waiting: Waiting = NO_WAITING_RULES


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
