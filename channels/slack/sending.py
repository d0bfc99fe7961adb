"""What goes out: posted into its conversation, once, in order; and changed when it is settled.

`Sending` is what the channel's `send` and `settle` are. How a message looks is `render`'s to say;
whether and when to try again is the gateway's.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from agent_core.json_values import JsonObject
from channels.channel import GiveUp, Sent
from channels.outgoing import Outgoing
from channels.slack.addresses import Conversation, Person, conversation, parse
from channels.slack.calling import Line, called, line
from channels.slack.clients import Clients
from channels.slack.failures import GONE, OurMistake, Refused
from channels.slack.finding import find_copies, find_parts, metadata
from channels.slack.live import Live
from channels.slack.members import Members
from channels.slack.pacing import Pace
from channels.slack.render.message import Piece, card_piece, render
from channels.slack.streams import Completion, Streamed, complete, leave

_log = logging.getLogger("parley.slack")

_AT_FIRST: Final = 3.0
"""The seconds that a message may wait for its channel's turn; a short crowd is over by then."""
_ON_THE_WAY: Final = 15.0
"""The same for its later pieces: half a message helps nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Errand:
    """A message on its way into a conversation; without a root it begins one."""

    line: Line
    root: str
    message: Outgoing
    pieces: list[Piece]


class Sending:
    """Sends, and settles what was sent."""

    def __init__(
        self, clients: Clients, *, secret: bytes, live: Live, pace: Pace | None = None
    ) -> None:
        self._clients = clients
        self._secret = secret
        self._live = live
        self._members = Members()
        self._pace = pace or Pace()

    async def send(self, message: Outgoing) -> Sent:
        """Post it, or what is missing of it; raises TryLater or GiveUp."""
        team, channel, root = await self._destination(message)
        errand = _Errand(
            line=await line(self._clients, self._pace, team, channel),
            root=root,
            message=message,
            pieces=render(message, team=team, secret=self._secret),
        )
        async with self._pace.in_order(f"{team}:{channel}:{root}"):
            posted = await self._post_all(errand)
        asked = message.asked
        unseen_by = await self._members.absent(errand.line, asked) if asked else ()
        receipt = {
            "team": team,
            "channel": channel,
            "ts": posted[-1],
            "pieces": posted,
            "root": root or posted[-1],
            "id": message.id,
        }
        return Sent(
            receipt=receipt,
            place="" if root else conversation(team, channel, posted[-1]),
            unseen_by=unseen_by,
        )

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Show in what was sent how the question ended; a message that is gone needs nothing."""
        if message.question is None:
            return
        team, channel, ts = str(receipt["team"]), str(receipt["channel"]), str(receipt["ts"])
        at = await line(self._clients, self._pace, team, channel)
        piece = card_piece(message.question, team=team, secret=self._secret)
        part = len(receipt.get("pieces") or [ts]) - 1
        tag = metadata(message.thread, str(receipt.get("id") or message.id), part)
        for one in await self._copies(at, receipt, message, part):
            await self._show(at, one, piece, tag)

    async def _copies(
        self, at: Line, receipt: JsonObject, message: Outgoing, part: int
    ) -> list[str]:
        """Give where the card stands; looked for where more than one of us may have posted it."""
        ts = str(receipt["ts"])
        if message.tries <= 1:
            return [ts]
        bot = await self._clients.bot(at.team)
        root = str(receipt.get("root") or ts)
        sent = replace(message, id=str(receipt.get("id") or message.id))
        began = root in {ts, *(receipt.get("pieces") or ())}
        others = await find_copies(at, "" if began else root, sent, part, bot.bot_id)
        return [*dict.fromkeys((ts, *others))]

    async def _show(self, at: Line, ts: str, piece: Piece, tag: JsonObject) -> None:
        try:
            await self._update(at, ts, piece, tag)
        except Refused as exc:
            if exc.name not in GONE:
                raise
            _log.info("the card is gone", extra={"message_ts": ts, "reason": exc.name})

    # --- where ------------------------------------------------------------------------------------

    async def _destination(self, message: Outgoing) -> tuple[str, str, str]:
        place = parse(message.address)
        match place:
            case Conversation(team=team, channel=channel, root=root):
                return team, channel, root
            case Person(team=team, user=user):
                return team, await self._direct_messages(team, user), ""
            case never:
                assert_never(never)

    async def _direct_messages(self, team: str, user: str) -> str:
        key = f"{team}:{user}"
        client = await self._clients.client(team)
        self._pace.check("conversations.open", key)
        opening = client.conversations_open(users=user)
        opened = await called("conversations.open", opening, self._pace, key)
        return str(opened["channel"]["id"])

    # --- what -------------------------------------------------------------------------------------

    async def _post_all(self, errand: _Errand) -> list[str]:
        """Post the pieces that are not there yet, in their order."""
        message = errand.message
        bot = await self._clients.bot(errand.line.team)
        streamed = await self._live.claim(message.thread, message.address)
        there: dict[int, str] = {}
        if message.attempt > 1:
            there = await find_parts(errand.line, errand.root, message, bot.bot_id)
        if streamed is not None and 0 not in there:
            there |= await _make_use_of(streamed, errand, bot.bot_id)
        posted = await self._post_missing(errand, there)
        if streamed is not None:
            await self._live.forget(message.thread)
        return posted

    async def _post_missing(self, errand: _Errand, there: Mapping[int, str]) -> list[str]:
        posted: list[str] = []
        for part, piece in enumerate(errand.pieces):
            ts = there.get(part)
            if ts is None:
                patience = _ON_THE_WAY if part else _AT_FIRST
                await self._pace.turn(errand.line.key, patience=patience)
                ts = await self._post(errand, piece, part)
            posted.append(ts)
        return posted

    async def _post(self, errand: _Errand, piece: Piece, part: int) -> str:
        at, tag = errand.line, metadata(errand.message.thread, errand.message.id, part)
        rest: dict[str, Any] = {"channel": at.channel, "metadata": tag}
        # A preview is fetched from an address that a model may have been talked into writing, with
        # whatever it was talked into putting there.
        rest |= {"unfurl_links": False, "unfurl_media": False}
        if errand.root:
            rest["thread_ts"] = errand.root
        method = "chat.postMessage"
        at.pace.check(method, at.key)
        post = at.client.chat_postMessage
        try:
            answer = await at.call(method, post(text=piece.text, blocks=piece.blocks, **rest))
        except OurMistake as exc:
            _log.exception("blocks refused", extra={"delivery_id": errand.message.id})
            answer = await self._in_words(at.call(method, post(text=piece.plain, **rest)), exc)
        return str(answer["ts"])

    async def _update(self, at: Line, ts: str, piece: Piece, tag: JsonObject) -> None:
        method = "chat.update"
        at.pace.check(method, at.key)
        rest: dict[str, Any] = {"channel": at.channel, "ts": ts, "metadata": tag}
        change = at.client.chat_update
        try:
            await at.call(method, change(text=piece.text, blocks=piece.blocks, **rest))
        except OurMistake as exc:
            _log.exception("blocks refused", extra={"message_ts": ts})
            # The old blocks must go, and the buttons with them: hence the empty list.
            await self._in_words(at.call(method, change(text=piece.plain, blocks=[], **rest)), exc)

    async def _in_words(
        self, calling: Awaitable[dict[str, Any]], first: OurMistake
    ) -> dict[str, Any]:
        """Try once more without blocks; what isn't taken then never will be."""
        try:
            return await calling
        except OurMistake as exc:
            raise GiveUp(f"{first}; and in plain words: {exc}") from exc


async def _make_use_of(streamed: Streamed, errand: _Errand, bot_id: str) -> dict[int, str]:
    """Let a result take the place of what was streamed; beside anything else that stands."""
    message = errand.message
    work = Completion(
        line=errand.line,
        streamed=streamed,
        thread=message.thread,
        root=errand.root,
        bot_id=bot_id,
    )
    if message.kind != "thread.finished":
        await leave(work)
        return {}
    ts = await complete(work, message.text, errand.pieces, metadata(message.thread, message.id, 0))
    return {0: ts} if ts else {}
