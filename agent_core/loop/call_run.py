"""Running one tool: from an admitted call to the events that tell how it ended.

An exception of the tool's is a result, not an error of ours. Questions that the tool asked end
its run; so does a pause, if the tool allows that.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from pydantic import BaseModel

from agent_core.errors import NotJson
from agent_core.json_values import Json, plain
from agent_core.loop.admission import Admitted
from agent_core.loop.world import World, fresh_question_id
from agent_core.models import RetryPolicy, delay_before
from agent_core.thread.events import (
    Event,
    FailureReason,
    QuestionAsked,
    ToolFailed,
    ToolReturned,
)
from agent_core.thread.questions import CallKey, WaitingRules
from agent_core.thread.state import Call, QuestionState, ThreadState
from agent_core.tools.context import Resumed, Surface, ThreadInfo, ToolContext, TooManyResumes
from agent_core.tools.tool import Tool

_BETWEEN_TRIES = RetryPolicy(first_delay=0.2, longest_delay=5.0)
_LONGEST_ERROR = 2000

_MakeContext: TypeAlias = Callable[[Callable[[], None]], ToolContext]
"""A context must be able to interrupt its own run, so the run makes it."""


class CallRun:
    """A call that this worker is running."""

    task: asyncio.Task[list[Event]]

    def __init__(self, admitted: Admitted, context: _MakeContext, world: World) -> None:
        """Put together what a run needs; nothing runs yet."""
        self.admitted = admitted
        self.world = world
        self.context = context(self._interrupt)
        self._stopped = False
        self._interrupted = False

    @property
    def key(self) -> CallKey:
        """Which call it is."""
        return self.admitted.started.call

    def start(self) -> None:
        """Begin, in a task of its own."""
        self.task = asyncio.create_task(self._run(), name=f"tool {self.admitted.tool.name}")

    def stop(self) -> None:
        """End the run from outside if the tool allows it; else let it end, but not try again."""
        self._stopped = True
        if self.admitted.tool.interruptible and not self._interrupted:
            self._interrupted = True
            self.task.cancel()

    def ending(self) -> list[Event]:
        """Give the events of a run that is over, also of one that was stopped before it began."""
        if self.task.cancelled() and self._interrupted:
            return [self._failed("interrupted", "")]
        return self.task.result()

    def _interrupt(self) -> None:
        """End the run from inside: the tool asked somebody."""
        self.task.cancel()

    async def _run(self) -> list[Event]:
        try:
            ending = await self._try_and_retry()
        except asyncio.CancelledError as exc:
            if is_own_doing():
                ending = self._failed("exception", describe(exc))
            elif self._asked() or self._interrupted:
                ending = self._failed("interrupted", "")
            else:
                raise  # the worker itself is going away: nobody knows how far the tool got
        if self.context.misused:  # after it had run: cancelling the thread must undo it
            return [self._failed("bad_result", self.context.misused)]
        now = self.world.now()
        questions = [QuestionAsked(at=now, question=one) for one in self.context.questions]
        # A tool that asked has not ended, whatever it returned on its way out.
        return [*questions] if self._asked() else [*questions, ending]

    def _asked(self) -> bool:
        return any(question.wait for question in self.context.questions)

    async def _try_and_retry(self) -> ToolReturned | ToolFailed:
        tool = self.admitted.tool
        for attempt in range(tool.retries):
            ending = await self._try()
            if not _may_retry(tool, ending) or self._is_held():
                return ending
            pause = delay_before(_BETWEEN_TRIES, attempt + 2, None, self.world.random())
            await self.world.sleep(pause)
            if self._is_held():
                return ending
            self.context.start_over()
        return await self._try()

    def _is_held(self) -> bool:
        return self._stopped or bool(self.world.halted())

    async def _try(self) -> ToolReturned | ToolFailed:
        tool = self.admitted.tool
        limit = asyncio.timeout(tool.timeout)
        try:
            async with limit:
                value = await invoke(self._prepared())
        except TooManyResumes as exc:
            return self._failed("too_many_resumes", str(exc))
        except TimeoutError as exc:
            if limit.expired():
                return self._failed("timeout", f"{tool.timeout:g} seconds had passed.")
            return self._failed("exception", describe(exc))
        except (Exception, SystemExit) as exc:  # noqa: BLE001 (whatever a tool raises is its result)
            return self._failed("exception", describe(exc))
        try:
            return ToolReturned(at=self.world.now(), call=self.key, result=as_json(value))
        except NotJson as exc:
            return self._failed("bad_result", str(exc))

    def _prepared(self) -> Callable[[], Any]:
        tool, handler, resumed = self.admitted.tool, self.admitted.handler, self.context.resumed
        if handler is not None and resumed is not None:
            return partial(handler.function, *handler.arguments(self.context, resumed.value))
        name = tool.signature.context_name
        given = {name: self.context} if name else {}
        return partial(tool.function, **given, **self.admitted.arguments)

    def _failed(self, reason: FailureReason, error: str) -> ToolFailed:
        return ToolFailed(at=self.world.now(), call=self.key, reason=reason, error=error)


def prepare(
    admitted: Admitted,
    state: ThreadState,
    *,
    world: World,
    waiting: WaitingRules,
    has_handler: Callable[[str], bool],
    note: Callable[[CallKey, str], None],
) -> CallRun:
    """Make a run of an admitted call, with what the thread's log says of it."""
    key = admitted.started.call
    call = state.calls[key]
    known = _asked_before(state, call)

    def context(interrupt: Callable[[], None]) -> ToolContext:
        surface = Surface(
            new_id=partial(fresh_question_id, world, state),
            is_taken=state.questions.__contains__,
            has_handler=has_handler,
            interrupt=interrupt,
            note=partial(note, key),
            waiting=waiting,
            asked_before=[one for one in known if one.question.resume_to == "ask"],
            posted_before=[one for one in known if not one.question.wait],
            resumes=call.resumes,
            check_audience=partial(world.check_audience, state),
        )
        return ToolContext(
            idempotency_key=admitted.started.key,
            thread=thread_info(state),
            requester=state.requester,
            call=key,
            attempt=admitted.started.attempt,
            resumed=_resumed(state, call),
            surface=surface,
        )

    return CallRun(admitted, context, world)


