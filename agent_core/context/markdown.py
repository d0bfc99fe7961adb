"""A thread as Markdown for people: the same story that every channel tells, from the log alone.

What people, models and tools wrote stands in block quotes and fences that their own text can't
close, so nothing that they wrote can pass for a heading or for somebody else's line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from agent_core.thread import events as ev
from agent_core.thread.events import Event
from agent_core.thread.questions import CallKey
from agent_core.thread.times import spoken

_MOST = 4000
"""Longer values are cut for reading; the log has them whole."""


def thread_as_markdown(events: Sequence[Event]) -> str:
    """Tell a thread's story, event by event."""
    names = dict(_call_names(events))
    lines = [line for event in events for line in _tell(event, names)]
    return "\n".join(lines).strip() + "\n"


def _call_names(events: Sequence[Event]) -> Iterable[tuple[CallKey, str]]:
    for seq, event in enumerate(events, start=1):
        if isinstance(event, ev.ModelReplied):
            for index, chosen in enumerate(event.calls):
                yield CallKey(f"{seq}.{index}"), chosen.tool


def _tell(event: Event, names: dict[CallKey, str]) -> list[str]:
    title, body = _WORDS[type(event)](event, names)
    return [f"**{spoken(event.at)} · {_inline(title)}**", *body, ""]


_Words = tuple[str, list[str]]


def _launched(event: ev.ThreadLaunched, _names: dict[CallKey, str]) -> _Words:
    who = f" for {event.requester}" if event.requester else ""
    fork = f", forked from {event.forked_from}" if event.forked_from else ""
    return f"thread {event.thread} of agent {event.agent} launched{who}{fork}", []


def _received(event: ev.MessageReceived, _names: dict[CallKey, str]) -> _Words:
    files = [f"with the file {_code(file.name)} ({file.size} bytes)" for file in event.attachments]
    said = [*_quote(event.text), *(["", *files] if files else [])]
    return f"{event.sender or 'somebody'} wrote", said


def _replied(event: ev.ModelReplied, _names: dict[CallKey, str]) -> _Words:
    body = _quote(event.text) if event.text else []
    for chosen in event.calls:
        body += ["", f"chose {_code(chosen.tool)} with", *_fence(chosen.arguments)]
    return "the agent said" if event.text or not event.calls else "the agent chose", body


def _started(event: ev.ToolStarted, names: dict[CallKey, str]) -> _Words:
    again = f" (attempt {event.attempt})" if event.attempt > 1 else ""
    return f"{_tool(event.call, names)} started{again}", []


def _progress(event: ev.ProgressNoted, names: dict[CallKey, str]) -> _Words:
    return f"{_tool(event.call, names)} is on its way", _quote(event.text)


def _returned(event: ev.ToolReturned, names: dict[CallKey, str]) -> _Words:
    return f"{_tool(event.call, names)} returned", _fence(event.result)


def _tool_failed(event: ev.ToolFailed, names: dict[CallKey, str]) -> _Words:
    return f"{_tool(event.call, names)} failed: {event.reason}", _quote(event.error)


def _asked(event: ev.QuestionAsked, _names: dict[CallKey, str]) -> _Words:
    question = event.question
    to = f" to {', '.join(question.to)}" if question.to else ""
    body = _quote(question.prompt)
    if question.context:
        body += ["", *_quote(question.context)]
    if question.arguments is not None:
        body += ["", f"{_code(question.tool)} with", *_fence(question.arguments)]
    offered = [f"- {_code(one.name)} {_inline(one.description)}" for one in question.options]
    body += [line.rstrip() for line in offered]
    return f"question {question.id}{to} ({question.kind})", body


def _answered(event: ev.QuestionAnswered, _names: dict[CallKey, str]) -> _Words:
    body = _fence(event.value) + (_quote(event.comment) if event.comment else [])
    return f"{event.by or 'somebody'} answered question {event.question}", body


def _voted(event: ev.VoteCast, _names: dict[CallKey, str]) -> _Words:
    body = _fence(event.value) + (_quote(event.comment) if event.comment else [])
    return f"{event.by} voted on question {event.question}", body


def _taken_back(event: ev.ApprovalTakenBack, _names: dict[CallKey, str]) -> _Words:
    return f"the approval of {event.question} was taken back{_by(event.by)}", _quote(event.reason)


def _moved(event: ev.ThreadMoved, _names: dict[CallKey, str]) -> _Words:
    return f"the conversation moved to {event.to}{_by(event.by)}", []


