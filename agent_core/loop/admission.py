"""May this call run, now, with these arguments? Decided at the last moment, every time.

Whatever came between the choice and here (a pause, a deploy, a month), a tool that needs
approval runs only with an approval of exactly this tool, this signature and these arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent_core.loop.definition import Definition
from agent_core.thread.digest import approval_digest
from agent_core.thread.events import FailureReason, Millis, QuestionAsked, ToolFailed, ToolStarted
from agent_core.thread.questions import OUTCOME_OPTIONS, Question, QuestionId, Waiting
from agent_core.thread.state import Call, ThreadState
from agent_core.tools.handler import Handler
from agent_core.tools.signature import BadArguments
from agent_core.tools.tool import Tool


@dataclass(frozen=True)
class Admitted:
    """It may run: first this event, then this function."""

    started: ToolStarted
    tool: Tool
    arguments: dict[str, Any]
    handler: Handler | None = None


Admission: TypeAlias = Admitted | QuestionAsked | ToolFailed
NewQuestion: TypeAlias = Callable[[], QuestionId]


def admit(
    definition: Definition, state: ThreadState, call: Call, now: Millis, new_question: NewQuestion
) -> Admission:
    """Let a call run, ask for its approval, or say why it can't run."""
    problem = problem_of(definition, call)
    if problem is not None:
        return _failed(call, now, *problem)
    tool = definition.tools[call.tool]
    try:
        arguments = tool.signature.validate(call.arguments)
    except BadArguments as exc:
        return _failed(call, now, "bad_arguments", str(exc))
    digest = approval_digest(tool.name, tool.signature.digest, call.arguments)
    # A call that was cut off is run again with its key because that does no harm: no new consent.
    consent = call.status == "running" or call.approved_digest == digest
    if not consent and tool.needs_approval(arguments):
        waiting = definition.waiting_of(tool)["normal"]
        question = _ask_approval(tool, call, digest, new_question(), waiting)
        return QuestionAsked(at=now, question=question)
    return Admitted(
        started=_start(state, tool, call, now),
        tool=tool,
        arguments=arguments,
        handler=definition.handlers[call.handler] if call.handler else None,
    )


def readmit(
    definition: Definition, state: ThreadState, call: Call, now: Millis, new_question: NewQuestion
) -> Admission:
    """Decide about a call that was cut off: run it again if that does no harm, or ask."""
    tool = definition.tools.get(call.tool)
    if state.lifecycle == "cancelled":
        return _failed(call, now, "outcome_unknown", "")
    if tool is not None and tool.idempotent and problem_of(definition, call) is None:
        return admit(definition, state, call, now, new_question)
    question = Question(
        id=new_question(),
        kind="choice",
        prompt=f"{call.tool} was cut off while it ran. Did it take effect?",
        purpose="outcome",
        call=call.key,
        options=OUTCOME_OPTIONS,
        tool=call.tool,
        arguments=call.arguments,
        to=tool.approvers if tool else (),
        urgency="high",
        waiting=(definition.waiting_of(tool) if tool else definition.waiting)["high"],
    )
    return QuestionAsked(at=now, question=question)


def problem_of(definition: Definition, call: Call) -> tuple[FailureReason, str] | None:
    """Tell why a call can't run as it was chosen, if so."""
    tool = definition.tools.get(call.tool)
    if tool is None and not call.signature:
        names = ", ".join(definition.tools) or "none"
        return "unknown_tool", f"There is no tool {call.tool!r}; the tools are: {names}."
    if tool is None:
        return "tool_changed", f"the tool {call.tool} is gone"
    if call.malformed:
        return "bad_arguments", f"They are not a JSON object: {call.malformed[:500]}"
    if call.signature != tool.signature.digest:
        return "tool_changed", f"the tool {call.tool} takes other arguments now"
    if call.handler and call.handler not in definition.handlers:
        return "tool_changed", f"the handler {call.handler} for {call.tool} is gone"
    return None


def _failed(call: Call, now: Millis, reason: FailureReason, error: str) -> ToolFailed:
    return ToolFailed(at=now, call=call.key, reason=reason, error=error)


def _start(state: ThreadState, tool: Tool, call: Call, now: Millis) -> ToolStarted:
    return ToolStarted(
        at=now,
        call=call.key,
        # The first start fixes the key: a fork that finds it must pass on the same one.
        key=call.idempotency_key or f"{state.id}/{call.key}",
        attempt=call.attempt + 1,
        compensable=tool.compensate is not None,
    )


def _ask_approval(
    tool: Tool, call: Call, digest: str, key: QuestionId, waiting: Waiting
) -> Question:
    return Question(
        id=key,
        kind="approval",
        prompt=f"May I run {tool.name}?",
        purpose="approval",
        call=call.key,
        context=tool.description,
        tool=tool.name,
        arguments=call.arguments,
        digest=digest,
        to=tool.approvers,
        waiting=waiting,
        policy=tool.policy,
    )
