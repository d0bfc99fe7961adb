"""The sender: takes what must be said from the outbox, and hands it to the channel it is for.

At least once, in order within a thread and address. A try that fails is put back with a growing
delay; one that can't ever succeed is marked failed, and stays to be seen. What is committed in
this process is handed over leased (`nearby`); the rest is claimed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

from agent_core.json_values import plain_object
from agent_core.loop.world import World
from agent_core.thread.events import Millis
from channels.channel import Channel, ChannelError, GiveUp, TryLater
from gateway.outbox.lane import Lane
from gateway.outbox.leftovers import Leftovers
from gateway.outbox.posting import Posted, Posting
from gateway.outbox.rerouting import Rerouting
from gateway.people.directory import Directory
from gateway.shortcuts.hints import Hints, heard_or_later
from gateway.shortcuts.nearby import Nearby
from gateway.telemetry.figures import Figures
from storage.errors import StoreError
from storage.store import Store
from storage.values import Delivery, DeliveryEnd, Hint

_log = logging.getLogger("parley.sender")

_FIRST_DELAY = 1.0
_NO_CHANNEL = ""
"""The lane of what can't be sent at all."""


@dataclass(frozen=True, kw_only=True)
class SenderOptions:
    """How many at once through each channel, and how long one try may take."""

    at_once: int = 32
    lease_ms: int = 60_000
    """What is not begun in the first half of it is left to somebody else."""
    timeout_seconds: float = 30.0
    poll_seconds: float = 2.0
    linger_seconds: float = 0.02
    """How long the end of one waits for others, to be recorded together with them."""
    longest_delay: float = 300.0
    """Seconds between two tries, at the most."""
    most_attempts: int = 300
    """With the longest delay, about a day: an outage of theirs is no failure of ours."""
    drain_seconds: float = 5.0

    @property
    def try_seconds(self) -> float:
        """Give how long a try may take: begun in the first half of a lease, it ends in the second.

        Longer, and somebody else would send it as well.
        """
        return min(self.timeout_seconds, self.lease_ms / 2000)


