"""The agent at work, as people watch it: a status, and its words as they come.

What is shown here is a courtesy. Nothing of it waits in the agent's way, fails the agent, or is the
answer: that comes through the outbox, and `Sending` makes of a stream what it must be.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from channels.channel import ChannelError, NoSuchAddress
from channels.intake import Memory
from channels.slack import streams
from channels.slack.addresses import Conversation, parse
from channels.slack.calling import Line, line
from channels.slack.clients import Clients
from channels.slack.pacing import Pace
from channels.slack.shows import LiveOptions, Show
from channels.slack.statuses import Abilities, show_resting, show_working
from channels.slack.stream_memory import StreamMemory
from channels.slack.streams import EXPIRED, Streamed, said

_log = logging.getLogger("parley.slack")

_STREAMS: Final = "chat.startStream"
_MOST_SHOWS: Final = 500


class Live:
    """Shows agents at work in every workspace."""

    def __init__(
        self,
        clients: Clients,
        *,
        pace: Pace | None = None,
        options: LiveOptions | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clients = clients
        self._pace = pace or Pace()
        self._options = options or LiveOptions()
        self._clock = clock
        self._abilities = Abilities(clock)
        self._memory: StreamMemory | None = None
        self._shows: dict[str, Show] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def begin(self, memory: Memory) -> None:
        """Take a memory: without one no words are shown, because a crash would double them."""
        self._memory = StreamMemory(memory)
        self._is_closed = False

    async def close(self) -> None:
        """Show no more. Streams stay as they are: the result completes them, or replaces them."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._shows.clear()

    # --- what the engine tells ------------------------------------------------------------------

    def working(self, thread: str, address: str) -> None:
        """Hear that the agent has begun to work on something that was said there."""
        place = _thread_of(address)
        known = self._shows.get(thread)
        is_shown = known is not None and not known.is_over
        if place is None or is_shown or self._is_closed or len(self._shows) >= _MOST_SHOWS:
            return
        self._shows[thread] = Show(thread=thread, address=address, place=place)
        task = asyncio.get_running_loop().create_task(self._watch(self._shows[thread]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def wrote(self, thread: str, address: str, text: str) -> None:
        """Hear a piece of what the model is saying."""
        show = self._shows.get(thread)
        if show is not None and show.address == address and not show.is_over:
            show.add(text, self._clock())

    def rested(self, thread: str, address: str) -> None:
        """Hear that the agent has come to rest: the rest comes through the outbox."""
        show = self._shows.get(thread)
        if show is not None and show.address == address:
            show.is_resting = True
            show.changed.set()

    # --- what the sender asks -------------------------------------------------------------------

    async def claim(self, thread: str, address: str) -> Streamed | None:
        """Give what was streamed there, and stream no more: the sender makes it the answer."""
        show = self._shows.get(thread)
        if show is not None and show.address == address:
            show.claim()
            async with show.calling:  # a call that is under way still counts
                if show.ts:
                    return show.streamed()
        if self._memory is None:
            return None
        kept = await self._memory.recall(thread)
        if kept is None or kept.address != address:
            return None
        if kept.state == "open":  # another process streams it, or did until it crashed
            await self._memory.keep(thread, replace(kept, state="claimed"))
        return kept

    async def forget(self, thread: str) -> None:
        """Hear that the message is out: there is no stream to complete any more."""
        if self._memory is not None:
            await self._memory.forget(thread)

    # --- watching -------------------------------------------------------------------------------

    async def _watch(self, show: Show) -> None:
        try:
            await _heard(show, self._options.status_after)
            if not show.is_over:
                at = await line(self._clients, self._pace, show.place.team, show.place.channel)
                await self._play(show, at)
                await self._end(show, at)
        except ChannelError as exc:
            _log.info("can't show the agent at work", extra={"reason": str(exc)})
        except Exception:  # noqa: BLE001 - whatever it is, the agent must not feel it
            _log.exception("showing the agent at work failed", extra={"thread_id": show.thread})
        finally:
            if self._shows.get(show.thread) is show:
                del self._shows[show.thread]

    async def _play(self, show: Show, at: Line) -> None:
        await self._look_back(show)
        shown_at = float("-inf")
        while not show.is_over:
            if self._clock() - shown_at >= self._options.status_every:
                shown_at = self._clock()
                await show_working(at, show.place.root, self._abilities)
            await self._stream(show, at)
            await _heard(show, self._until_next(show))

    async def _look_back(self, show: Show) -> None:
        """After a crash a stream may be open: the result replaces it, and none is begun beside."""
        if self._memory is None:
            show.is_silent = True
            return
        kept = await self._memory.recall(show.thread)
        if kept is not None and kept.state == "rested":  # said on the way; the agent has gone on
            await self._memory.forget(show.thread)
        elif kept is not None:
            show.is_silent = True

    def _until_next(self, show: Show) -> float:
        """Give the seconds until there may be something to do, if nothing is heard before."""
        if not show.waits_to_be_shown or show.began_writing is None:
            return self._options.status_every
        due = max(show.began_writing + self._options.stream_after, show.not_before)
        return max(0.0, due - self._clock())

    # --- streaming ------------------------------------------------------------------------------

    async def _stream(self, show: Show, at: Line) -> None:
        """Bring to Slack what the agent wrote since the last time, if it is time."""
        if not show.waits_to_be_shown or self._until_next(show) > 0:
            return
        if not self._abilities.can(at.team, _STREAMS):
            show.is_silent = True
            return
        async with show.calling:
            if show.is_over:
                return
            show.not_before = self._clock() + self._options.append_every
            upto = len(show.text) - show.text.endswith("<")  # it may be the beginning of a mention
            try:
                await self._bring(show, at, upto)
            except ChannelError as exc:
                await self._not_brought(show, at, exc)

    async def _bring(self, show: Show, at: Line, upto: int) -> None:
        text = show.text[show.sent : upto]
        if not text:
            return
        if show.ts:
            at.pace.check("chat.appendStream", at.key)
            await streams.append(at, show.ts[-1], text)
            show.sent = upto
        else:
            await self._begin(show, at, upto)

    async def _begin(self, show: Show, at: Line, upto: int) -> None:
        """Begin a stream, or another one; the memory knows of it before Slack does."""
        at.pace.check(_STREAMS, at.key)
        recipient = await self._recipient(show, at)
        if recipient is None or self._memory is None:
            show.is_silent = True
            return
        await self._memory.keep(show.thread, show.streamed())
        ts = await streams.start(at, show.place.root, show.text[show.sent : upto], recipient)
        show.ts, show.sent = (*show.ts, ts), upto
        await self._memory.keep(show.thread, show.streamed())

    async def _recipient(self, show: Show, at: Line) -> str | None:
        """Give who began the conversation: in a channel a stream is for somebody."""
        if at.channel.startswith("D"):
            return ""
        asked = at.client.conversations_replies(channel=at.channel, ts=show.place.root, limit=1)
        messages = (await at.call("conversations.replies", asked)).get("messages") or [{}]
        return str(messages[0].get("user") or "") or None

    async def _not_brought(self, show: Show, at: Line, error: ChannelError) -> None:
        self._abilities.learn(at.team, _STREAMS, error)
        seconds = getattr(error, "retry_after", None)
        if seconds is not None:
            show.not_before = self._clock() + seconds
        elif said(error) == EXPIRED and await self._is_ours(show):
            try:
                await self._begin(show, at, len(show.text))
            except ChannelError:
                show.is_silent = show.is_unsure = True
        else:
            show.is_silent = True
            show.is_unsure = not streams.is_clear(error)

    async def _is_ours(self, show: Show) -> bool:
        kept = None if self._memory is None else await self._memory.recall(show.thread)
        return kept is not None and kept.state == "open" and kept.ts == show.ts

    # --- the end --------------------------------------------------------------------------------

    async def _end(self, show: Show, at: Line) -> None:
        """Leave the stream to the result; if none comes, these were words on the way."""
        await show_resting(at, show.place.root, self._abilities)
        if not show.ts:
            return
        try:
            async with asyncio.timeout(self._options.grace):
                await show.claimed.wait()
        except TimeoutError:
            await self._let_stand(show, at)

    async def _let_stand(self, show: Show, at: Line) -> None:
        async with show.calling:
            if not show.is_claimed and self._memory is not None and await self._is_ours(show):
                await self._memory.keep(show.thread, show.streamed().at_rest())
                last, show.ts = show.ts[-1], ()  # from now on the memory knows it better
                await streams.stop(at, last, tag=streams.aside(show.thread))


def _thread_of(address: str) -> Conversation | None:
    """Give the thread that an address names; statuses and streams stand nowhere else."""
    try:
        place = parse(address)
    except NoSuchAddress:
        return None
    return place if isinstance(place, Conversation) and place.root else None


async def _heard(show: Show, seconds: float) -> None:
    """Wait until something is new, or for so long."""
    try:
        async with asyncio.timeout(seconds):
            await show.changed.wait()
    except TimeoutError:
        return
    if not show.is_over:
        show.changed.clear()
