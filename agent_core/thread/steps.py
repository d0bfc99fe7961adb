"""`next_step(state) → step`: what to do next, as data. Pure; the loop performs it.

The rules of this room: nothing starts unless the thread is active; calls before the model; no
model call until every call has its result; the end only when the model has seen everything
and nobody is still being asked.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Literal, TypeAlias

import msgspec

from agent_core.thread.questions import CallKey
from agent_core.thread.state import Call, Status, ThreadState

_RUNNABLE = ("chosen", "approved", "ready")


class CallModel(msgspec.Struct, frozen=True):
    """Show the model what it has not seen."""


class RunCalls(msgspec.Struct, frozen=True):
    """Run these tools, or ask whether they may run."""

    calls: tuple[Call, ...]


class Recover(msgspec.Struct, frozen=True):
    """These were started by a worker that is gone; nobody knows how far they got."""

    calls: tuple[Call, ...]


class Compensate(msgspec.Struct, frozen=True):
    """Undo this call."""

    call: Call


class Finish(msgspec.Struct, frozen=True):
    """Say the last words."""


class Wait(msgspec.Struct, frozen=True):
    """Nothing to do until something comes from outside, or a running call ends."""

    why: Literal["calls", "questions", "new", "paused", "finished", "failed", "cancelled"]


Step: TypeAlias = CallModel | RunCalls | Recover | Compensate | Finish | Wait

NOBODY: frozenset[CallKey] = frozenset()


def next_step(state: ThreadState, in_flight: AbstractSet[CallKey] = NOBODY) -> Step:
    """Decide what comes next, given the calls that this very worker has running."""
    match state.lifecycle:
        case "active":
            return _active(state, in_flight)
        case "cancelled":
            return _cancelled(state, in_flight)
        case stopped:
            return Wait(stopped)


def status(state: ThreadState) -> Status:
    """Name the status that the log alone gives; a store tells `queued` from `running`."""
    return status_with(state, next_step(state))


def status_with(state: ThreadState, step: Step) -> Status:
    """Name the status of a thread whose next step is known."""
    match state.lifecycle:
        case "new":
            return "running"
        case "active":
            return "waiting" if isinstance(step, Wait) else "running"
        case stopped:
            return stopped


def _active(state: ThreadState, in_flight: AbstractSet[CallKey]) -> Step:
    if state.open_calls:
        return _with_calls(state, in_flight)
    if _holds_thread(state):
        return Wait("questions")
    if state.stopping:
        return Finish()
    if state.unseen:
        return CallModel()
    if state.open_questions:
        return Wait("questions")
    return Finish()


def _with_calls(state: ThreadState, in_flight: AbstractSet[CallKey]) -> Step:
    lost = _lost(state, in_flight)
    if lost:
        return Recover(lost)
    runnable = tuple(
        [state.calls[key] for key in state.open_calls if state.calls[key].status in _RUNNABLE]
    )
    return RunCalls(runnable) if runnable else Wait("calls")


def _cancelled(state: ThreadState, in_flight: AbstractSet[CallKey]) -> Step:
    lost = _lost(state, in_flight)
    if lost:
        return Recover(lost)
    if state.open_calls:
        return Wait("calls")
    for key in reversed(state.effects):
        done = state.compensations.get(key)
        if done is None or not done.settled:
            return Compensate(state.calls[key])
    return Wait("cancelled")


def _lost(state: ThreadState, in_flight: AbstractSet[CallKey]) -> tuple[Call, ...]:
    return tuple(
        [
            state.calls[key]
            for key in state.open_calls
            if state.calls[key].status == "running" and key not in in_flight
        ]
    )


def _holds_thread(state: ThreadState) -> bool:
    """A question about the run itself: the model waits for its answer."""
    if not state.open_questions:
        return False
    questions = (state.questions[key].question for key in state.open_questions)
    return any(question.wait and question.call is None for question in questions)