def thread_info(state: ThreadState) -> ThreadInfo:
    """Tell a tool which thread it runs for."""
    return ThreadInfo(state.id, state.agent, state.origin, dict(state.metadata))


async def invoke(prepared: Callable[[], Any]) -> Any:  # noqa: ANN401 (whatever it returns)
    """Call somebody's function: a coroutine function here, a plain one in a thread."""
    if inspect.iscoroutinefunction(prepared):  # it sees through functools.partial
        return await prepared()
    value = await asyncio.to_thread(_guarded, prepared)
    return await value if inspect.isawaitable(value) else value


def _guarded(prepared: Callable[[], Any]) -> Any:  # noqa: ANN401 (whatever it returns)
    try:
        return prepared()
    except StopIteration as exc:
        # A future can't hold it: whoever waits for the thread would wait for ever.
        raise RuntimeError("StopIteration") from exc


def as_json(value: object) -> Json:
    """Take a tool's result: JSON, or a pydantic model that can be written as such."""
    return plain(value.model_dump(mode="json") if isinstance(value, BaseModel) else value, "result")


def describe(exc: BaseException) -> str:
    """Name an exception, with its message cut to a length that a model should read."""
    if isinstance(exc, BaseExceptionGroup):  # what went wrong is in its leaves
        return "; ".join(describe(one) for one in exc.exceptions)[:_LONGEST_ERROR]
    try:
        text = str(exc).replace("\0", "").encode(errors="replace").decode()
    except Exception:  # noqa: BLE001 (somebody's __str__)
        text = ""
    return f"{type(exc).__name__}: {text}"[:_LONGEST_ERROR].removesuffix(": ")


def is_own_doing() -> bool:
    """Tell whether a CancelledError came from somebody's own code, and nobody cancelled us."""
    task = asyncio.current_task()
    return task is not None and not task.cancelling()


def _may_retry(tool: Tool, ending: ToolReturned | ToolFailed) -> bool:
    if isinstance(ending, ToolReturned):
        return False
    # After a time-out nobody knows whether it took effect: only a harmless repeat is repeated.
    return ending.reason == "exception" or (ending.reason == "timeout" and tool.idempotent)


def _asked_before(state: ThreadState, call: Call) -> list[QuestionState]:
    """Give what this very function asked before: a handler begins where the tool ended."""
    asked = [state.questions[one] for one in call.questions]
    ends = [
        place
        for place, one in enumerate(asked, start=1)
        if call.handler and one.question.resume_to == "event"
    ]
    return asked[ends[-1] :] if ends else asked


def _resumed(state: ThreadState, call: Call) -> Resumed | None:
    if call.resumed_by is None:
        return None
    current = state.questions[call.resumed_by]
    return Resumed(
        question=current.question.id,
        value=current.value,
        by=current.settled_by,
        comment=current.comment,
        count=call.resumes,
    )
