"""Puts the pieces of a streamed reply together.

Pure: chunks go in, one reply comes out. The protocol says that a call's pieces carry its
`index`; the servers in the field have other habits, and each one that we bear with is named
where it is met. What never made sense as a reply raises `ModelUnavailable`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from agent_core.errors import ModelRejected, ModelUnavailable
from agent_core.models.model import ModelReply, RequestedCall
from agent_core.thread.usage import Usage

if TYPE_CHECKING:
    from agent_core.models.chunk import CallPiece, Choice, Chunk, Tokens
    from agent_core.models.prices import Prices

MOST_CHARACTERS = 4_000_000
"""No model's turn is longer. A runaway one is refused, not tried again: each try is paid for."""

_MOST_TOKENS = 1_000_000_000


class _OpenCall:
    """A call whose pieces are still coming in."""

    def __init__(self, *, order: int, id: str | int | None) -> None:  # noqa: A002  (its wire name)
        self.order = order
        self.id = id
        self.name = ""
        self.arguments: list[str] = []

    @property
    def text(self) -> str:
        """The arguments so far."""
        return "".join(self.arguments)


class Assembly:
    """One reply in the making."""

    def __init__(self, *, most_characters: int = MOST_CHARACTERS) -> None:
        self._most = most_characters
        self._size = 0
        self._text: list[str] = []
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}
        self._tokens: Tokens | None = None
        self._model = ""
        self._finish_reason = ""

    @property
    def is_finished(self) -> bool:
        """Whether the server said that the turn is over; a count of tokens may still follow."""
        return bool(self._finish_reason)

    def add(self, chunk: Chunk) -> str:
        """Take one chunk in; returns the text that it brought."""
        self._tokens = chunk.usage or self._tokens
        self._model = chunk.model or self._model
        # Only the first alternative is the reply, should the options ask for several.
        ours = [choice for choice in chunk.choices or () if not choice.index]
        return _mended("".join([self._add_choice(choice) for choice in ours]))

    def reply(self, *, model: str, prices: Prices | None = None) -> ModelReply:
        """Give the whole reply; `model` stands in where the server didn't name itself."""
        if not self.is_finished:
            raise ModelUnavailable("the model server's stream ended before the reply was complete")
        return ModelReply(
            text=_mended("".join(self._text)),
            calls=tuple(self._closed(call) for call in sorted(self._calls, key=_order)),
            usage=_usage(self._tokens, prices),
            model=_mended(self._model or model),
        )

    def _add_choice(self, choice: Choice) -> str:
        self._finish_reason = choice.finish_reason or self._finish_reason
        delta = choice.delta or choice.message
        if delta is None:
            return ""
        # A refusal is what the model says instead of an answer, so people should read it.
        text = (delta.content or "") + (delta.refusal or "")
        self._count(text)
        self._text.append(text)
        for piece in delta.tool_calls or ():
            self._add_piece(piece)
        return text

    def _add_piece(self, piece: CallPiece) -> None:
        name = (piece.function and piece.function.name) or ""
        call = self._call_of(piece, name)
        call.name = call.name or name  # some servers repeat it in each chunk
        arguments = _arguments(piece)
        self._count(name + arguments)
        call.arguments.append(arguments)

    def _call_of(self, piece: CallPiece, name: str) -> _OpenCall:
        """Find the call that a piece continues, or open a new one."""
        if piece.index is not None:
            call = self._by_index.get(piece.index)
            # Some servers (Dynamo, Gemini's compatible one) number all parallel calls 0: there,
            # another id on what begins like a call is another call. An id alone proves nothing.
            if call and _differ(piece.id, call.id) and _begins_another(call, name):
                call = None
        elif _has_id(piece):
            call = next((call for call in reversed(self._calls) if call.id == piece.id), None)
            if call and _is_another_name(call, name):  # one id for all calls
                call = None
        else:
            call = self._calls[-1] if self._calls else None
            if call and _begins_another(call, name):
                call = None
        return call or self._open(piece)

    def _open(self, piece: CallPiece) -> _OpenCall:
        order = len(self._calls) if piece.index is None else piece.index
        call = _OpenCall(order=order, id=piece.id if _has_id(piece) else None)
        self._calls.append(call)
        self._by_index[order] = call
        return call

    def _closed(self, call: _OpenCall) -> RequestedCall:
        if not call.name:
            raise ModelUnavailable("the model server streamed a tool call without a name")
        arguments = call.text
        # A tool without parameters is often called with no arguments at all. Where the reply was
        # cut off they are missing rather than absent, and must not look complete.
        if not arguments.strip() and self._finish_reason != "length":
            arguments = "{}"
        return RequestedCall(name=_mended(call.name), arguments=_mended(arguments))

    def _count(self, text: str) -> None:
        self._size += len(text)
        if self._size > self._most:
            raise ModelRejected(f"the model's reply is longer than {self._most:,} characters")


def _has_id(piece: CallPiece) -> bool:
    return piece.id not in (None, "")


def _differ(new: str | int | None, old: str | int | None) -> bool:
    return new not in (None, "", old) and old is not None


def _begins_another(call: _OpenCall, name: str) -> bool:
    """Whether a name can't belong to the open call, by being another or by coming too late."""
    is_repeated = bool(name) and name == call.name
    return _is_another_name(call, name) or (is_repeated and _is_json(call.text))


def _is_another_name(call: _OpenCall, name: str) -> bool:
    # A call without a name yet is waiting for it: some servers send the arguments first.
    return bool(name and call.name) and name != call.name


def _order(call: _OpenCall) -> int:
    return call.order


def _arguments(piece: CallPiece) -> str:
    arguments = piece.function.arguments if piece.function else None
    if isinstance(arguments, dict):
        return json.dumps(arguments)
    return arguments or ""


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def _mended(text: str) -> str:
    """Join the halves of characters that were cut in two, and replace those left alone.

    JSON can escape half a character (U+D83D), and some servers stream an emoji so. UTF-8 has
    no halves: such a text could be neither stored nor sent.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _usage(tokens: Tokens | None, prices: Prices | None) -> Usage:
    if tokens is None:
        return Usage()
    spent = _believable(tokens.prompt_tokens)
    written = _believable(tokens.completion_tokens)
    cost = prices.cost(input_tokens=spent, output_tokens=written) if prices else 0.0
    return Usage(input_tokens=spent, output_tokens=written, cost=cost)


def _believable(tokens: int | None) -> int:
    # JSON's numbers have no bounds; limits, sums and the log's integers do.
    return min(max(tokens or 0, 0), _MOST_TOKENS)
