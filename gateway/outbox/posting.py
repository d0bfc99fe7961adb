"""Posting: a delivery as its channel sends it, and the copies of a settled question.

The sender decides when and how often; routing has decided where to. What is told elsewhere than
where the thread began may come too late: then nobody is asked any more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from agent_core.json_values import JsonObject
from channels.channel import Channel, GiveUp, NoSuchAddress, Sent, TryLater
from channels.outgoing import Outgoing, OutgoingKind, QuestionCard
from gateway.outbox.cards import card
from gateway.outbox.delivery_ids import is_elsewhere
from gateway.people.directory import Directory
from storage.store import Store
from storage.values import Delivery, DeliveryEnd

_log = logging.getLogger("parley.posting")

_SHOW_THE_QUESTION = frozenset({"question.asked", "question.reminded", "question.escalated"})
"""A reminder is a copy, too: it must not be left with buttons."""
_SETTLED: Final = "question.settled"
_VOTED: Final = "question.voted"
_REMINDED: Final = "question.reminded"


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of a delivery."""

    sent: Sent
    is_settled: bool = False
    """Nothing more is to be done about it: it shows how the question ended, or was not sent."""


class Posting:
    """What is sent."""

    def __init__(self, store: Store, channels: Mapping[str, Channel], people: Directory) -> None:
        self._store = store
        self._channels = channels
        self._people = people

    async def send(self, delivery: Delivery) -> Posted:
        """Send it, or show in the copies of its question how that ended."""
        following = self._channels.get(delivery.address.partition(":")[0])
        if following is not None and following.capabilities.follows:
            sent = await following.send(_outgoing(delivery, await self._card(delivery)))
            return Posted(sent)
        if delivery.body["kind"] == _SETTLED:
            return Posted(await self._settle(delivery))
        if delivery.body["kind"] == _VOTED:
            return Posted(await self._show_votes(delivery))
        channel = self._channel(delivery.address)
        if not channel.capabilities.shows_questions:
            return Posted(await channel.send(_outgoing(delivery, None)))
        shown = await self._card(delivery)
        if shown is None or not (is_elsewhere(delivery.id) or delivery.attempts > 1):
            return Posted(await channel.send(_outgoing(delivery, shown)))
        if delivery.attempts <= 1 and await self._is_idle(delivery, shown):
            return Posted(Sent(receipt={}), is_settled=True)  # later it may have got through
        sent = await channel.send(_outgoing(delivery, shown))
        return Posted(sent, is_settled=await self._catch_up(delivery, sent))

    async def _is_idle(self, delivery: Delivery, shown: QuestionCard) -> bool:
        """Tell whether nobody need hear it any more: it is decided, or a later reminder is here."""
        if shown.status != "open":
            return True
        if delivery.body["kind"] != _REMINDED:
            return False
        return any(
            (one.address, one.question) == (delivery.address, delivery.question)
            and (one.body["kind"], one.status) == (_REMINDED, "pending")
            and one.seq > delivery.seq
            for one in await self._store.deliveries(delivery.thread)
        )

    async def _catch_up(self, delivery: Delivery, sent: Sent) -> bool:
        """Settle what was decided about while it was on its way, or waited for another try.

        Where the decision is told as well, the outbox keeps the order; elsewhere nothing comes
        after the question. The conversation may have moved since: then that is elsewhere, too.
        """
        now = await self._card(delivery)
        if now is None or now.status == "open":
            return False
        rows = await self._store.deliveries(delivery.thread)
        if delivery.address in _told(rows, delivery, _SETTLED):
            return False
        settled = replace(_outgoing(delivery, now), kind=_SETTLED, tries=delivery.attempts)
        return await self._show_settled(sent.receipt, settled)

    # Settling

    async def _settle(self, delivery: Delivery) -> Sent:
        """Settle the copies at this address; from the origin, also those that nobody else does."""
        copies = _copies(await self._store.deliveries(delivery.thread), delivery)
        await self._settle_all(delivery, copies)
        return await self._also_sent(delivery, copies)

    async def _show_votes(self, delivery: Delivery) -> Sent:
        """Show in the copies of this address who has decided; what can't be changed stays."""
        copies = _copies(await self._store.deliveries(delivery.thread), delivery)
        for copy in filter(self._can_change, copies):
            shown = await self._card(copy)
            if shown is not None and shown.status == "open":
                voted = _outgoing(delivery, shown, address=copy.address)
                await self._show_settled(copy.receipt or {}, voted)
        return await self._also_sent(delivery, copies)

    async def _also_sent(self, delivery: Delivery, copies: list[Delivery]) -> Sent:
        """Send it as well where no questions are shown that could be changed."""
        channel = self._channels.get(delivery.address.partition(":")[0])
        if channel is not None and not channel.capabilities.shows_questions:
            return await channel.send(_outgoing(delivery, None))
        return Sent(receipt={"copies": len(copies)})

    def _can_change(self, copy: Delivery) -> bool:
        return copy.status == "sent" and self._edits(copy.address)

    def _edits(self, address: str) -> bool:
        channel = self._channels.get(address.partition(":")[0])
        return channel is not None and channel.capabilities.edits

    async def _settle_all(self, delivery: Delivery, copies: list[Delivery]) -> None:
        """Settle side by side: a channel that is down keeps no other copy from it."""
        shown = {"sent", "settled"} if delivery.body.get("again") else {"sent"}
        there = [copy for copy in copies if copy.status in shown and not _is_unsent(copy)]
        settling = [self._settle_copy(delivery, copy) for copy in there]
        ended = await asyncio.gather(*settling, return_exceptions=True)
        for failed in (one for one in ended if isinstance(one, BaseException)):
            raise failed
        if any(copy.status == "pending" and copy.lease_until is not None for copy in copies):
            raise TryLater("a copy is on its way to somebody else")

    async def _settle_copy(self, delivery: Delivery, copy: Delivery) -> None:
        shown = _outgoing(delivery, await self._card(copy), address=copy.address)
        if await self._show_settled(copy.receipt or {}, replace(shown, tries=copy.attempts)):
            await self._store.end_deliveries([DeliveryEnd(delivery=copy, status="settled")])

    async def settle_uncounted(self, delivery: Delivery, receipt: JsonObject) -> None:
        """Settle what was sent, or changed, after somebody else had taken its delivery over.

        While its question is open it does no harm, and who settles the others looks for it.
        """
        now = await self._card(delivery)
        if now is None or now.status == "open" or not self._edits(delivery.address):
            return
        shown = [receipt] if delivery.body["kind"] in _SHOW_THE_QUESTION else []
        if delivery.body["kind"] == _VOTED:  # an old view of it, over the one that is so
            rows = await self._store.deliveries(delivery.thread)
            copies = [one for one in _copies(rows, delivery) if self._edits(one.address)]
            shown = [one.receipt for one in copies if one.receipt]
        settled = replace(_outgoing(delivery, now), kind=_SETTLED)
        for one in shown:
            await self._show_settled(one, settled)

    async def _show_settled(self, receipt: JsonObject, settled: Outgoing) -> bool:
        """Show it in one copy; one that can never be changed keeps no other from it."""
        try:
            await self._channel(settled.address).settle(receipt, settled)
        except GiveUp as exc:
            ids = {"thread_id": settled.thread, "delivery_id": settled.id}
            _log.warning("copy not settled", extra={**ids, "error": str(exc)})
            return False
        return True

    # What is sent

    def _channel(self, address: str) -> Channel:
        name = address.partition(":")[0]
        if name not in self._channels:
            raise NoSuchAddress(f"there is no channel for {name!r}")
        return self._channels[name]

    async def _card(self, delivery: Delivery) -> QuestionCard | None:
        if delivery.question is None:
            return None
        row = await self._store.question(delivery.question)
        channel = delivery.address.partition(":")[0]
        return None if row is None else card(row.body, self._people, channel)


