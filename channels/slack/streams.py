"""A message that grows while the agent writes, and how it becomes the answer, exactly once.

A stream is begun by who shows the agent at work, and completed by who sends the result, perhaps in
another process, perhaps after a crash: what both must know of it is a `Streamed`, kept in memory.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from agent_core.json_values import JsonObject
from channels.channel import ChannelError
from channels.slack.calling import Line
from channels.slack.failures import GONE, OurMistake, Refused, SlackSaid
from channels.slack.finding import find_beginning, metadata
from channels.slack.render.message import Piece

_log = logging.getLogger("parley.slack")

LONGEST: Final = 11_000
"""Of a stream; what goes beyond is shown when it is complete."""
EXPIRED: Final = "message_not_in_streaming_state"
"""Slack ends a stream by itself after some minutes."""
_ENDED: Final = frozenset({EXPIRED, "stopped_by_user"})
_CALLS: Final = re.compile(r"<(?=[!@#])")
_RULE: Final = re.compile(r"^[ |:-]*-[ |:-]*\|[ |:-]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """What has been streamed of an answer that is not complete yet."""

    address: str
    channel: str
    ts: tuple[str, ...]
    """More than one, where Slack ended a stream before the agent did."""
    text: str | None = None
    """What stands there, as the agent wrote it; None after a crash: nobody knows."""
    state: Literal["open", "claimed", "rested"] = "open"
    size: int = 0
    digest: str = ""
    """Of the text, once the agent has come to rest: it may be the answer's beginning, or not."""

    def at_rest(self) -> Streamed:
        """Give what to remember when no result came for it."""
        text = self.text or ""
        return replace(self, state="rested", size=len(text), digest=digest_of(text))

    def is_beginning_of(self, answer: str) -> bool:
        """Tell whether what stands there is the first part of the answer."""
        if self.text is not None:
            return answer.startswith(self.text)
        return self.state != "rested" or digest_of(answer[: self.size]) == self.digest


def digest_of(text: str) -> str:
    """Name a text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def harmless(text: str) -> str:
    """Break mentions letter by letter, so that a beginning stays a beginning of the whole."""
    return _CALLS.sub("<\u2060", text)


# --- growing --------------------------------------------------------------------------------------


async def start(line: Line, root: str, text: str, recipient: str) -> str:
    """Begin a stream with its first words; give its `ts`."""
    asked: dict[str, Any] = {"channel": line.channel, "thread_ts": root}
    if recipient:
        asked |= {"recipient_user_id": recipient, "recipient_team_id": line.team}
    method = "chat.startStream"
    begun = line.client.chat_startStream(markdown_text=harmless(text), **asked)
    return str((await line.call(method, begun))["ts"])


async def append(line: Line, ts: str, text: str) -> None:
    """Add words to a stream."""
    more = line.client.chat_appendStream(channel=line.channel, ts=ts, markdown_text=harmless(text))
    await line.call("chat.appendStream", more)


async def stop(line: Line, ts: str, text: str = "", tag: JsonObject | None = None) -> bool:
    """End a stream; tell whether it was still one."""
    last: dict[str, Any] = {"markdown_text": harmless(text)} if text else {}
    if tag is not None:
        last["metadata"] = tag
    stopped = line.client.chat_stopStream(channel=line.channel, ts=ts, **last)
    try:
        await line.call("chat.stopStream", stopped)
    except ChannelError as exc:
        if said(exc) in _ENDED | GONE:
            return False
        raise
    return True


def said(error: ChannelError) -> str:
    """Give Slack's own name for what went wrong, where it gave one."""
    return error.name if isinstance(error, (OurMistake, Refused, SlackSaid)) else ""


def is_clear(error: ChannelError) -> bool:
    """Tell whether Slack said no, so that nothing has changed."""
    return said(error) in _ENDED or isinstance(error, (OurMistake, Refused))


def aside(thread: str) -> JsonObject:
    """Mark words that the agent said on the way, so that they are not taken for an answer's."""
    return metadata(thread, "aside", 0)


# --- becoming the answer --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A stream, and the result that it shall become."""

    line: Line
    streamed: Streamed
    thread: str
    root: str
    bot_id: str


async def complete(work: Completion, answer: str, pieces: Sequence[Piece], tag: JsonObject) -> str:
    """Make the stream the first piece of the answer, and give its `ts`; empty: post it instead."""
    streamed = work.streamed
    if not streamed.ts:  # the process that began it could not say any more where
        ts = await find_beginning(work.line, work.root, work.bot_id, harmless(answer))
        if not ts:
            return ""
        streamed = replace(streamed, ts=(ts,))
    if not streamed.is_beginning_of(answer):
        if streamed.state == "rested":
            return ""  # words that the agent said on the way: they stand, and the answer follows
    elif streamed.text is not None and _can_stand(answer, pieces):
        last = streamed.ts[-1]
        if await stop(work.line, last, answer[len(streamed.text) :], tag):
            return last
    return await _replace(work.line, streamed, pieces[0], tag)


async def leave(work: Completion) -> None:
    """End a stream whose words stand as they are: something else is to be said now."""
    try:
        if work.streamed.ts:
            await stop(work.line, work.streamed.ts[-1], tag=aside(work.thread))
    except ChannelError as exc:
        _log.info("a stream was left open", extra={"reason": str(exc)})


def _can_stand(answer: str, pieces: Sequence[Piece]) -> bool:
    """Tell whether Slack shows the words as they were streamed as well as we could."""
    return len(pieces) == 1 and len(answer) <= LONGEST and not _RULE.search(answer)


async def _replace(line: Line, streamed: Streamed, piece: Piece, tag: JsonObject) -> str:
    """Put the whole text in place of what was streamed; done twice, it changes nothing."""
    first, *others = streamed.ts
    for ts in streamed.ts:
        await stop(line, ts)
    shown: dict[str, Any] = {"text": piece.text, "blocks": piece.blocks, "metadata": tag}
    update = line.client.chat_update(channel=line.channel, ts=first, **shown)
    try:
        await line.call("chat.update", update)
    except Refused as exc:
        if exc.name in GONE:
            return ""
        raise
    for ts in others:
        await _delete(line, ts)
    return first


async def _delete(line: Line, ts: str) -> None:
    try:
        await line.call("chat.delete", line.client.chat_delete(channel=line.channel, ts=ts))
    except Refused as exc:
        _log.info("a message could not be deleted", extra={"reason": exc.name})
