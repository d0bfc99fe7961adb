"""A stage for one story: a live thread, everything about it held up and written down.

Models, tools, compensations and sleeps wait at gates until an act lets them go, so people and
crashes can come between any two moments. What the thread really did goes into the ledger, which
the invariants hold against the log. No wall clock, no threads, no chance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from agent_core import (
    Agent,
    HandDrivenWorld,
    ModelRejected,
    ModelUnavailable,
    Outcome,
    ParleyError,
    Refused,
    Thread,
    ToolContext,
)
from agent_core.errors import ImpossibleEvent
from agent_core.models import ModelReply, ModelRequest
from agent_core.models.model import OnText
from agent_core.thread.checkpoint import Log
from agent_core.thread.events import Event
from tests.property.agents_at_random import Story, agent_for, reply_at, turn_of
from tests.property.hand_driven_loop import HandDrivenLoop
from tests.property.tools_at_random import ATTEMPTS, STAGE

_MOST_TICKS = 5_000
_MOST_RELEASES = 300


class Crashed(BaseException):
    """The process is gone: nothing that it does from here on is kept."""


class Ran(NamedTuple):
    """The body of a tool began."""

    thread: str
    call: str
    start: int
    """Which start of the call it was."""
    n: int


class Heard(NamedTuple):
    """An answer reached a tool."""

    thread: str
    call: str
    prompt: str
    value: object


@dataclass
class Ledger:
    """What really happened, by those who did it."""

    bodies: list[Ran] = field(default_factory=list)
    effects: list[tuple[str, str]] = field(default_factory=list)
    undone: list[tuple[str, str]] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Rules that were broken where no assertion can be raised: inside a tool or a model."""


@dataclass
class Gate:
    """Something that waits to be let go."""

    label: str
    open: Callable[[], None]


