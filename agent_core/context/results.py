"""A call's one result, in the words that the model reads."""

from __future__ import annotations

from typing import assert_never

from agent_core.json_values import Json, compact
from agent_core.thread.state import Call, CallResult

_FAILURES = {
    "exception": "The tool failed: {value}",
    "timeout": "The tool did not end in time and was stopped: {value} It may have taken effect: "
    "check before trying again.",
    "unknown_tool": "There is no such tool. {value}",
    "bad_arguments": "The arguments don't fit, and nothing ran. {value}",
    "bad_result": "The tool ran and took effect, but its result can't be shown: {value}",
    "interrupted": "The tool was stopped half-way, because a person paused or cancelled the "
    "thread. Run it again only if that is still wanted.",
    "outcome_unknown": "Nobody knows whether this took effect: it was cut off while it ran. "
    "Don't repeat it without checking.{comment}",
    "tool_changed": "The tool has changed since this was chosen, and nothing ran: {value}",
    "too_many_resumes": "The tool asked too many times, and was ended: {value}",
}

_EXPIRED_IS = {"deny": "that counts as a no here"}
"""What it means that nobody answered, where the author said what it should mean."""


def result_text(call: Call) -> str:
    """Tell the model what became of its call."""
    if call.result is None:
        return "There is no result yet."
    return _approval(call) + _told(call, call.result)


def _told(call: Call, result: CallResult) -> str:
    match result.outcome:
        case "returned":
            return _value(result.value)
        case "answered":
            comment = f"\n(Comment: {result.comment})" if result.comment else ""
            return _value(result.value) + comment
        case "failed":
            return _FAILURES[result.reason].format(
                value=result.value or "", comment=_comment(result)
            )
        case "denied":
            return f"Denied{_by(result)}. The tool was not run.{_comment(result)}"
        case "expired":
            meaning = _EXPIRED_IS.get(result.reason, "this is not a denial")
            return f"Nobody answered in time: {meaning}.{_ran(call)}"
        case "withdrawn":
            return f"The question was withdrawn.{_ran(call)} {result.value}".rstrip()
        case "cancelled":
            return f"The thread was stopped.{_ran(call)} {result.value}".rstrip()
        case "confirmed":
            return f"It took effect, as confirmed{_by(result)}.{_comment(result)}"
        case never:
            assert_never(never)


def _ran(call: Call) -> str:
    if call.attempt:
        return " The tool had run up to its question, and does not go on."
    return " The tool was not run."


def _approval(call: Call) -> str:
    """Tell what the approver changed or said; without either, there is nothing to tell."""
    changed = f"(Approved with changed arguments: {compact(call.arguments)})\n"
    said = f"(The approver said: {call.approval_comment})\n"
    return (changed if call.edited else "") + (said if call.approval_comment else "")


def _value(value: Json) -> str:
    return value if isinstance(value, str) else compact(value)


def _by(result: CallResult) -> str:
    return f" by {result.by}" if result.by else ""


def _comment(result: CallResult) -> str:
    return f" They said: {result.comment}" if result.comment else ""
