"""The loop: bring a thread to rest. One worker, one thread, many tools at once.

    catch up → decide (`next_step`) → perform → append → again

Whatever depends on the state is appended with the sequence number that was looked at: if
something came meanwhile (a message, a pause, an answer), nothing starts, and the loop looks
again. Tools run in tasks of their own, so an answer that comes while one runs sets another
going, and a pause reaches the model call and every tool that may be stopped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, assert_never

from agent_core.loop.admission import Admission, Admitted, NewQuestion, admit, readmit
from agent_core.loop.call_run import CallRun, prepare
from agent_core.loop.definition import Definition
from agent_core.loop.journal import Journal, Overtaken
from agent_core.loop.model_turn import review, seen_upto, take_turn
from agent_core.loop.undo import undo
from agent_core.loop.watch import Watch
from agent_core.loop.world import World, fresh_question_id
from agent_core.thread import commands
from agent_core.thread.events import (
    Event,
    Millis,
    ProgressNoted,
    QuestionAsked,
    ThreadFinished,
    ToolFailed,
)
from agent_core.thread.fold import fold, fold_into
from agent_core.thread.questions import CallKey, QuestionId
from agent_core.thread.state import Call, ThreadState
from agent_core.thread.steps import (
    CallModel,
    Compensate,
    Finish,
    Recover,
    RunCalls,
    Step,
    Wait,
    next_step,
)

_Decide: TypeAlias = Callable[[Definition, ThreadState, Call, Millis, NewQuestion], Admission]


class Run:
    """One worker's turn at a thread, until only the outside can move it."""

    def __init__(
        self, definition: Definition, journal: Journal, state: ThreadState, world: World
    ) -> None:
        """Begin with what is known; nothing runs yet."""
        self._definition = definition
        self._journal = journal
        self._state = state
        self._world = world
        self._running: dict[CallKey, CallRun] = {}
        self._notes: deque[ProgressNoted] = deque()
        self._noted = asyncio.Event()

    async def to_rest(self) -> ThreadState:
        """Advance until nothing is left to do but wait."""
        try:
            while await self._step():
                pass
            return self._state
        finally:
            await self._abandon()

    async def _step(self) -> bool:
        """Do the next thing; tell whether there may be more."""
        self._state = await self._journal.catch_up(self._state)
        step = self._decide()
        if not isinstance(step, Wait):
            with suppress(Overtaken):  # something came meanwhile: look again
                await self._perform(step)
        elif self._running:
            await self._until_something()
        else:
            return False
        return True

    def _decide(self) -> Step:
        halted = self._world.halted()
        if self._running and (halted or self._state.lifecycle != "active"):
            for run in self._running.values():
                run.stop()
        return Wait("paused") if halted else next_step(self._state, self._running.keys())

    def _stopped(self) -> bool:
        return self._state.lifecycle != "active" or bool(self._world.halted())

    async def _perform(self, step: CallModel | RunCalls | Recover | Compensate | Finish) -> None:
        match step:
            case CallModel():
                await self._call_model()
            case RunCalls(calls):
                await self._start(calls, admit)
            case Recover(calls):
                await self._start(calls, readmit)
            case Compensate(call):
                await self._journal.append(
                    await undo(self._definition, self._state, call, self._world)
                )
            case Finish():
                await self._append_now(self._last_events(self._state))
            case never:
                assert_never(never)

    async def _append_now(self, events: Sequence[Event], after: ThreadState | None = None) -> None:
        """Append what was decided on this very state, or nothing."""
        await self._journal.append(events, seen=self._state.seq, after=after)

    # The model's turn

    async def _call_model(self) -> None:
        word = review(self._definition, self._state, self._world)
        if word:
            await self._append_now(word)
            return
        looked_at = self._state.seq
        turn = take_turn(self._definition, self._state, self._world)
        events = await Watch(self._stirred, self._was_stopped).over(turn)
        while events:
            self._state = await self._journal.catch_up(self._state)
            if self._stopped():
                return  # a pause came with the reply: the model is asked again afterwards
            overtaken = self._state.seq != looked_at
            reply = seen_upto(events, looked_at) if overtaken else events
            after = fold(reply, onto=self._state)
            more = self._at_once(after)
            with suppress(Overtaken):
                await self._append_now([*reply, *more], fold_into(after, more))
                return

    def _at_once(self, after: ThreadState) -> list[Event]:
        """Give what follows from a reply with nothing run: one commit in place of two.

        Starting a tool doesn't: a pause, or a crash, may stand between its choice and its run.
        """
        match next_step(after, self._running.keys()):
            case RunCalls(calls):
                decided = self._decided(after, calls, admit)
                return [one for one in decided if not isinstance(one, Admitted)]
            case Finish():
                return self._last_events(after)
            case _:
                return []

    def _stirred(self) -> asyncio.Future[None]:
        return self._journal.stirred(self._state.seq)

    async def _was_stopped(self) -> bool:
        self._state = await self._journal.catch_up(self._state)
        return self._stopped()

    # Tools

    async def _start(self, calls: tuple[Call, ...], decide: _Decide) -> None:
        decided = self._decided(self._state, calls, decide)
        await self._append_now(
            [one.started if isinstance(one, Admitted) else one for one in decided]
        )
        self._state = await self._journal.catch_up(self._state)
        for one in decided:
            if isinstance(one, Admitted):
                self._run_tool(one)

    def _decided(
        self, state: ThreadState, calls: tuple[Call, ...], decide: _Decide
    ) -> list[Admission]:
        now = self._world.now()
        return [decide(self._definition, state, call, now, self._new_question) for call in calls]

    def _run_tool(self, admitted: Admitted) -> None:
        run = prepare(
            admitted,
            self._state,
            world=self._world,
            waiting=self._definition.waiting_of(admitted.tool),
            has_handler=self._definition.handlers.__contains__,
            note=self._noter(),
        )
        self._running[run.key] = run
        run.start()

    async def _until_something(self) -> None:
        """Wait for the end of a tool, for a note of one, or for something from outside."""
        await asyncio.sleep(0)
        if not any(run.task.done() for run in self._running.values()):
            await self._wait()  # most are quick, and this costs more than they do
        ended = [run for run in self._running.values() if run.task.done()]
        await self._write_notes()
        for run in ended:
            await self._record(run)

    async def _record(self, run: CallRun) -> None:
        events = run.ending()
        while True:
            self._state = await self._journal.catch_up(self._state)
            with suppress(Overtaken):
                await self._append_now(self._fitting(run.key, events))
                del self._running[run.key]
                return

    def _fitting(self, key: CallKey, events: list[Event]) -> list[Event]:
        """Fit a tool's last events to a thread that has moved on while it ran."""
        asked = [event.question.id for event in events if isinstance(event, QuestionAsked)]
        taken = [one for one in asked if one in self._state.questions]
        now = self._world.now()
        if taken:
            error = f"a question with the id {taken[0]!r} was asked in this thread before"
            return [ToolFailed(at=now, call=key, reason="exception", error=error)]
        if asked and self._state.lifecycle == "cancelled":
            stopped = ToolFailed(at=now, call=key, reason="interrupted")
            return [event for event in events if not isinstance(event, QuestionAsked)] or [stopped]
        return events

    def _new_question(self) -> QuestionId:
        return fresh_question_id(self._world, self._state)

    def _last_events(self, state: ThreadState) -> list[Event]:
        now = self._world.now()
        if not state.stopping:
            return [ThreadFinished(at=now)]
        result = state.last_words() or f"Stopped: {state.stopping}."
        return commands.close(state, at=now, withdraw_open=True, result=result)

    # Notes

    def _noter(self) -> Callable[[CallKey, str], None]:
        loop = asyncio.get_running_loop()

        def note(key: CallKey, text: str) -> None:
            self._notes.append(ProgressNoted(at=self._world.now(), call=key, text=text))
            loop.call_soon_threadsafe(self._noted.set)  # a plain tool runs in a thread

        return note

    async def _write_notes(self) -> None:
        self._noted.clear()
        notes = [self._notes.popleft() for _ in range(len(self._notes))]
        if notes:
            await self._journal.append(notes)

    # Tasks

    async def _wait(self) -> None:
        stirred, noted = self._stirred(), asyncio.create_task(self._noted.wait())
        tasks = [run.task for run in self._running.values()]
        first: list[asyncio.Future[Any]] = [stirred, noted, *tasks]
        try:
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stirred.cancel()
            await _end([noted])

    async def _abandon(self) -> None:
        """Leave no task behind; a tool cut off here is found without a result later."""
        await _end([run.task for run in self._running.values()])


async def _end(tasks: Sequence[asyncio.Future[Any]]) -> None:
    unfinished = [task for task in tasks if not task.done()]
    for task in unfinished:
        task.cancel()
    if unfinished:
        await asyncio.gather(*unfinished, return_exceptions=True)
