"""Events in words, from the API's JSON: one line of a thread's story for each type.

A table, so that a new type of event is one line here; a type that this code doesn't know (a newer
server's) is told by its name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Event = Mapping[str, Any]
Calls = dict[str, str]
"""The tools behind the calls of a thread, as its events have named them so far."""


def value_words(value: object) -> str:
    """Write a value for people: money with its cents, an object as a list."""
    match value:
        case str():
            return value
        case float():
            return f"{value:.2f}"
        case dict():
            return ", ".join(f"{name}: {value_words(one)}" for name, one in value.items())
        case _:
            return json.dumps(value, ensure_ascii=False)


def learn(event: Event, calls: Calls) -> None:
    """Remember which tool a call is of: later events name the call only."""
    if event["type"] == "ModelReplied":
        for index, chosen in enumerate(event.get("calls", ())):
            calls[f"{event['seq']}.{index}"] = chosen["tool"]


def words(event: Event, calls: Calls) -> str:
    """Tell an event."""
    tell = _WORDS.get(event["type"])
    return tell(event, calls) if tell else ""


def choice(chosen: Mapping[str, Any]) -> str:
    """Tell a tool with its arguments."""
    return f"{chosen['tool']}({value_words(chosen.get('arguments') or {})})"


def decision(value: object) -> str:
    """Tell an answer."""
    match value:
        case {"approved": True, "arguments": dict() as arguments}:
            return f"approved with {value_words(arguments)}"
        case {"approved": True}:
            return "approved"
        case {"approved": False}:
            return "denied"
        case other:
            return value_words(other)


def _launched(event: Event, _calls: Calls) -> str:
    who = f" for {event['requester']}" if event.get("requester") else ""
    fork = f", forked from {event['forked_from']}" if event.get("forked_from") else ""
    return f"{event['agent']}{who}{fork}"


def _received(event: Event, _calls: Calls) -> str:
    files = [f"[{file['name']}]" for file in event.get("attachments", ())]
    return " ".join([f"{event.get('sender') or 'somebody'}: {event['text']}", *files])


def _replied(event: Event, _calls: Calls) -> str:
    chosen = [f"→ {choice(one)}" for one in event.get("calls", ())]
    said = [event["text"]] if event.get("text") else []
    return "\n".join([*said, *chosen])


def _started(event: Event, calls: Calls) -> str:
    again = f", attempt {event['attempt']}" if event.get("attempt", 1) > 1 else ""
    return f"{_tool(event, calls)}{again}"


def _progress(event: Event, calls: Calls) -> str:
    return f"{_tool(event, calls)}: {event['text']}"


def _returned(event: Event, calls: Calls) -> str:
    return f"{_tool(event, calls)}: {value_words(event.get('result'))}"


def _tool_failed(event: Event, calls: Calls) -> str:
    return f"{_tool(event, calls)}, {event['reason'].replace('_', ' ')}: {event.get('error', '')}"


def _asked(event: Event, _calls: Calls) -> str:
    question = event["question"]
    to = f" (to {', '.join(question['to'])})" if question.get("to") else ""
    return f"{question['prompt']}{to}\n{question['kind']} {question['id']}"


def _answered(event: Event, _calls: Calls) -> str:
    comment = f": {event['comment']}" if event.get("comment") else ""
    who = event.get("by") or "somebody"
    return f"{who}: {decision(event.get('value'))}{comment}\nto {event['question']}"


def _about(event: Event, _calls: Calls) -> str:
    return str(event["question"])


def _escalated(event: Event, _calls: Calls) -> str:
    return f"{event['question']} to {', '.join(event['to'])}"


def _withdrawn(event: Event, _calls: Calls) -> str:
    return _joined(event["question"], _by(event), event.get("reason"))


def _steered(event: Event, _calls: Calls) -> str:
    return _joined(_by(event), event.get("reason") or event.get("instruction"))


def _moved(event: Event, _calls: Calls) -> str:
    return _joined(f"to {event['to']}", _by(event))


def _erased(event: Event, _calls: Calls) -> str:
    return _joined(event["name"], _by(event), event.get("reason"))


def _undone(event: Event, calls: Calls) -> str:
    return _joined(_tool(event, calls), event.get("error") or "undone")


def _limited(event: Event, _calls: Calls) -> str:
    return f"{event['limit']}, then {event['then']}"


def _compacted(event: Event, _calls: Calls) -> str:
    return f"all up to event {event['through']} is now a summary"


def _finished(event: Event, _calls: Calls) -> str:
    return event.get("result") or ""


def _failed(event: Event, _calls: Calls) -> str:
    return str(event["error"])


def _tool(event: Event, calls: Calls) -> str:
    return calls.get(event["call"], f"call {event['call']}")


def _by(event: Event) -> str:
    return f"by {event['by']}" if event.get("by") else ""


def _joined(*parts: str | None) -> str:
    return ": ".join(part for part in parts if part)


_WORDS: Mapping[str, Callable[[Event, Calls], str]] = {
    "ThreadLaunched": _launched,
    "MessageReceived": _received,
    "ModelReplied": _replied,
    "ToolStarted": _started,
    "ProgressNoted": _progress,
    "ToolReturned": _returned,
    "ToolFailed": _tool_failed,
    "QuestionAsked": _asked,
    "QuestionAnswered": _answered,
    "VoteCast": _answered,
    "ApprovalTakenBack": _withdrawn,
    "QuestionReminded": _about,
    "QuestionEscalated": _escalated,
    "QuestionExpired": _about,
    "QuestionWithdrawn": _withdrawn,
    "AnswerRefused": _withdrawn,
    "ThreadPaused": _steered,
    "ThreadResumed": _steered,
    "ThreadMoved": _moved,
    "PersonErased": _erased,
    "ThreadCancelled": _steered,
    "CompensationRan": _undone,
    "LimitReached": _limited,
    "ContextCompacted": _compacted,
    "ThreadFinished": _finished,
    "ThreadFailed": _failed,
}
TOLD = frozenset(_WORDS)
"""The types that are told in words; a test compares them with those that there are."""