def _outgoing(delivery: Delivery, question: QuestionCard | None, *, address: str = "") -> Outgoing:
    body: JsonObject = delivery.body
    return Outgoing(
        id=delivery.id,
        thread=delivery.thread,
        address=address or delivery.address,
        kind=cast("OutgoingKind", body["kind"]),
        text=body.get("text") or "",
        question=question,
        asked=tuple(body.get("asked", ())),
        attempt=delivery.attempts,
    )


def _is_unsent(copy: Delivery) -> bool:
    """Tell whether it was settled without having been sent, because nobody needed it any more."""
    return copy.status == "settled" and not copy.receipt


def _copies(rows: list[Delivery], delivery: Delivery) -> list[Delivery]:
    """Give the copies that a delivery changes; at the origin, also those that no other does."""
    copies = [
        one
        for one in rows
        if one.question == delivery.question and one.body["kind"] in _SHOW_THE_QUESTION
    ]
    if is_elsewhere(delivery.id):
        return [one for one in copies if one.address == delivery.address]
    told = _told(rows, delivery, delivery.body["kind"]) - {delivery.address}
    return [one for one in copies if one.address not in told]


def _told(rows: list[Delivery], delivery: Delivery, kind: str) -> set[str]:
    """Give the addresses that hear by themselves of a vote, or how this question ended."""
    return {
        one.address
        for one in rows
        if one.question == delivery.question and one.body["kind"] == kind
    }
