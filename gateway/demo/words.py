"""Events in words: who says what while the story runs, and what each event of a log tells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from agent_core.json_values import Json, JsonObject
from agent_core.thread import events as ev
from agent_core.thread.questions import CallKey
from agent_core.thread.state import Call

Calls = Mapping[CallKey, Call]


def speech(event: ev.Event, calls: Calls) -> Iterator[tuple[str, str]]:
    """Tell who says or does what in an event, for those that people want to hear of."""
    match event:
        case ev.MessageReceived():
            yield event.sender, event.text
        case ev.ModelReplied():
            yield "agent", event.text
            for chosen in event.calls:
                yield "chooses", f"{chosen.tool}({_listed(chosen.arguments)})"
        case ev.QuestionAsked():
            yield "waits", f"{event.question.tool} needs a person's approval."
        case ev.QuestionAnswered():
            yield event.by, _decision(event.value) + (event.comment and f": {event.comment}")
        case ev.ToolReturned():
            yield "result", value_words(event.result)
        case ev.ToolFailed():
            yield "result", f"{calls[event.call].tool} failed: {event.error}"
        case _:
            return


def fact(event: ev.Event, calls: Calls) -> str:
    """Tell in a few words what an event of the log is about."""
    match event:
        case ev.ThreadLaunched():
            return f"{event.agent}, for the {event.requester}"
        case ev.MessageReceived():
            return event.text
        case ev.ModelReplied():
            return ", ".join(f"chose {one.tool}" for one in event.calls) or "said it is done"
        case ev.ToolStarted():
            return calls[event.call].tool
        case ev.ToolReturned():
            return value_words(event.result)
        case ev.ToolFailed():
            return event.error
        case ev.QuestionAsked():
            return event.question.prompt
        case ev.QuestionAnswered():
            return f"{_decision(event.value)} by {event.by}"
        case _:
            return ""


def value_words(value: Json) -> str:
    """Write a value for people: money with its cents, an object as a list."""
    match value:
        case str():
            return value
        case float():
            return f"{value:.2f}"
        case dict():
            return _listed(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _listed(arguments: JsonObject) -> str:
    return ", ".join(f"{name}: {value_words(value)}" for name, value in arguments.items())


def _decision(value: Json) -> str:
    match value:
        case {"approved": True, "arguments": _}:
            return "approved with changes"
        case {"approved": True}:
            return "approved"
        case _:
            return "denied"
