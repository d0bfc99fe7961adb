"""What comes in from a channel, parsed: one of a few values that every channel shares.

Each has a `key`, the same for every copy of the same thing, so that a second one has no second
effect; and the `place` it was said in, an address that goes back there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_core.json_values import Json
from agent_core.thread.events import Attachment
from channels.people import Actor

CommandName = Literal["status", "pause", "resume", "cancel", "move", "help"]
Repeat = Literal["resume", "wait", "supersede"]
"""What words do to a thread that is there: go into it, wait until it rests, or end it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inbound:
    key: str
    place: str
    actor: Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(_Inbound):
    """Words. Where no thread is, they begin one only if they are addressed to the agent."""

    text: str
    words: str = ""
    """The writer's own words, where `text` also holds what they quote and answer line by line.

    A choice or a yes is looked for in these.
    """
    attachments: tuple[Attachment, ...] = ()
    others: tuple[str, ...] = ()
    """Ids of whom the writer brings into the conversation, such as those in Cc."""
    is_addressed: bool = False
    """A mention, a direct message, a mail to the agent's address."""
    agent: str = ""
    """Which agent begins a thread, where the source says so; else the channel's route does."""
    audience: tuple[str, ...] = ()
    """Who answers the questions of a thread that begins here, where the source says so."""
    watchers: tuple[str, ...] = ()
    """Addresses that hear of a thread that begins here, where the operator says so."""
    may_answer: bool = True
    """A person's own words; what a program has put together never answers a question."""
    is_alone: bool = False
    """Nothing but copies of it is ever said in this place, so the place need not be remembered."""
    said_at: int | None = None
    """When it was said, in milliseconds since 1970, where the channel knows it."""
    thread: str = ""
    """The thread it belongs to, where the channel has proof of that, such as a signed address.

    In a thread that is not theirs, people may say nothing: see `Received.is_stranger`.
    """
    question: str = ""
    """The question that it replies to, where the channel has proof of that."""
    is_private: bool = False
    """In a thread that is there already, only those who have a part in it may say something."""
    repeat: Repeat = "resume"
    """With `wait`, nothing is taken while the thread is under way: the channel keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(_Inbound):
    """The writer has changed a message that may have been taken before."""

    original: str
    """The key of the message as it first came."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(_Inbound):
    """A button, a filled form, or a link: the answer to exactly this question."""

    question: str
    value: Json
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(_Inbound):
    """Something to do with the threads of this place."""

    name: CommandName
    argument: str = ""
    """A thread's id, and after it an instruction for `resume`, a channel's name for `move`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(_Inbound):
    """The channel's own "stop": cancel what runs in this place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered(_Inbound):
    """What was sent has come back, after the channel had taken it for delivered."""

    delivery: str
    """The id of the delivery, in any letter case."""
    reason: str
    """Why, in the words of whoever sent it back."""


Inbound: TypeAlias = Message | Edit | Decision | Command | Stop | Undelivered