class Sender:
    """Sends this process's share of the outbox."""

    def __init__(
        self,
        store: Store,
        channels: Mapping[str, Channel],
        hints: Hints,
        *,
        people: Directory | None = None,
        world: World | None = None,
        options: SenderOptions | None = None,
        nearby: Nearby | None = None,
        figures: Figures | None = None,
    ) -> None:
        self._store = store
        self._names = frozenset(channels)
        people = people or Directory()
        world = world or World()
        self._posting = Posting(store, channels, people)
        self._leftovers = Leftovers(self._posting, world)
        self._rerouting = Rerouting(store, channels, people, figures)
        self._hints = hints
        self._world = world
        self._options = options or SenderOptions()
        self._nearby = nearby or Nearby()
        self._lanes: dict[str, Lane[Delivery]] = {
            name: Lane(self._send, self._options.at_once) for name in (*channels, _NO_CHANNEL)
        }
        self._ends: list[DeliveryEnd] = []
        self._ended = asyncio.Event()
        self._look = asyncio.Event()
        self._held = 0
        """How many we have, sent or not, whose end is not recorded."""
        self._may_be_behind = False
        """Something may wait for the end of one of these."""

    async def run(self) -> None:
        """Send until cancelled; what was under way is finished or found again by its lease."""
        with self._hints.listening("deliveries", self._hear):
            self._nearby.sender = self
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._claim_for_ever(), name="sender: claim")
                    tasks.create_task(self._end_for_ever(), name="sender: end")
            finally:
                self._nearby.sender = None
                await self._drain()

    def _hear(self, _hint: Hint) -> None:
        if self._ends:  # most likely it stands behind one of these: look when they are recorded
            self._may_be_behind = True
        else:
            self._look.set()

    # What is handed over, leased already

    def lease_ms(self) -> int | None:
        """Take more only while there are hands for it: a lease runs out in a queue, too."""
        return self._options.lease_ms if self._room() > 0 else None

    def take(self, deliveries: Sequence[Delivery]) -> None:
        """Send what was leased on our behalf."""
        self._held += len(deliveries)
        for delivery in deliveries:
            name = delivery.address.partition(":")[0]
            self._lanes[name if name in self._names else _NO_CHANNEL].add(delivery)

    def _room(self) -> int:
        """Tell how many more to take: as many as can be sent at once, but no queue without end."""
        at_once = self._options.at_once
        return min(at_once, at_once * len(self._lanes) - self._held)

    # Claiming

    async def _claim_for_ever(self) -> None:
        while True:
            try:
                more = await self._claim()
            except StoreError:
                _log.exception("outbox failed")
                more = False
            if not more:
                await heard_or_later(self._look, self._options.poll_seconds)

    async def _claim(self) -> bool:
        """Claim what there is room for; tell whether there may be more."""
        room = self._room()
        if room <= 0:
            self._may_be_behind = True
            return False
        self._may_be_behind = self._held > 0  # now: an end may be recorded while we claim
        claiming = asyncio.ensure_future(
            self._store.claim_deliveries(
                now=self._world.now(), lease_ms=self._options.lease_ms, limit=room
            )
        )
        try:
            due = await asyncio.shield(claiming)
        except asyncio.CancelledError:  # the store may have leased them all the same
            with suppress(StoreError):
                self.take(await claiming)
            raise
        self.take(due)
        self._may_be_behind = self._may_be_behind or self._held > 0
        return len(due) == room

    # Sending

    async def _send(self, delivery: Delivery) -> None:
        if self._is_late(delivery):  # it waited for too long here: whoever is free shall have it
            return self._end(DeliveryEnd(delivery=delivery, status="pending", is_untried=True))
        try:
            self._end(await self._outcome(delivery))
        except Exception:  # noqa: BLE001 (also our bug: it must not end who sends the others)
            self._held -= 1  # its lease runs out, and it is tried again
            _log.exception("outbox failed", extra={"delivery_id": delivery.id})
        except BaseException:  # we are cut off: it is found again by its lease
            self._held -= 1
            raise

    def _is_late(self, delivery: Delivery) -> bool:
        """Tell whether its lease could run out while we send, and somebody else would send it."""
        begin_before = (delivery.lease_until or 0) - self._options.lease_ms // 2
        return delivery.lease_until is not None and begin_before <= self._world.now()

    async def _outcome(self, delivery: Delivery) -> DeliveryEnd:
        try:
            posted = await self._try(delivery)
        except ChannelError as exc:
            return await self._put_back(delivery, exc)
        return DeliveryEnd(
            delivery=delivery,
            status="settled" if posted.is_settled else "sent",
            receipt=posted.sent.receipt,
            place=posted.sent.place,
        )

    async def _try(self, delivery: Delivery) -> Posted:
        try:
            async with asyncio.timeout(self._options.try_seconds):
                posted = await self._posting.send(delivery)
                if posted.sent.unseen_by:
                    unseen_by, now = posted.sent.unseen_by, self._world.now()
                    await self._rerouting.tell_absent(delivery, unseen_by, now)
                receipt = plain_object(posted.sent.receipt, "receipt")
                return replace(posted, sent=replace(posted.sent, receipt=receipt))
        except (ChannelError, StoreError):
            raise
        except Exception as exc:
            _log.exception("channel failed", extra={"delivery_id": delivery.id})
            raise TryLater(type(exc).__name__) from exc

    async def _put_back(self, delivery: Delivery, exc: ChannelError) -> DeliveryEnd:
        final = not isinstance(exc, TryLater) or delivery.attempts >= self._options.most_attempts
        if final:
            now = self._world.now()
            await self._rerouting.reroute(delivery, now)
            if isinstance(exc, GiveUp) and exc.notice:
                await self._rerouting.notify(delivery, exc.notice, now)
            return DeliveryEnd(delivery=delivery, status="failed", due_at=now, error=str(exc))
        grown = min(_FIRST_DELAY * 2 ** min(delivery.attempts, 20), self._options.longest_delay)
        seconds = max(grown, getattr(exc, "retry_after", None) or 0.0)
        due_at = Millis(self._world.now() + round(seconds * 1000 * (1 + self._world.random() / 4)))
        return DeliveryEnd(delivery=delivery, status="pending", due_at=due_at, error=str(exc))

    # Recording how it ended

    def _end(self, end: DeliveryEnd) -> None:
        self._ends.append(end)
        self._ended.set()

    async def _end_for_ever(self) -> None:
        """Record what has ended, together with what ends right after it."""
        while True:
            await self._ended.wait()
            await asyncio.sleep(self._options.linger_seconds)
            self._ended.clear()
            try:
                await self._record()
            except StoreError:
                _log.exception("outbox failed")
                await asyncio.sleep(self._options.poll_seconds)
                self._ended.set()
            if self._may_be_behind:
                self._look.set()

    async def _record(self) -> None:
        ends = tuple(self._ends)  # others are added while these are recorded
        try:
            recorded = await self._store.end_deliveries(ends)
        except StoreError:
            self._give_up_late_ends()
            raise
        del self._ends[: len(ends)]
        self._held -= len(ends)
        self._leftovers.look_at(ends, recorded)

    def _give_up_late_ends(self) -> None:
        """Forget what could not be recorded before its lease ran out: it is sent again."""
        now = self._world.now()
        in_time = [end for end in self._ends if (end.delivery.lease_until or now) > now]
        self._held -= len(self._ends) - len(in_time)
        self._ends = in_time

    async def _drain(self) -> None:
        """Let end what is under way, and put the rest back: what we hold, nobody else can send."""
        seconds, now = self._options.drain_seconds, self._world.now()
        lanes = [lane.drain(seconds) for lane in self._lanes.values()]
        for delivery in chain.from_iterable(await asyncio.gather(*lanes)):
            end = DeliveryEnd(delivery=delivery, status="pending", due_at=now, is_untried=True)
            self._end(end)
        if self._ends:
            with suppress(StoreError):
                await self._record()
        await self._leftovers.drain(seconds)
