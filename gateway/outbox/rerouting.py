"""Rerouting: what could not be delivered goes to the next address at once, or the operator hears.

Each try may end half-way and come again: the ids of what is sent on are the same each time.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import chain

from agent_core.json_values import JsonObject
from agent_core.thread.events import Millis
from channels.channel import Channel
from gateway.outbox.delivery_ids import ABSENT, OPERATOR, REROUTED, base, is_elsewhere
from gateway.outbox.tidings import reached_nobody
from gateway.people.directory import Directory
from gateway.people.places import MACHINES
from gateway.settings.hours import Hours
from gateway.telemetry.figures import Figures
from storage.errors import IdTaken
from storage.store import Store
from storage.values import Commit, Delivery, DeliveryId, NewDelivery, QuestionRow

_log = logging.getLogger("parley.posting")

_ASKING = frozenset({"question.asked", "question.reminded", "question.escalated"})
_ENDS = frozenset({"thread.finished", "thread.failed", "thread.cancelled"})
_NOTICE = "notice"
_REMINDED = "question.reminded"


class Rerouting:
    """Knows who is meant, and the ways to them that are left."""

    def __init__(
        self,
        store: Store,
        channels: Mapping[str, Channel],
        people: Directory,
        figures: Figures | None = None,
    ) -> None:
        self._store = store
        self._channels = channels
        self._people = people
        self._figures = figures or Figures()

    async def reroute(self, delivery: Delivery, now: Millis) -> list[str]:
        """After a final failure, send it to the next address of those whom it was for."""
        kind, channel = delivery.body["kind"], delivery.address.partition(":")[0]
        if kind not in _ASKING | _ENDS | {_NOTICE} or channel in MACHINES:
            return []
        row = await self._question(delivery)
        if row is not None and row.status != "open":
            return []
        rows = await self._store.deliveries(delivery.thread)
        following = self._following(delivery, rows, await self._meant(delivery, row))
        for number, (address, hours) in enumerate(following.items()):
            due_at = _due_at(hours, row, now)
            await self._send(delivery, f"{REROUTED}{number}", address, delivery.body, due_at)
        if not following and not _is_told(delivery, rows):
            self._figures.unreached += 1
            _log.error("nobody could be reached", extra=_ids(delivery))
            lost = reached_nobody(delivery.thread, delivery.question)
            await self._tell_operators(delivery, lost, now)
        return list(following)

    async def tell_absent(
        self, delivery: Delivery, absent: Sequence[str], now: Millis
    ) -> list[str]:
        """Bring a question to those who are asked and can't see it where it was asked."""
        row = await self._question(delivery)
        if row is None or row.status != "open":
            return []
        told: dict[str, Millis] = {}
        for reach in chain.from_iterable(map(self._people.reaches, absent)):
            due_at = _due_at(reach.hours, row, now)
            usable = [way for way in reach.ways if way.partition(":")[0] in self._channels]
            told |= dict.fromkeys(usable if reach.at_once else usable[:1], due_at)
        waiting = await self._waiting(delivery) if delivery.body["kind"] == _REMINDED else set()
        for number, (address, due_at) in enumerate(told.items()):
            if address not in waiting:
                await self._send(delivery, f"{ABSENT}{number}", address, delivery.body, due_at)
        return [address for address in told if address not in waiting]

    async def _waiting(self, delivery: Delivery) -> set[str]:
        """Give where the question itself has yet to come: nobody is reminded of it there."""
        return {
            one.address
            for one in await self._store.deliveries(delivery.thread)
            if one.question == delivery.question and one.status == "pending"
            if one.body["kind"] in _ASKING and is_elsewhere(one.id)
        }

    def _following(
        self, delivery: Delivery, rows: Sequence[Delivery], meant: Sequence[str]
    ) -> dict[str, Hours | None]:
        """Give where it goes next: to the same person; from the origin, to all whom it is for.

        Who could see it there has hours of their own; who was written to before is in theirs.
        """
        first, mine = base(delivery.id), f"{delivery.id}{REROUTED}"
        # Not what a try before this one sent on: it is found again, and sent on once.
        there = [one for one in rows if base(one.id) == first and not one.id.startswith(mine)]
        tried = {one.address for one in there}
        if is_elsewhere(delivery.id):
            everybody: list[tuple[Sequence[str], Hours | None]] = [
                (self._people.ways_of(delivery.address), None)
            ]
        else:
            told = tried - {delivery.address}
            reaches = chain.from_iterable(map(self._people.reaches, meant))
            everybody = [(one.ways, one.hours) for one in reaches if told.isdisjoint(one.ways)]
        following: dict[str, Hours | None] = {}
        for ways, hours in everybody:
            left = [way for way in ways if not _is_among(way, tried)]
            following |= dict.fromkeys(self._first(left), hours)
        return following

    def _first(self, ways: Sequence[str]) -> list[str]:
        """Give the first of these for which there is a channel."""
        return [way for way in ways if way.partition(":")[0] in self._channels][:1]

    async def _meant(self, delivery: Delivery, row: QuestionRow | None) -> list[str]:
        """Give whom it is for: those who are asked, else who began it."""
        if row is not None:
            return list(row.body["audience"])
        thread = await self._store.thread(delivery.thread)
        return [thread.requester] if thread else []

    async def _question(self, delivery: Delivery) -> QuestionRow | None:
        key = delivery.question
        return None if key is None else await self._store.question(key)

    async def notify(self, delivery: Delivery, notice: str, now: Millis) -> None:
        """Tell the operators what a channel wants them to know."""
        await self._tell_operators(delivery, {"kind": _NOTICE, "text": notice}, now)

    async def _tell_operators(self, delivery: Delivery, body: JsonObject, now: Millis) -> None:
        """Tell those who look after this installation, once for each event; never of a notice."""
        if delivery.body["kind"] == _NOTICE:
            return
        ways = [self._first(one.ways) for one in self._people.operators()]
        for number, address in enumerate(dict.fromkeys(chain.from_iterable(ways))):
            if address != delivery.address:
                await self._send(delivery, f"{OPERATOR}{number}", address, body, now)

    async def _send(
        self, delivery: Delivery, mark: str, address: str, body: JsonObject, now: Millis
    ) -> None:
        stem = base(delivery.id) if mark.startswith(OPERATOR) else delivery.id
        also = NewDelivery(
            id=DeliveryId(f"{stem}{mark}"),
            address=address,
            body=body,
            due_at=now,
            question=delivery.question if body is delivery.body else None,
        )
        try:
            await self._store.commit(Commit(thread=delivery.thread, deliveries=[also], now=now))
        except IdTaken:  # a try before this one came so far, and no further
            _log.info("sent elsewhere before", extra=_ids(delivery))


