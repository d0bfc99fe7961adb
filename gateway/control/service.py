"""The gateway, as everything else calls it: HTTP, the command line, and later every channel.

One method for each thing that people and programs can ask. Each reads the thread, lets
`agent_core.thread.commands` decide, and commits; nothing here runs an agent. Methods raise the
errors of `agent_core.errors` (Refused and its kin), of `storage.errors`, and those below.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal, Protocol, TypeAlias

from agent_core.errors import ParleyError
from agent_core.json_values import JsonObject
from agent_core.thread.events import Event
from gateway.control.views import (
    DeliveryList,
    EventView,
    HaltView,
    Launch,
    QuestionList,
    QuestionView,
    ThreadList,
    ThreadView,
)

Until: TypeAlias = Literal["rest", "end"]
"""`rest`: nothing happens until somebody does something; `end`: nothing is left to be done."""


class NotFound(ParleyError):
    """There is no such thread, question or agent."""


class AlreadyHere(ParleyError):
    """A thread of that id is here already."""


class IdempotencyConflict(ParleyError):
    """The key was used before, with another request."""


class TooBusy(ParleyError):
    """Too much is waiting already; try again after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Purger(Protocol):
    """Who deletes threads."""

    async def purge_one(self, thread: str, *, by: str) -> None:
        """Delete a thread with all that hangs on it.

        NotFound if there is none, WrongStatus if it is not over.
        """
        ...


class Gateway(Protocol):
    """What can be asked of the gateway."""

    async def launch(
        self, launch: Launch, *, by: str, origin: str = "", idempotency_key: str = ""
    ) -> tuple[ThreadView, bool]:
        """Begin a thread, or take up the one with that `thread_key`; tell whether it is new.

        A repeated `idempotency_key` (scoped to `by`) gives the same thread (False); with another
        body, IdempotencyConflict. Unknown agent: NotFound. Queue full: TooBusy.
        """
        ...

    async def say(
        self, thread: str, text: str, *, by: str, idempotency_key: str = ""
    ) -> ThreadView:
        """Say something more."""
        ...

    async def answer(
        self,
        question: str,
        value: Any,  # noqa: ANN401 (any JSON)
        *,
        by: str,
        comment: str = "",
        how: str = "",
    ) -> QuestionView:
        """Answer a question. Late or wrong ones are refused (and late ones noted in the log).

        Where several people decide, it stays open until enough have said the same. `how` they are
        known to be who they are stands in the log; an API key, unless it is said.
        """
        ...

    async def withdraw(self, question: str, *, by: str, reason: str = "") -> QuestionView:
        """Take a question back; the agent is told. One that is settled: AlreadySettled."""
        ...

    async def take_back(self, question: str, *, by: str, reason: str = "") -> QuestionView:
        """Take back an approval of what has not begun to run; it is asked anew. Else: TooLate."""
        ...

    async def pause(self, thread: str, *, by: str, reason: str = "") -> ThreadView:
        """Hold it."""
        ...

    async def resume(self, thread: str, *, by: str, instruction: str = "") -> ThreadView:
        """Let it go on after a pause."""
        ...

    async def cancel(self, thread: str, *, by: str, reason: str = "") -> ThreadView:
        """Stop it for good."""
        ...

    async def move(self, thread: str, channel: str, *, by: str) -> ThreadView:
        """Let it go on by another channel, with who began it."""
        ...

    async def retry(self, thread: str, *, by: str) -> ThreadView:
        """Try again after a failure."""
        ...

    async def fork(self, thread: str, *, by: str, at: int | None = None) -> ThreadView:
        """Copy it up to an event, under a new id."""
        ...

    async def thread(self, thread: str) -> ThreadView:
        """One thread; NotFound if there is none."""
        ...

    async def threads(
        self, *, status: str = "", agent: str = "", cursor: str = "", limit: int = 50
    ) -> ThreadList:
        """List threads, newest first."""
        ...

    async def question(self, question: str) -> QuestionView:
        """Show one question; NotFound if there is none."""
        ...

    async def questions(
        self, *, status: str = "", cursor: str = "", limit: int = 50
    ) -> QuestionList:
        """List questions, oldest first."""
        ...

    async def events(self, thread: str, *, after: int = 0, limit: int = 1000) -> list[EventView]:
        """A piece of the log, oldest first; NotFound if there is no such thread."""
        ...

    async def deliveries(self, thread: str) -> DeliveryList:
        """Who heard of it where, in order; NotFound if there is no such thread."""
        ...

    def follow(self, thread: str, *, after: int = 0) -> AsyncIterator[EventView]:
        """The log from there on, live, without an end of its own."""
        ...

    def following(self, thread: str, *, after: int = 0) -> AsyncIterator[list[Event]]:
        """The same in pieces, as the log has them."""
        ...

    def stirred(self) -> AsyncIterator[None]:
        """Tell at once, and then whenever something may have changed anywhere, without an end."""
        ...

    def parameters(self, agent: str, tool: str) -> JsonObject | None:
        """Give what a tool takes, as a JSON schema; None if this process doesn't know it."""
        ...

    async def wait(self, thread: str, *, seconds: float, until: Until = "rest") -> ThreadView:
        """Give the thread when it has come to rest, or to its end (or the time is over)."""
        ...

    async def told(self, thread: str) -> dict[str, list[str]]:
        """Name the channels in which people hear of each question; NotFound as for `thread`."""
        ...

    async def halt(self, reason: str, *, by: str) -> HaltView:
        """Let no model or tool be called anywhere."""
        ...

    async def lift(self, *, by: str) -> HaltView:
        """Let everything go on."""
        ...

    async def halted(self) -> HaltView:
        """Tell whether the kill switch is pulled."""
        ...

    async def export(self, thread: str) -> str:
        """The whole thread as a checkpoint's text."""
        ...

    async def import_(self, checkpoint: str, *, by: str) -> ThreadView:
        """Take over a thread from another installation, under its own id, if it isn't here."""
        ...

    async def ready(self) -> None:
        """Raise a StoreError if the gateway can't serve."""
        ...
