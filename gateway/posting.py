"""Posting: a delivery as its channel sends it, the copies of a settled question, the next address.

The sender decides when and how often; this decides what is sent to whom.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from agent_core.json_values import JsonObject
from agent_core.thread.events import Millis
from channels.channel import Channel, GiveUp, NoSuchAddress, Sent, TryLater
from channels.outgoing import Outgoing, OutgoingKind, QuestionCard
from channels.people import Actor
from gateway.cards import card
from gateway.people import Directory
from storage.errors import IdTaken
from storage.store import Store
from storage.values import Commit, Delivery, DeliveryEnd, DeliveryId, NewDelivery

_log = logging.getLogger("parley.posting")

_SHOW_THE_QUESTION = frozenset({"question.asked", "question.reminded", "question.escalated"})
"""A reminder is a copy, too: it must not be left with buttons."""
_MUST_ARRIVE = _SHOW_THE_QUESTION | {"thread.finished", "thread.failed", "thread.cancelled"}
_REROUTED = ">"
"""Stands at the end of a delivery's id, once for each address before."""
_ALSO = "+"
"""Stands in the id of a copy for somebody who could not see the first."""


class Posting:
    """What is sent, and where to when that fails."""

    def __init__(self, store: Store, channels: Mapping[str, Channel], people: Directory) -> None:
        self._store = store
        self._channels = channels
        self._people = people

    async def send(self, delivery: Delivery) -> Sent:
        """Send it, or show in every copy of its question how that ended."""
        channel = self._channel(delivery.address)
        if not channel.capabilities.shows_questions:
            return await channel.send(_outgoing(delivery, None))
        if delivery.body["kind"] == "question.settled":
            return await self._settle(delivery)
        sent = await channel.send(_outgoing(delivery, await self._card(delivery)))
        if _is_elsewhere(delivery):
            await self._catch_up(delivery, sent)
        return sent

    async def _catch_up(self, delivery: Delivery, sent: Sent) -> None:
        """Settle what was decided about while it was on its way to another address.

        Where the thread began the outbox keeps the order; here nothing comes after the question.
        """
        now = await self._card(delivery)
        if now is not None and now.status != "open":
            settled = replace(_outgoing(delivery, now), kind="question.settled")
            await self._show_settled(sent.receipt, settled)

    async def tell_others(self, delivery: Delivery, now: Millis) -> None:
        """Bring a question to those who are asked, where only who began the thread could see it."""
        if delivery.body["kind"] not in _SHOW_THE_QUESTION or _is_elsewhere(delivery):
            return
        thread, shown = await self._store.thread(delivery.thread), await self._asked(delivery)
        if thread is None or self._people.may_answer(Actor(id=thread.requester), shown):
            return
        for number, address in enumerate(self._people.nearest(shown, self._channels)):
            await self._send_also(delivery, f"{delivery.id}{_ALSO}{number}", address, now)

    async def reroute(self, delivery: Delivery, now: Millis) -> str:
        """After a final failure, send it to the person's next address; empty if there is none."""
        if delivery.body["kind"] not in _MUST_ARRIVE:
            return ""
        tried = await self._tried(delivery)
        ways = [one for one in await self._ways(delivery) if one not in tried]
        ways = [one for one in ways if one.partition(":")[0] in self._channels]
        if not ways:
            _log.error("nobody could be reached", extra=_ids(delivery))
            return ""
        await self._send_also(delivery, f"{delivery.id}{_REROUTED}", ways[0], now)
        return ways[0]

    async def _send_also(self, delivery: Delivery, key: str, address: str, now: Millis) -> None:
        again = NewDelivery(
            id=DeliveryId(key),
            address=address,
            body=delivery.body,
            due_at=now,
            question=delivery.question,
        )
        try:
            await self._store.commit(Commit(thread=delivery.thread, deliveries=[again], now=now))
        except IdTaken:  # a try before this one came so far, and no further
            _log.info("sent elsewhere before", extra=_ids(delivery))

    def _channel(self, address: str) -> Channel:
        name = address.partition(":")[0]
        if name not in self._channels:
            raise NoSuchAddress(f"there is no channel for {name!r}")
        return self._channels[name]

    async def _settle(self, delivery: Delivery) -> Sent:
        copies = [
            one
            for one in await self._store.deliveries(delivery.thread)
            if one.question == delivery.question and one.body["kind"] in _SHOW_THE_QUESTION
        ]
        there = [copy for copy in copies if copy.status == "sent"]
        for copy in there:
            settled = _outgoing(delivery, await self._card(copy), address=copy.address)
            if await self._show_settled(copy.receipt or {}, settled):
                await self._store.end_deliveries([DeliveryEnd(delivery=copy, status="settled")])
        if any(copy.status == "pending" and copy.lease_until is not None for copy in copies):
            raise TryLater("a copy is on its way to somebody else")
        return Sent(receipt={"copies": len(there)})

    async def _show_settled(self, receipt: JsonObject, settled: Outgoing) -> bool:
        """Show it in one copy; one that can never be changed keeps no other from it."""
        try:
            await self._channel(settled.address).settle(receipt, settled)
        except GiveUp as exc:
            ids = {"thread_id": settled.thread, "delivery_id": settled.id}
            _log.warning("copy not settled", extra={**ids, "error": str(exc)})
            return False
        return True

    async def _card(self, delivery: Delivery) -> QuestionCard | None:
        if delivery.question is None:
            return None
        row = await self._store.question(delivery.question)
        channel = delivery.address.partition(":")[0]
        return None if row is None else card(row.body, self._people, channel)

    async def _tried(self, delivery: Delivery) -> set[str]:
        root = delivery.id.rstrip(_REROUTED)
        rows = await self._store.deliveries(delivery.thread)
        return {one.address for one in rows if one.id.rstrip(_REROUTED) == root}

    async def _ways(self, delivery: Delivery) -> list[str]:
        """Give where the people are whom this is for: those who are asked, else who began it."""
        if delivery.question is not None:
            return self._people.addresses(await self._asked(delivery))
        thread = await self._store.thread(delivery.thread)
        return self._people.addresses([thread.requester] if thread else [])

    async def _asked(self, delivery: Delivery) -> list[str]:
        row = None if delivery.question is None else await self._store.question(delivery.question)
        return list(row.body["audience"]) if row else []


def _outgoing(delivery: Delivery, question: QuestionCard | None, *, address: str = "") -> Outgoing:
    body: JsonObject = delivery.body
    return Outgoing(
        id=delivery.id,
        thread=delivery.thread,
        address=address or delivery.address,
        kind=cast("OutgoingKind", body["kind"]),
        text=body.get("text") or "",
        question=question,
        attempt=delivery.attempts,
    )


def _is_elsewhere(delivery: Delivery) -> bool:
    """Tell whether it goes to another address than where the thread began."""
    return _REROUTED in delivery.id or _ALSO in delivery.id


def _ids(delivery: Delivery) -> dict[str, str]:
    return {"thread_id": delivery.thread, "delivery_id": delivery.id}