class Stage:
    """One story's thread, through all its processes."""

    def __init__(self, story: Story, loop: HandDrivenLoop, hand: HandDrivenWorld) -> None:
        self.is_forged = False
        """Whether the log is not our own work: then our own errors may come of anything."""
        self.story = story
        self.loop = loop
        self.hand = hand
        self.ledger = Ledger()
        self.gates: list[Gate] = []
        self.run_task: asyncio.Task[Outcome] | None = None
        self.commits: list[int] = []
        """After how many events each append ended: where a crash can leave the log."""
        self.was_closed = False
        self._rested_after = 0
        self.was_halted = False
        self._life = 0
        self.answers = 0
        self._troubles = list(story.troubles)
        self._stopped_since_quiet = False
        self.fuse: tuple[int, Callable[[], None]] | None = None
        self._thread: Thread | None = None
        STAGE.set(self)
        ATTEMPTS.set({})
        loop.plain.hold = lambda release: self.gates.append(Gate("a thread", release))
        self.thread = self.agent().launch("go")

    # The thread and its process

    @property
    def thread(self) -> Thread:
        """The thread, as its present process has it."""
        assert self._thread is not None
        return self._thread

    @thread.setter
    def thread(self, thread: Thread) -> None:
        self._thread = thread
        self._rested_after = 0
        self.commits.append(len(thread.events))

    @property
    def is_running(self) -> bool:
        """Whether a worker has the thread."""
        return self.run_task is not None and not self.run_task.done()

    @property
    def is_stopped(self) -> bool:
        """Whether nothing may start."""
        return self.thread.state.lifecycle != "active" or bool(self.hand.halt_reason)

    @property
    def is_at_rest(self) -> bool:
        """Whether a worker has done all that there was to do."""
        return not self.is_running and self._rested_after == len(self.thread.events)

    def run(self) -> None:
        """Let a worker take the thread up, if none has it."""
        if not self.is_running:
            self.was_halted = bool(self.hand.halt_reason)
            self.run_task = asyncio.create_task(self.thread.run(), name="run")

    async def quiet(self) -> None:
        """Let everything go on that can, until nothing moves any more."""
        for _ in range(_MOST_TICKS):
            await asyncio.sleep(0)
            if self.loop.is_quiet:
                self._stopped_since_quiet = self.is_stopped
                self._look_at_run()
                return
        raise AssertionError("it never comes to rest: the loop goes round and round")

    async def pass_ticks(self, ticks: int | None) -> None:
        """Let the loop go round so many times, or until it is quiet."""
        if ticks is None:
            await self.quiet()
            return
        for _ in range(ticks):
            await asyncio.sleep(0)
        self._look_at_run()

    def _look_at_run(self) -> None:
        """A run may end in an outcome or with its process; it never raises."""
        task = self.run_task
        if task is None or not task.done():
            return
        self.run_task = None
        assert not task.cancelled(), "run() was cancelled, and nobody had cancelled it"
        error = task.exception()
        if isinstance(error, Crashed):
            self.reopen()
        elif error is not None:
            may = self.is_forged and isinstance(error, ParleyError)
            assert may, f"run() raised {error!r}"
        elif not self.was_halted:
            self._rested_after = task.result().state.seq

    async def crash(self) -> None:
        """Let the process die here; another one opens the checkpoint."""
        checkpoint = self.thread.checkpoint
        await self.kill()
        self.reopen(checkpoint)

    async def kill(self) -> None:
        """Let the process die; nothing that it does from here on is kept."""
        self._life += 1
        task, self.run_task = self.run_task, None
        if task is None:
            return
        task.cancel()
        await self.until_done(task)
        self.gates.clear()

    def reopen(self, checkpoint: str | None = None) -> None:
        """Open the checkpoint in a new process."""
        text = self.thread.checkpoint if checkpoint is None else checkpoint
        self._life += 1
        self.fuse = None
        self.gates.clear()
        self.thread = self.agent().open(text)

    def open_forged(self, checkpoint: str | bytes) -> None:
        """Go on from a text that somebody has tampered with."""
        self.is_forged = True
        self.thread = self.agent().open(checkpoint)

    def open_prefix(self, events: list[Event]) -> None:
        """Go on from the first events of another thread's log, in a fresh process."""
        log = Log()
        log.extend(events)
        self.reopen(log.text())

    async def until_done(self, task: asyncio.Task[Any]) -> None:
        """Let the loop go round until a task has ended."""
        for _ in range(_MOST_TICKS):
            if task.done():
                return
            await asyncio.sleep(0)
        raise AssertionError(f"{task.get_name()} hangs")

    def agent(self) -> Agent:
        """Make the agent anew, for this process."""
        life = self._life
        world = replace(
            self.hand.world,
            sleep=self._sleep,
            on_events=lambda events: self._committed(life, events),
        )
        return agent_for(self.story, self, world)

    def _committed(self, life: int, _events: Sequence[Event]) -> None:
        if life != self._life:
            raise Crashed
        if self._thread is None:
            return  # a thread begins, or a copy of one
        count = len(self.thread.events)
        self.commits.append(count)
        if self.fuse is not None and count >= self.fuse[0]:
            blow, self.fuse = self.fuse[1], None
            blow()

    def die(self) -> None:
        """Be the process's end, right after a commit."""
        self._life += 1
        raise Crashed

    # What the tools and the model do

    async def hold(self, label: str) -> None:
        """Wait until the test lets go."""
        freed = asyncio.Event()
        gate = Gate(label, freed.set)
        self.gates.append(gate)
        try:
            await freed.wait()
        finally:
            if gate in self.gates:
                self.gates.remove(gate)

    def enter(self, ctx: ToolContext, n: int) -> None:
        """Write down that a body began, and look whether it may."""
        self.ledger.bodies.append(Ran(ctx.thread.id, ctx.call, ctx.attempt, n))
        self._look_whether_stopped(f"the tool of {ctx.call}")
        call = self.thread.state.calls.get(ctx.call)
        if call is None or call.status != "running":
            self.ledger.problems.append(f"the tool of {ctx.call} ran, and is {call}")

    def take_effect(self, ctx: ToolContext) -> None:
        """Write down an effect."""
        self.ledger.effects.append((ctx.thread.id, ctx.call))

    def hear(self, ctx: ToolContext, prompt: str, value: object) -> None:
        """Write down an answer."""
        self.ledger.heard.append(Heard(ctx.thread.id, ctx.call, prompt, value))

    def undo(self, ctx: ToolContext) -> int:
        """Write down a compensation."""
        key = (ctx.thread.id, ctx.call)
        before = self.ledger.undone.count(key)
        self.ledger.undone.append(key)
        if self.thread.state.lifecycle != "cancelled":
            self.ledger.problems.append(f"{ctx.call} was undone, and nobody had cancelled")
        if self.hand.halt_reason and self._stopped_since_quiet:
            self.ledger.problems.append(f"undoing {ctx.call} began while halted")
        return before

    async def reply(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:  # noqa: ARG002 (a Model)
        """Be the model."""
        self.ledger.requests.append(request)
        turn = turn_of(request)
        self._look_whether_stopped(f"the model's turn {turn}")
        if self.story.slow_model:
            await self.hold(f"model {turn}")
        for trouble in self._troubles:
            if trouble[0] == turn:
                self._troubles.remove(trouble)
                raise _TROUBLES[trouble[1]]
        return reply_at(self.story, request)

    def _look_whether_stopped(self, what: str) -> None:
        if self._stopped_since_quiet and self.is_stopped:
            state = self.thread.state.lifecycle
            halted = " and halted" if self.hand.halt_reason else ""
            self.ledger.problems.append(f"{what} began while the thread was {state}{halted}")

    async def _sleep(self, seconds: float) -> None:
        self.hand.pass_time(seconds)
        await self.hold("sleep")

    def halt(self) -> None:
        """Turn the kill switch."""
        self.hand.halt_reason = "fire"
        self.was_halted = True

    def lift(self) -> None:
        """Turn the kill switch back."""
        self.hand.halt_reason = ""
        self._stopped_since_quiet = False

    def take_fork(self, checkpoint: str, at: int) -> str:
        """Make the copy the thread of this stage."""
        self._thread, self.fuse, self.commits = None, None, []
        try:
            self.thread = self.agent().fork(checkpoint, at)
        except Refused as exc:
            self.reopen(checkpoint)
            return f"refused: {exc}"
        return f"at {at}"

    # What is asked of it

    async def command(
        self, doing: Coroutine[Any, Any, None], *, refused: bool | None = None
    ) -> str:
        """Carry out a command; only our own errors may come of it, and then nothing changed.

        refused: whether it must be, or must not be; None where either will do.
        """
        self._stopped_since_quiet = False
        seen = len(self.thread.events)
        task = asyncio.create_task(self._attempt(doing, seen), name="command")
        await self.until_done(task)
        try:
            told, was_overtaken = task.result()
        except Crashed:
            await self.kill()
            self.reopen()
            return "and the process died"
        either = refused is None or was_overtaken or self.is_forged
        assert either or refused == (told != "done"), f"refused should be {refused}: {told}"
        return told

    async def _attempt(self, doing: Coroutine[Any, Any, None], seen: int) -> tuple[str, bool]:
        """Give what came of a command, and whether the thread had moved on before it."""
        before, state = self.thread.events, self.thread.state
        was_overtaken = len(before) != seen
        try:
            await doing
        except ParleyError as exc:
            refusal = exc
        else:
            return "done", was_overtaken
        assert before == self.thread.events, f"{refusal!r} left something in the log"
        assert state == self.thread.state, f"{refusal!r} changed the state"
        ours = isinstance(refusal, ImpossibleEvent) and not self.is_forged
        assert not ours, f"our own bug: {refusal}"
        return f"refused: {refusal}", was_overtaken

    async def let_all_go(self) -> None:
        """Let everything go, and what comes up after it, until the worker is done."""
        self.run()
        await self.quiet()
        for _ in range(_MOST_RELEASES):
            if not (self.is_running and self.gates):
                return
            self.gates.pop(0).open()
            await self.quiet()
        raise AssertionError("it never ends: there is always something more to let go")

    async def to_rest(self) -> None:
        """Let everything go that is held up, until the run has ended."""
        await self.let_all_go()
        if not self.is_at_rest:  # the process had just died, or was halted
            await self.let_all_go()
        assert not self.is_running, "run() hangs: it waits for nothing that could come"
        await self._stays_at_rest()

    async def _stays_at_rest(self) -> None:
        """A thread at rest has nothing to do: running it again does nothing."""
        before = self.thread.events
        self.run()
        await self.quiet()
        assert not self.is_running, "a thread at rest goes on when it is run again"
        assert before == self.thread.events, "a thread at rest changes when it is run again"


_TROUBLES: dict[str, BaseException] = {
    "unavailable": ModelUnavailable("away"),
    "rejected": ModelRejected("no"),
    "bug": RuntimeError("\ud800"),
    "cancelled": asyncio.CancelledError(),
}
