"""What the loop asks of a model, and what it gets back.

The values and the one interface live here. No client, no HTTP and no retries: those are the
neighbours' business, and the loop sees none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import msgspec

from agent_core.thread.usage import Usage

ChatMessage: TypeAlias = dict[str, Any]
"""One message in Chat Completions form: `{"role": …, "content": …}` and what goes with it."""

ToolSchema: TypeAlias = dict[str, Any]
"""A tool as the server wants it: `{"type": "function", "function": {name, description, …}}`."""

OnText: TypeAlias = Callable[[str], None]
"""Gets each piece of text as it streams in. It must not block."""


class ModelRequest(msgspec.Struct, frozen=True):
    """Everything that a model sees before it replies."""

    messages: list[ChatMessage]
    tools: list[ToolSchema] = []


class RequestedCall(msgspec.Struct, frozen=True):
    """A tool call that the model asks for.

    `arguments` is JSON text as the model wrote it, possibly malformed: the loop tells the model
    so. The server's call id is dropped on purpose, because some servers count from zero in each
    reply, and an id that repeats is worse than none.
    """

    name: str
    arguments: str


class ModelReply(msgspec.Struct, frozen=True):
    """One whole turn of the model: text, calls, both, or (legitimately) neither."""

    text: str = ""
    calls: tuple[RequestedCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""


class Model(Protocol):
    """Whatever can take a turn.

    It raises `ModelUnavailable` where another try may help, and `ModelRejected` where none will.
    """

    async def reply(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Take one turn, passing the text on as it comes."""
        ...
