"""Deploys: a thread that waited while its tools changed is not resumed blindly."""

from __future__ import annotations

from agent_core.errors import ToolsChanged
from agent_core.loop.admission import problem_of
from agent_core.loop.definition import Definition
from agent_core.thread.events import Event, FailureReason, Millis, QuestionWithdrawn, ToolFailed
from agent_core.thread.state import Call, ThreadState


def require_same_tools(definition: Definition, state: ThreadState) -> None:
    """Refuse to go on with tools that are not the ones that were chosen."""
    changed = _changed(definition, state)
    if changed:
        raise ToolsChanged("; ".join(problem for _, problem in changed))


def give_up_changed(definition: Definition, state: ThreadState, now: Millis) -> list[Event]:
    """Settle the open calls whose tools have changed: the model is told, and nothing runs."""
    events: list[Event] = []
    for call, problem in _changed(definition, state):
        events += _give_up(state, call, problem, now)
    return events


def _changed(definition: Definition, state: ThreadState) -> list[tuple[Call, str]]:
    """Find open calls whose tool or handler is gone or takes other arguments now."""
    found = []
    for key in state.open_calls:
        call = state.calls[key]
        problem = problem_of(definition, call) or _lost_handler(definition, state, call)
        if problem is not None and problem[0] == "tool_changed":
            found.append((call, problem[1]))
    return found


def _lost_handler(definition: Definition, state: ThreadState, call: Call) -> tuple[str, str] | None:
    for key in call.questions:
        handler = state.questions[key].question.handler
        if key in state.open_questions and handler and handler not in definition.handlers:
            return "tool_changed", f"the handler {handler} for {call.tool} is gone"
    return None


def _give_up(state: ThreadState, call: Call, problem: str, now: Millis) -> list[Event]:
    asked = [one.question for one in state.waiting_questions()]
    waited_for = [one.id for one in asked if one.call == call.key and one.wait]
    if waited_for:  # withdrawing them settles the call
        return [QuestionWithdrawn(at=now, question=key, reason=problem) for key in waited_for]
    reason: FailureReason = "outcome_unknown" if call.status == "running" else "tool_changed"
    return [ToolFailed(at=now, call=call.key, reason=reason, error=problem)]