def _due_at(hours: Hours | None, row: QuestionRow | None, now: Millis) -> Millis:
    """Tell when a question may go to somebody; how it ended never waits."""
    is_patient = row is not None and row.body["urgency"] != "high"
    return hours.begin(now) if hours is not None and is_patient else now


def _is_told(delivery: Delivery, rows: Sequence[Delivery]) -> bool:
    """Tell whether somebody else has it, or will: then it was not said in vain."""
    return any(
        one.id != delivery.id
        and not _has_failed(one, rows)
        and one.address.partition(":")[0] not in MACHINES
        and (
            one.body["kind"] in _ASKING if delivery.question else base(one.id) == base(delivery.id)
        )
        and one.question == delivery.question
        for one in rows
    )


def _has_failed(one: Delivery, rows: Sequence[Delivery]) -> bool:
    """Tell whether it was given up; what was sent on was, even if that is not recorded yet."""
    sent_on = f"{one.id}{REROUTED}"
    return one.status == "failed" or any(row.id.startswith(sent_on) for row in rows)


def _is_among(way: str, tried: set[str]) -> bool:
    """Tell whether a way was tried; a conversation in somebody's mailbox is that mailbox."""
    return any(f"{was}:".startswith(f"{way}:") for was in tried)


def _ids(delivery: Delivery) -> dict[str, str]:
    return {"thread_id": delivery.thread, "delivery_id": delivery.id}
