"""Whether people let an agent do what it last asked leave for: what a pipeline must know. Pure.

A denial goes back to the model, which then finishes like any other: the end alone does not tell.
"""

from __future__ import annotations

from agent_core.thread.questions import CallKey
from agent_core.thread.state import QuestionState, ThreadState


def was_denied(state: ThreadState) -> bool:
    """Tell whether any of the approvals asked for last, in one turn, was not given.

    Denied, expired and withdrawn are alike: it did not run. A later turn that got its leave makes
    up for an earlier one that did not; nothing else does.
    """
    last: dict[CallKey, QuestionState] = {}
    for one in state.questions.values():  # in the order of asking: a copy comes after what it is of
        if one.question.kind == "approval" and one.question.call is not None:
            last[one.question.call] = one
    turn = max((_turn(call) for call in last), default=0)
    return any(not _is_given(one) for call, one in last.items() if _turn(call) == turn)


def _turn(call: CallKey) -> int:
    """Give the event in which the model chose a call."""
    return int(call.partition(".")[0])


def _is_given(current: QuestionState) -> bool:
    match current.value:
        case {"approved": True}:
            return current.status == "answered"
    return False