def _escalated(event: ev.QuestionEscalated, _names: dict[CallKey, str]) -> _Words:
    return f"question {event.question} escalated to {', '.join(event.to)}", []


def _withdrawn(event: ev.QuestionWithdrawn, _names: dict[CallKey, str]) -> _Words:
    return f"question {event.question} withdrawn{_by(event.by)}", _quote(event.reason)


def _refused(event: ev.AnswerRefused, _names: dict[CallKey, str]) -> _Words:
    return f"an answer{_by(event.by)} to {event.question} was refused", _quote(event.reason)


def _paused(event: ev.ThreadPaused, _names: dict[CallKey, str]) -> _Words:
    return f"paused{_by(event.by)}", _quote(event.reason)


def _resumed(event: ev.ThreadResumed, _names: dict[CallKey, str]) -> _Words:
    return f"resumed{_by(event.by)}", _quote(event.instruction)


def _cancelled(event: ev.ThreadCancelled, _names: dict[CallKey, str]) -> _Words:
    return f"cancelled{_by(event.by)}", _quote(event.reason)


def _compensated(event: ev.CompensationRan, names: dict[CallKey, str]) -> _Words:
    tool = _tool(event.call, names)
    if event.error:
        return f"undoing {tool} failed (attempt {event.attempt})", _quote(event.error)
    return f"{tool} was undone", []


def _limited(event: ev.LimitReached, _names: dict[CallKey, str]) -> _Words:
    return f"limit {event.limit} reached: {event.then}", []


def _compacted(event: ev.ContextCompacted, _names: dict[CallKey, str]) -> _Words:
    return f"events up to {event.through} summarised for the model", _quote(event.summary)


def _finished(event: ev.ThreadFinished, _names: dict[CallKey, str]) -> _Words:
    return "finished", _quote(event.result or "")


def _failed(event: ev.ThreadFailed, _names: dict[CallKey, str]) -> _Words:
    return "failed", _quote(event.error)


def _erased(event: ev.PersonErased, _names: dict[CallKey, str]) -> _Words:
    return f"{event.name}: their words and names were erased{_by(event.by)}", _quote(event.reason)


def _reminded(event: ev.QuestionReminded, _names: dict[CallKey, str]) -> _Words:
    return f"reminded of question {event.question}", []


def _expired(event: ev.QuestionExpired, _names: dict[CallKey, str]) -> _Words:
    return f"question {event.question} expired unanswered", []


_WORDS: dict[type, Callable[[Any, dict[CallKey, str]], _Words]] = {
    ev.ThreadLaunched: _launched,
    ev.MessageReceived: _received,
    ev.ModelReplied: _replied,
    ev.ToolStarted: _started,
    ev.ProgressNoted: _progress,
    ev.ToolReturned: _returned,
    ev.ToolFailed: _tool_failed,
    ev.QuestionAsked: _asked,
    ev.QuestionAnswered: _answered,
    ev.VoteCast: _voted,
    ev.ApprovalTakenBack: _taken_back,
    ev.ThreadMoved: _moved,
    ev.PersonErased: _erased,
    ev.QuestionReminded: _reminded,
    ev.QuestionEscalated: _escalated,
    ev.QuestionExpired: _expired,
    ev.QuestionWithdrawn: _withdrawn,
    ev.AnswerRefused: _refused,
    ev.ThreadPaused: _paused,
    ev.ThreadResumed: _resumed,
    ev.ThreadCancelled: _cancelled,
    ev.CompensationRan: _compensated,
    ev.LimitReached: _limited,
    ev.ContextCompacted: _compacted,
    ev.ThreadFinished: _finished,
    ev.ThreadFailed: _failed,
}


def _tool(key: CallKey, names: dict[CallKey, str]) -> str:
    return names.get(key, key)


def _by(name: str) -> str:
    return f" by {name}" if name else ""


def _quote(text: str) -> list[str]:
    return [f"> {line}" for line in _cut(text).splitlines()]


def _code(text: str) -> str:
    return f"`{_inline(text).replace('`', '')}`"


def _inline(text: str) -> str:
    """Keep a name on its line and out of Markdown's way."""
    return " ".join(text.split()).replace("*", "\\*").replace("<", "&lt;")


def _fence(value: object) -> list[str]:
    if isinstance(value, str):
        return _quote(value)
    text = _cut(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())
    ticks = "`" * max(3, _longest_run(text) + 1)
    return [f"{ticks}json", *text.splitlines(), ticks]


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]}… ({len(text) - _MOST} more characters)"
