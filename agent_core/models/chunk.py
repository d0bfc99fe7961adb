"""The shape of what a Chat Completions server streams, and the one place that checks it.

Only the fields that we use are here, each as loose as the servers in the field are: nearly
everything may be absent or null. A whole answer that was not streamed has the same shape, with
`message` where a chunk has `delta`. Putting pieces together is the assembly's business.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agent_core.errors import ModelUnavailable


class FunctionPiece(msgspec.Struct, frozen=True):
    """Part of a call's name and arguments; some servers send the arguments as an object."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallPiece(msgspec.Struct, frozen=True):
    """Part of one tool call; `index` says of which, where the server sends it."""

    index: int | None = None
    id: str | int | None = None
    function: FunctionPiece | None = None


class Delta(msgspec.Struct, frozen=True):
    """What a chunk adds to the reply."""

    content: str | None = None
    refusal: str | None = None
    tool_calls: list[CallPiece] | None = None


class Choice(msgspec.Struct, frozen=True):
    """One of the alternatives asked for; we ask for one, so its index is 0."""

    index: int | None = None
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None


class Tokens(msgspec.Struct, frozen=True):
    """The server's own count of the whole call so far."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Chunk(msgspec.Struct, frozen=True):
    """One event of the stream, or a whole answer that was not streamed."""

    choices: list[Choice] | None = None
    usage: Tokens | None = None
    model: str | None = None
    error: Any = None


def parse_chunk(data: object) -> Chunk:
    """Check decoded JSON; what isn't a chunk is a broken stream, and worth another try."""
    try:
        chunk = msgspec.convert(data, Chunk)
    except msgspec.ValidationError as exc:
        raise ModelUnavailable(f"the model server sent a malformed chunk: {exc}") from exc
    if chunk.error:
        raise ModelUnavailable("the model server answered with an error object and no reply")
    return chunk


def parse_whole_answer(body: bytes) -> Chunk:
    """Read the answer of a server that doesn't stream, or of a proxy that gathered the stream."""
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as exc:
        raise ModelUnavailable("the model server's answer is not JSON") from exc
    return parse_chunk(data)
