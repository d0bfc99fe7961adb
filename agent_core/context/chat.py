"""The default rendering of a thread: ordinary chat messages, every call with its result.

What people and programs write is data in the user's role. The ids of calls are ours, because
a server's own need not be unique in a thread.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from agent_core.context.results import result_text
from agent_core.json_values import compact
from agent_core.thread.events import (
    Attachment,
    ChosenCall,
    ContextCompacted,
    MessageReceived,
    ModelReplied,
    QuestionAnswered,
    QuestionExpired,
    ThreadResumed,
)
from agent_core.thread.questions import CallKey, QuestionId
from agent_core.thread.state import Call, LateNews, ThreadState

ChatMessage: TypeAlias = dict[str, Any]

_OUR_NOTES = re.compile(
    r"^\[(?=from |attached file |your question|resumed|what happened so far)", re.MULTILINE
)


def render_chat(state: ThreadState, instructions: str) -> list[ChatMessage]:
    """Write the thread as the messages of a Chat Completions request."""
    messages: list[ChatMessage] = []
    if instructions:
        messages.append({"role": "system", "content": instructions})
    for seq, entry in state.entries:
        # The two common ones first: a long thread is made of them.
        if isinstance(entry, MessageReceived):
            messages.append({"role": "user", "content": _said(state, entry)})
        elif isinstance(entry, ModelReplied):
            messages.append({"role": "assistant", "content": entry.text})
            if entry.calls:
                _render_calls(messages, state, seq, entry)
        else:
            messages.append({"role": "user", "content": _news(state, entry)})
    return messages


def call_id(key: CallKey) -> str:
    """Give a call's id as model servers like them."""
    return f"call_{key.replace('.', '_')}"


def _render_calls(
    messages: list[ChatMessage], state: ThreadState, seq: int, reply: ModelReplied
) -> None:
    calls = [state.calls[CallKey(f"{seq}.{index}")] for index in range(len(reply.calls))]
    messages[-1]["tool_calls"] = [
        _chosen(call, chosen) for call, chosen in zip(calls, reply.calls, strict=True)
    ]
    messages.extend(
        {"role": "tool", "tool_call_id": call_id(call.key), "content": result_text(call)}
        for call in calls
    )


def _chosen(call: Call, chosen: ChosenCall) -> ChatMessage:
    # As the model chose it, not as a person edited it: its own words must stay its own.
    function = {"name": chosen.tool, "arguments": compact(chosen.arguments)}
    return {"id": call_id(call.key), "type": "function", "function": function}


def _said(state: ThreadState, entry: MessageReceived) -> str:
    text = _quoted(entry.text)
    if entry.attachments:
        text = "\n\n".join([text, *map(_attached, entry.attachments)]).lstrip()
    if not entry.sender or entry.sender == state.requester:
        return text
    return f"[from {entry.sender}]\n{text}"


def _quoted(text: str) -> str:
    """Let no line that somebody wrote pass for one of our own notes."""
    return _OUR_NOTES.sub("> [", text) if "[" in text else text


def _attached(file: Attachment) -> str:
    kind = f", {file.media_type}" if file.media_type else ""
    note = f"; {file.note}" if file.note else ""
    head = f"[attached file {compact(file.name)}{kind}, {file.size} bytes{note}]"
    return f"{head}\n{_quoted(file.text)}" if file.text else head


def _news(state: ThreadState, entry: LateNews | ThreadResumed | ContextCompacted) -> str:
    match entry:
        case ThreadResumed():
            who = f" by {entry.by}" if entry.by else ""
            return f"[resumed{who}, with an instruction]\n{entry.instruction}"
        case ContextCompacted():
            return f"[what happened so far, in short]\n{entry.summary}"
        case _:
            return _late(state, entry)


def _late(state: ThreadState, entry: LateNews) -> str:
    prompt = _prompt(state, entry.question)
    match entry:
        case QuestionAnswered():
            by = f" by {entry.by}" if entry.by else ""
            value = entry.value if isinstance(entry.value, str) else compact(entry.value)
            comment = f"\n(Comment: {entry.comment})" if entry.comment else ""
            return f'[your question "{prompt}" was answered{by}]\n{value}{comment}'
        case QuestionExpired():
            return f'[your question "{prompt}" was not answered in time]'
        case _:
            return f'[your question "{prompt}" was withdrawn] {entry.reason}'.rstrip()


def _prompt(state: ThreadState, key: QuestionId) -> str:
    return state.questions[key].question.prompt
