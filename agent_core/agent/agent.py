"""`Agent`: a name, instructions, tools and a model; run it, and resume it from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from agent_core.agent.outcome import Outcome
from agent_core.agent.thread import Thread
from agent_core.context.chat import render_chat
from agent_core.context.compaction import Compaction
from agent_core.errors import DefinitionError, WrongAgent
from agent_core.json_values import Json, plain_object
from agent_core.loop.definition import Definition, Render
from agent_core.loop.journal import MemoryJournal
from agent_core.loop.world import World
from agent_core.models import Model, OpenAIChat, RetryPolicy
from agent_core.thread.checkpoint import Log
from agent_core.thread.events import Event, LimitAction, MessageReceived, ThreadId, ThreadLaunched
from agent_core.thread.fold import fold
from agent_core.thread.fork import fork
from agent_core.thread.limits import NO_LIMIT, Limit
from agent_core.thread.questions import (
    NO_WAITING_RULES,
    QuestionId,
    Waiting,
    WaitingRules,
    waiting_rules,
)
from agent_core.thread.state import ThreadState
from agent_core.tools.handler import Handler
from agent_core.tools.tool import Tool
from agent_core.tools.tool import tool as as_tool


class _Nothing:
    """No answer at all: `None` would be one."""


_NOTHING = _Nothing()


class Agent:
    """An agent that can wait for people.

    model: a Model, or the name of one on the server that OPENAI_BASE_URL and OPENAI_API_KEY name.
    limits, on_limit: when to stop, and whether a person is then asked, or it finishes or fails.
    waiting: how long questions wait, unless they say so themselves: one rule, or by urgency.
    ask_after_failures: after so many failed calls in a row a person is asked; 0 for never.
    render: from a thread and the instructions to the model's messages, in place of our own way.
    compaction: when a long thread is summarised for the model; None for never.
    world: the clock, ids, chance and the kill switch; a test brings its own.
    """

    def __init__(
        self,
        name: str,
        instructions: str = "",
        tools: Iterable[Tool | Callable[..., Any]] = (),
        *,
        model: Model | str | None = None,
        limits: Limit = NO_LIMIT,
        on_limit: LimitAction = "ask",
        waiting: Waiting | WaitingRules = NO_WAITING_RULES,
        ask_after_failures: int = 3,
        render: Render = render_chat,
        compaction: Compaction | None = Compaction(),
        model_retries: RetryPolicy = RetryPolicy(),
        undo_attempts: int = 3,
        world: World = World(),
    ) -> None:
        """Define the agent; what can't work is refused here, not on the first message."""
        if not name.strip():
            raise DefinitionError("an agent needs a name")
        if on_limit not in ("ask", "finish", "fail"):
            raise DefinitionError(f'on_limit is "ask", "finish" or "fail", not {on_limit!r}')
        if ask_after_failures < 0 or undo_attempts < 1:
            raise DefinitionError("ask_after_failures is 0 or more, undo_attempts 1 or more")
        self.name = name
        self._handlers: dict[str, Handler] = {}
        self._world = world
        self.definition = Definition(
            name=name,
            instructions=instructions,
            tools=_by_name(name, tools),
            handlers=self._handlers,
            model=OpenAIChat(model=model) if model is None or isinstance(model, str) else model,
            limits=limits,
            on_limit=on_limit,
            render=render,
            compaction=compaction,
            waiting=waiting_rules(waiting),
            ask_after_failures=ask_after_failures,
            model_retries=model_retries,
            undo_attempts=undo_attempts,
        )

    def __repr__(self) -> str:
        """Show which agent it is."""
        return f"Agent({self.name!r})"

    def on(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare where to go on after `pause_for(resume_to={"event": name})`."""

        def declare(function: Callable[..., Any]) -> Callable[..., Any]:
            if name in self._handlers:
                raise DefinitionError(f"{self.name} has a handler for {name!r} already")
            self._handlers[name] = Handler(name, function)
            return function

        return declare

    # Threads

    def launch(
        self,
        text: str,
        *,
        requester: str = "",
        origin: str = "",
        metadata: Mapping[str, Json] | None = None,
        thread: str | None = None,
    ) -> Thread:
        """Begin a thread; nothing runs until `thread.run()`."""
        now = self._world.now()
        launched = ThreadLaunched(
            at=now,
            thread=ThreadId(thread or self._world.new_id("th")),
            agent=self.name,
            requester=requester,
            origin=origin,
            metadata=plain_object(dict(metadata or {}), "metadata"),
        )
        return self._thread_of([launched, MessageReceived(at=now, text=text, sender=requester)])

    def open(self, checkpoint: str | bytes) -> Thread:
        """Take up a thread from its checkpoint; nothing runs until `thread.run()`."""
        log, state = Log.read(checkpoint)
        if state.agent != self.name:
            raise WrongAgent(f"this thread belongs to agent {state.agent!r}, not to {self.name!r}")
        return self._thread(log, state)

    def fork(self, checkpoint: str | bytes, at: int | None = None) -> Thread:
        """Copy a thread up to event `at` under a new id, with open questions asked anew."""
        forked = fork(
            self.open(checkpoint).events,
            at_seq=at,
            thread=ThreadId(self._world.new_id("th")),
            now=self._world.now(),
            new_question=lambda: QuestionId(self._world.new_id("q")),
        )
        return self._thread_of(forked)

    # One call each, from text or checkpoint to outcome

    async def run(
        self,
        text: str,
        *,
        requester: str = "",
        origin: str = "",
        metadata: Mapping[str, Json] | None = None,
    ) -> Outcome:
        """Start a thread, and run it until it finishes, fails or waits for people."""
        thread = self.launch(text, requester=requester, origin=origin, metadata=metadata)
        return await thread.run()

    async def resume(
        self,
        checkpoint: str | bytes,
        answer: Json = _NOTHING,
        *,
        by: str = "",
        comment: str = "",
        instruction: str = "",
        changed_tools: Literal["refuse", "tell_agent"] = "refuse",
    ) -> Outcome:
        """Go on from a checkpoint: with the answer to its question, or after a pause.

        answer: for the one open question, or `{question id: answer}` for one or several.
        instruction: what the agent should bear in mind from here on.
        changed_tools: whether a call whose tool has changed since is refused with ToolsChanged,
            or given up, which the model is then told.
        """
        thread = self.open(checkpoint)
        if changed_tools == "tell_agent":
            await thread.give_up_changed_calls()
        if not isinstance(answer, _Nothing):
            await thread.answer(answer, by=by, comment=comment)
        if thread.state.lifecycle == "paused":
            await thread.resume(instruction=instruction, by=by)
        elif instruction:
            await thread.say(instruction, sender=by)
        return await thread.run()

    async def say(self, checkpoint: str | bytes, text: str, *, sender: str = "") -> Outcome:
        """Say something more to a thread, also to a finished one, and run it on."""
        thread = self.open(checkpoint)
        await thread.say(text, sender=sender)
        return await thread.run()

    async def retry(
        self, checkpoint: str | bytes, *, instruction: str = "", by: str = ""
    ) -> Outcome:
        """Go on after a failure, from where it stood."""
        thread = self.open(checkpoint)
        await thread.retry(instruction=instruction, by=by)
        return await thread.run()

    async def pause(self, checkpoint: str | bytes, *, by: str = "", reason: str = "") -> Outcome:
        """Hold a thread that is at rest."""
        thread = self.open(checkpoint)
        await thread.pause(by=by, reason=reason)
        return thread.outcome()

    async def cancel(self, checkpoint: str | bytes, *, reason: str = "", by: str = "") -> Outcome:
        """Stop a thread for good, and undo what its tools know how to undo."""
        thread = self.open(checkpoint)
        await thread.cancel(reason=reason, by=by)
        return await thread.run()

    async def close(
        self, checkpoint: str | bytes, *, withdraw: bool = False, result: str | None = None
    ) -> Outcome:
        """Finish a thread here; its open questions must be withdrawn, and told so."""
        thread = self.open(checkpoint)
        await thread.close(withdraw=withdraw, result=result)
        return thread.outcome()

    async def tick(self, checkpoint: str | bytes) -> Outcome:
        """Do what the timers have due by now, and run on if that set something free."""
        thread = self.open(checkpoint)
        await thread.tick()
        return await thread.run()

    async def expire(self, checkpoint: str | bytes, question: str) -> Outcome:
        """End a question as if its time had run out, and run on."""
        thread = self.open(checkpoint)
        await thread.expire(question)
        return await thread.run()

    def _thread_of(self, events: list[Event]) -> Thread:
        log = Log()
        log.extend(events)
        self._world.on_events(events)
        return self._thread(log, fold(events))

    def _thread(self, log: Log, state: ThreadState) -> Thread:
        journal = MemoryJournal(log, state, self._world.on_events)
        return Thread(self.definition, journal, self._world)


def _by_name(agent: str, tools: Iterable[Tool | Callable[..., Any]]) -> dict[str, Tool]:
    made: dict[str, Tool] = {}
    for one in tools:
        ready = one if isinstance(one, Tool) else as_tool(one)
        if ready.name in made:
            raise DefinitionError(f"{agent} has two tools called {ready.name!r}")
        made[ready.name] = ready
    return made
