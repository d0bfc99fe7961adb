"""What a channel may ask of the gateway: take this, show me that, keep this for me.

The gateway implements these; a channel is handed them when it starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agent_core.errors import ParleyError
from agent_core.json_values import JsonObject
from channels.inbound import Inbound
from channels.outgoing import QuestionCard
from channels.people import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What became of something that came in. It is durable by now."""

    effect: Literal["taken", "copy", "ignored", "refused", "waiting"]
    """`copy`: it was taken before. `ignored`: it is not for us. `refused`: tell them why.

    `waiting`: nothing was taken, because the thread is under way and the message is to wait.
    """
    thread: str = ""
    words: str = ""
    """For the actor alone: why not, or the answer to a command. Empty: nothing to say."""
    is_shape: bool = False
    """Refused for its form: the person can mend it and send it again."""
    is_new: bool = False
    """It began a thread."""
    is_unclear: bool = False
    """Kept for the agent, but it is no answer to the question it replies to: see `words`."""
    is_stranger: bool = False
    """Refused, because they have no part in the thread."""


class Intake(Protocol):
    """The way in."""

    async def receive(self, inbound: Inbound) -> Received:
        """Verify who it is, find the thread, append, wake: durable when this returns.

        Raises a StoreError or TooBusy when it could not be taken now: the channel must then not
        acknowledge, so that the other side sends it again.
        """
        ...


class Desk(Protocol):
    """A look at what waits."""

    async def question(self, question: str) -> QuestionCard | None:
        """Give a question as it is now."""
        ...

    async def may_answer(self, question: str, actor: Actor, place: str) -> bool:
        """Tell whether it is worth showing somebody a form; the intake decides in the end."""
        ...

    async def waiting_for(self, actor: Actor) -> Sequence[QuestionCard]:
        """Give the open questions that this person may answer, most urgent and oldest first."""
        ...

    async def thread_view(self, thread: str) -> JsonObject | None:
        """Give a thread as the API shows it now: for programs, not for people."""
        ...

    async def question_view(self, question: str) -> JsonObject | None:
        """Give a question as the API shows it now."""
        ...


class SealBroken(ParleyError):
    """What was kept can't be opened: the operator must act, and no value is made up."""


class Memory(Protocol):
    """What a channel must remember across restarts and machines; sealed with the secret key."""

    async def recall(self, key: str) -> bytes | None:
        """Give what was kept, or raise SealBroken."""
        ...

    async def keep(self, key: str, value: bytes | None, *, seconds: float | None = None) -> None:
        """Keep it (for so long); None forgets."""
        ...

    async def take(self, key: str) -> bytes | None:
        """Give it to exactly one caller, and forget it, also where it raises SealBroken."""
        ...

    async def keys(self, prefix: str = "") -> list[str]:
        """Name what is kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatehouse:
    """What a channel is handed when it starts."""

    intake: Intake
    desk: Desk
    memory: Memory
