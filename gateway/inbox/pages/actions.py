"""What can be done to a thread, by how it stands and who looks at it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gateway.control.views import ThreadStatus
from storage.values import Scope

_BUSY: Final = ("queued", "running", "waiting")


class Action(Struct, frozen=True, kw_only=True, gc=False):
    """A button with what belongs to it."""

    name: str
    label: str
    hint: str
    scope: Scope
    when: tuple[ThreadStatus, ...]
    field: str = ""
    """The name of what may be typed beside it."""
    field_label: str = ""
    needs_words: bool = False
    is_grave: bool = False
    """It can't be undone: asked for twice."""


ACTIONS: Final = (
    Action(
        name="say",
        label="Say something",
        hint="The agent sees it at its next step; a finished thread goes on with it.",
        scope="launch",
        when=(*_BUSY, "paused", "finished", "failed"),
        field="text",
        field_label="Your message",
        needs_words=True,
    ),
    Action(
        name="pause",
        label="Pause",
        hint="Stops at once what may be stopped. Nothing is redone later.",
        scope="control",
        when=_BUSY,
        field="reason",
        field_label="Why, if you like",
    ),
    Action(
        name="resume",
        label="Resume",
        hint="Goes on from where it stood.",
        scope="control",
        when=("paused",),
        field="instruction",
        field_label="An instruction for the agent, if you like",
    ),
    Action(
        name="retry",
        label="Try again",
        hint="Goes on from where it failed; what is done is not repeated.",
        scope="control",
        when=("failed",),
    ),
    Action(
        name="fork",
        label="Fork",
        hint="A copy under a new id; what was done is not repeated, open questions are asked anew.",
        scope="control",
        when=(*_BUSY, "paused", "finished", "failed", "cancelled"),
        field="at",
        field_label="Up to event number (empty: all)",
    ),
    Action(
        name="cancel",
        label="Cancel",
        hint="For good: questions are withdrawn, and what was done is undone where it can be.",
        scope="control",
        when=(*_BUSY, "paused", "failed"),
        field="reason",
        field_label="Why, if you like: people are told",
        is_grave=True,
    ),
)


def offered(status: ThreadStatus, may: Callable[[Scope], bool]) -> tuple[Action, ...]:
    """Give the buttons that would do something for this person, now."""
    return tuple(one for one in ACTIONS if status in one.when and may(one.scope))
