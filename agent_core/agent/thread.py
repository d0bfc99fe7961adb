"""A thread in this process: run it, and talk to it, pause it or cancel it while it runs.

thread = agent.launch("refund order 123")
async with asyncio.TaskGroup() as tasks:
    running = tasks.create_task(thread.run())
    await thread.pause(by="otto")
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.agent.outcome import Outcome, outcome_of
from agent_core.errors import WrongShape, WrongStatus
from agent_core.json_values import Json, JsonObject
from agent_core.loop.definition import Definition
from agent_core.loop.deploys import give_up_changed, require_same_tools
from agent_core.loop.journal import MemoryJournal
from agent_core.loop.run import Run
from agent_core.loop.world import World, fresh_question_id
from agent_core.thread import commands, timers
from agent_core.thread.answers import require_open, sort_answers
from agent_core.thread.events import Event
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState
from agent_core.tools.signature import BadArguments


class Thread:
    """One thread of an agent's, with its log in memory."""

    def __init__(self, definition: Definition, journal: MemoryJournal, world: World) -> None:
        """Made by `agent.launch` and `agent.open`."""
        self._definition = definition
        self._journal = journal
        self._world = world
        self._running = False

    @property
    def state(self) -> ThreadState:
        """All that is known of it."""
        return self._journal.state

    @property
    def checkpoint(self) -> str:
        """The thread as JSON text, as of now."""
        return self._journal.log.text()

    @property
    def events(self) -> list[Event]:
        """The log so far."""
        return list(self._journal.log.events)

    async def run(self) -> Outcome:
        """Advance it until it finishes, fails or waits for people."""
        if self._running:
            raise WrongStatus("the thread is running already: one run at a time")
        if self.state.lifecycle == "active":
            require_same_tools(self._definition, self.state)
        self._running = True
        try:
            await Run(self._definition, self._journal, self.state, self._world).to_rest()
        finally:
            self._running = False
        return self.outcome()

    def outcome(self) -> Outcome:
        """Tell how it stands, without advancing it."""
        return outcome_of(self.state, self.checkpoint)

    async def say(self, text: str, *, sender: str = "") -> None:
        """Say something more; the model sees it at its next turn."""
        await self._do(commands.receive(self.state, text, at=self._world.now(), sender=sender))

    async def answer(self, answer: Json, *, by: str = "", comment: str = "") -> None:
        """Answer the open question, or several as `{question id: answer}`."""
        require_same_tools(self._definition, self.state)
        events = commands.answer(
            self.state,
            sort_answers(self.state, answer),
            at=self._world.now(),
            check_arguments=self._check_arguments,
            by=by,
            comment=comment,
        )
        await self._do(events)

    async def withdraw(self, question: str, *, reason: str = "", by: str = "") -> None:
        """Take a question back."""
        key = QuestionId(question)
        await self._do(
            commands.withdraw(self.state, key, at=self._world.now(), reason=reason, by=by)
        )

    async def take_back(self, question: str, *, reason: str = "", by: str = "") -> None:
        """Take back the approval of what has not begun to run; it is asked anew."""
        events = commands.take_back(
            self.state,
            QuestionId(question),
            at=self._world.now(),
            new_question=fresh_question_id(self._world, self.state),
            by=by,
            reason=reason,
        )
        await self._do(events)

    async def expire(self, question: str) -> None:
        """End a question as if its time had run out."""
        key = QuestionId(question)
        require_open(self.state, key)
        await self._do(timers.expire(self.state, key, self._world.now()))

    async def tick(self) -> None:
        """Do what the timers have due by now: remind, escalate, expire."""
        await self._do(timers.due(self.state, self._world.now()))

    async def pause(self, *, by: str = "", reason: str = "") -> None:
        """Hold it; what may be stopped stops at once."""
        await self._do(commands.pause(self.state, at=self._world.now(), by=by, reason=reason))

    async def resume(self, *, instruction: str = "", by: str = "") -> None:
        """Let it go on after a pause."""
        now = self._world.now()
        await self._do(commands.resume(self.state, at=now, by=by, instruction=instruction))

    async def retry(self, *, instruction: str = "", by: str = "") -> None:
        """Let it go on after a failure."""
        now = self._world.now()
        await self._do(commands.retry(self.state, at=now, by=by, instruction=instruction))

    async def cancel(self, *, reason: str = "", by: str = "") -> None:
        """Stop it for good; running it on undoes what was done."""
        await self._do(commands.cancel(self.state, at=self._world.now(), by=by, reason=reason))

    async def close(self, *, withdraw: bool = False, result: str | None = None) -> None:
        """Finish it here; refused while people are being asked, unless told to withdraw."""
        now = self._world.now()
        await self._do(commands.close(self.state, at=now, withdraw_open=withdraw, result=result))

    async def give_up_changed_calls(self) -> None:
        """Settle open calls whose tools have changed since; the model is told, nothing runs."""
        await self._do(give_up_changed(self._definition, self.state, self._world.now()))

    def _check_arguments(self, tool: str, arguments: JsonObject) -> JsonObject:
        try:
            self._definition.tools[tool].signature.validate(arguments)
        except BadArguments as exc:
            raise WrongShape(f"The changed arguments don't fit {tool}: {exc}") from exc
        return arguments

    async def _do(self, events: Sequence[Event]) -> None:
        if events:
            await self._journal.append(events)
