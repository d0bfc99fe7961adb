"""What events mean for a call: from chosen to its one result."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent_core.errors import ImpossibleEvent
from agent_core.thread.events import CompensationRan, ToolFailed, ToolReturned, ToolStarted
from agent_core.thread.questions import CallKey
from agent_core.thread.state import Call, CallResult, Compensation, ThreadState
from agent_core.thread.transitions import CALL, CallTrigger, move

_MAYBE_TOOK_EFFECT = ("timeout", "interrupted", "bad_result", "outcome_unknown")
"""Failures after which the tool may still have done what it does, so undoing it makes sense."""

_NOBODYS_FAULT = ("interrupted", "outcome_unknown", "tool_changed")
"""Failures that say nothing about whether the agent is on the right way."""


def started(state: ThreadState, event: ToolStarted) -> None:
    """Record that the tool is about to run."""
    advance(
        state,
        event.call,
        "started",
        idempotency_key=event.key,
        attempt=event.attempt,
        compensable=event.compensable,
    )


def returned(state: ThreadState, event: ToolReturned) -> None:
    """Record the result of the tool."""
    call = settle(state, event.call, "returned", CallResult(outcome="returned", value=event.result))
    state.failures_in_a_row = 0
    note_effect(state, call)


def failed(state: ThreadState, event: ToolFailed) -> None:
    """Record why there is no result."""
    result = CallResult(outcome="failed", value=event.error, reason=event.reason)
    call = settle(state, event.call, "failed", result)
    if event.reason not in _NOBODYS_FAULT:
        state.failures_in_a_row += 1
    if event.reason in _MAYBE_TOOK_EFFECT:
        note_effect(state, call)


def cancel_open(state: ThreadState, reason: str) -> None:
    """Give every open call that is not running its result: it will not run."""
    for key in tuple(state.open_calls):
        if state.calls[key].status == "running":
            advance(state, key, "cancelled")
        else:
            settle(state, key, "cancelled", CallResult(outcome="cancelled", value=reason))


def compensated(state: ThreadState, event: CompensationRan) -> None:
    """Record one try at undoing a call."""
    if state.seq <= state.forked_at:
        return  # the original undid it
    if event.call not in state.effects:
        raise ImpossibleEvent(f"call {event.call} has no effect to undo")
    state.compensations[event.call] = Compensation(
        event.call, event.attempt, event.error, event.settled
    )


def forget(state: ThreadState, seq: int, count: int) -> None:
    """Drop the settled calls of a reply that a summary now stands for, if nothing needs them."""
    for index in range(count):
        key = CallKey(f"{seq}.{index}")
        if key in state.open_calls:
            raise ImpossibleEvent(f"call {key} is open and can't be summarised away")
        if key not in state.effects:
            state.calls.pop(key, None)


def lapse_approvals(state: ThreadState) -> None:
    """Let a fork ask anew: what was approved in the original runs there, once."""
    for key in state.open_calls:
        state.calls[key] = replace(state.calls[key], approved_digest="", compensable=False)


def advance(state: ThreadState, key: CallKey, trigger: CallTrigger, **changes: Any) -> Call:  # noqa: ANN401 (fields of Call)
    """Move a call along its table."""
    call = state.calls.get(key)
    if call is None:
        raise ImpossibleEvent(f"there is no call {key}")
    moved = replace(call, status=move(CALL, f"call {key}", call.status, trigger), **changes)
    state.calls[key] = moved
    return moved


def settle(state: ThreadState, key: CallKey, trigger: CallTrigger, result: CallResult) -> Call:
    """Give a call its one result; the model has yet to see it."""
    call = advance(state, key, trigger, result=result)
    del state.open_calls[key]
    state.unseen = True
    return call


def note_effect(state: ThreadState, call: Call) -> None:
    """Remember what could be undone; what an original did before a fork is not the fork's."""
    if call.compensable and state.seq > state.forked_at and call.key not in state.effects:
        state.effects.append(call.key)
