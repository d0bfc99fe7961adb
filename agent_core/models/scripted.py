"""A model that follows a script: for tests, and for the demo that has no key.

It ships in the source because a fake that everybody shares is kept honest by everybody. It
knows nothing of tools or agents, and it doesn't sleep: a test that wants it slow passes a hook.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from agent_core.errors import ModelRejected
from agent_core.models.model import ModelReply, ModelRequest, OnText, RequestedCall
from agent_core.thread.usage import Usage

Outcome: TypeAlias = ModelReply | Exception
"""What one attempt ends in: a reply to give, or an exception to raise."""

ScriptItem: TypeAlias = Outcome | list[Outcome]
"""One turn. A list holds the outcomes of that turn's attempts in order; the last one stays."""

Script: TypeAlias = Sequence[ScriptItem] | Callable[[ModelRequest], ModelReply]

_PIECE = 8  # characters: small enough that any real sentence comes in several pieces


class ScriptedModel:
    """Replies as written, or as a function of the request decides.

    A sequence is followed without state: the turn to give is the number of assistant messages in
    the request. So a fresh instance in another process, or a call repeated after a crash, gets
    the same reply. Only a list of attempts has to be counted, in this instance.
    """

    def __init__(
        self,
        script: Script,
        *,
        before_reply: Callable[[ModelRequest], Awaitable[None]] | None = None,
    ) -> None:
        self._script = script
        self._before_reply = before_reply
        self._attempts: Counter[int] = Counter()
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Give the scripted reply, its text in small pieces first."""
        self.requests.append(request)
        if self._before_reply is not None:
            await self._before_reply(request)
        reply = self._reply_to(request)
        if on_text is not None:
            for start in range(0, len(reply.text), _PIECE):
                on_text(reply.text[start : start + _PIECE])
        return reply

    def _reply_to(self, request: ModelRequest) -> ModelReply:
        if callable(self._script):
            return self._script(request)
        turn = sum(message.get("role") == "assistant" for message in request.messages)
        outcome = self._outcome(self._script, turn)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _outcome(self, script: Sequence[ScriptItem], turn: int) -> Outcome:
        if turn >= len(script):
            raise ModelRejected(
                f"the script has {len(script)} replies, and was asked for number {turn + 1}"
            )
        item = script[turn]
        if not isinstance(item, list):
            return item
        attempt = self._attempts[turn]
        self._attempts[turn] += 1
        return item[min(attempt, len(item) - 1)]


def says(
    text: str, *, input_tokens: int = 0, output_tokens: int = 0, cost: float = 0.0
) -> ModelReply:
    """Write a turn in which the model only talks."""
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cost=cost)
    return ModelReply(text=text, usage=usage, model="scripted")


def call(name: str, /, **arguments: Any) -> RequestedCall:  # noqa: ANN401  (any JSON value)
    """Write one tool call. For malformed arguments, build a `RequestedCall` by hand."""
    return RequestedCall(name=name, arguments=msgspec.json.encode(arguments).decode())


def calls(*requested: RequestedCall, text: str = "", usage: Usage | None = None) -> ModelReply:
    """Write a turn in which the model calls tools, and perhaps says something beside."""
    return ModelReply(text=text, calls=requested, usage=usage or Usage(), model="scripted")
