"""The sender: at least once, in order, with growing delays, and an end to everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from agent_core import HandDrivenWorld
from agent_core.json_values import JsonObject
from agent_core.thread.events import MessageReceived, Millis, ThreadId, ThreadLaunched
from channels.channel import Channel, GiveUp, Sent, TryLater
from channels.notebook import Notebook
from channels.outgoing import Outgoing
from channels.web.channel import WebChannel
from gateway.outbox.sender import Sender, SenderOptions
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from storage.errors import StoreBusy
from storage.memory import MemoryStore
from storage.values import (
    Commit,
    Committed,
    Delivery,
    DeliveryEnd,
    DeliveryId,
    NewDelivery,
    NewThread,
)
from tests.doubles.stage import Gate
from tests.unit.gateway.workshop import NO_HURRY, stop, until

QUICK = SenderOptions(poll_seconds=0.005, linger_seconds=0.001)


class Office:
    """A sender on a store, in a world driven by hand."""

    def __init__(self, *channels: Channel, store: MemoryStore | None = None) -> None:
        """Put it together; nothing runs yet."""
        self.store = store or MemoryStore()
        self.nearby = Nearby()
        self.clock = HandDrivenWorld()
        self.hints = Hints(self.store)
        self.channels = {channel.name: channel for channel in channels}

    def sender(self, options: SenderOptions = QUICK) -> Sender:
        """Make a sender."""
        return Sender(
            self.store,
            self.channels,
            self.hints,
            world=self.clock.world,
            options=options,
            nearby=self.nearby,
        )

    async def write(self, thread: str, *ids: str, address: str = "notebook:lisa") -> None:
        """Put messages into the outbox, each in a commit of its own."""
        key, now = ThreadId(thread), self.clock.moment
        for number, one in enumerate(ids):
            new = number == 0 and await self.store.thread(key) is None
            launched = ThreadLaunched(at=now, thread=key, agent="agent")
            said = MessageReceived(at=now, text=one)
            await self.store.commit(
                Commit(
                    thread=key,
                    events=[launched, said] if new else [said],
                    create=NewThread(agent="agent") if new else None,
                    deliveries=[
                        NewDelivery(
                            id=DeliveryId(one),
                            address=address,
                            body={"kind": "thread.finished", "text": one},
                            due_at=now,
                        )
                    ],
                    now=now,
                )
            )

    async def hand_over(self, thread: str, *ids: str, address: str = "notebook:lisa") -> int:
        """Commit messages all at once, and give the sender those that were leased to it."""
        now = self.clock.moment
        done = await self.store.commit(
            Commit(
                thread=ThreadId(thread),
                events=[ThreadLaunched(at=now, thread=ThreadId(thread), agent="agent")],
                create=NewThread(agent="agent"),
                deliveries=[
                    NewDelivery(
                        id=DeliveryId(one),
                        address=address,
                        body={"kind": "thread.finished", "text": one},
                        due_at=now,
                    )
                    for one in ids
                ],
                now=now,
                send_lease_ms=self.nearby.send_lease_ms(),
            )
        )
        assert isinstance(done, Committed)
        self.nearby.pass_on(done.deliveries)
        return len(done.deliveries)

    async def row(self, one: str, thread: str = "t1") -> Delivery:
        """Look at a delivery."""
        rows = await self.store.deliveries(ThreadId(thread))
        return next(row for row in rows if row.id == one)

    async def put_back(self, one: str, tries: int) -> Delivery:
        """Wait until a delivery was tried so often, and nobody has it."""
        return await self.until(one, lambda row: (row.attempts, row.lease_until) == (tries, None))

    async def until(
        self, one: str, holds: Callable[[Delivery], Any], *, thread: str = "t1"
    ) -> Delivery:
        """Wait until something is true of a delivery."""
        async with asyncio.timeout(10):
            while True:
                row = await self.row(one, thread)
                if holds(row):
                    return row
                await asyncio.sleep(0.002)


@asynccontextmanager
async def working(office: Office, options: SenderOptions = QUICK) -> AsyncIterator[Office]:
    """Open the store, pass hints on, and send."""
    await office.store.open()
    parts = [office.hints.run(), office.sender(options).run()]
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        yield office
    finally:
        for task in reversed(tasks):
            await stop(task)
        await office.store.close()


async def test_messages_of_a_thread_are_sent_in_order() -> None:
    """Each once; what comes while others are sent finds its place behind them."""
    book = Notebook()
    async with working(Office(book)) as office:
        await office.write("t1", *(f"a{number}" for number in range(10)))
        await office.write("t2", *(f"b{number}" for number in range(10)))
        await office.until("a9", lambda row: row.status == "sent")
        await until(lambda: len(book.sent) == 20)
        row = await office.row("a9")

    assert [one for one in book.sent if one[0] == "a"] == [f"a{number}" for number in range(10)]
    assert [one for one in book.sent if one[0] == "b"] == [f"b{number}" for number in range(10)]
    assert (row.receipt is not None, row.attempts, row.due_at) == (True, 1, None)


@pytest.mark.parametrize("trouble", [TryLater("line busy"), ValueError("oh"), {"page": object()}])
async def test_failed_try_is_put_back_with_a_growing_delay(
    trouble: Exception | JsonObject,
) -> None:
    """Told to, by a crash, or by a receipt that is no JSON; the next message waits behind it."""
    book = Notebook(trouble, trouble, trouble)
    async with working(Office(book)) as office:
        await office.write("t1", "a", "b")
        start = office.clock.moment
        delays = []
        for attempt in (1, 2, 3):
            row = await office.put_back("a", attempt)
            assert row.due_at is not None
            delays.append((row.due_at - start) / 1000)
            office.clock.moment = Millis(row.due_at - 1)
            await asyncio.sleep(3 * QUICK.poll_seconds)
            assert len(book.tried) == attempt, "not before its time"
            start = office.clock.moment = row.due_at
        await office.until("b", lambda row: row.status == "sent")
        done = await office.row("a")

    assert delays == [2, 4, 8]
    assert [one.attempt for one in book.tried] == [1, 2, 3, 4, 1]
    assert {one.id for one in book.tried[:4]} == {"a"}, "the same id, so a channel can look first"
    assert (done.status, book.sent[-2:]) == ("sent", ["a", "b"])


async def test_channel_says_how_long_to_wait() -> None:
    """Never sooner than it asked for."""
    async with working(Office(Notebook(TryLater("slow down", retry_after=30)))) as office:
        await office.write("t1", "a")
        row = await office.put_back("a", 1)

    assert (row.due_at, row.error) == (office.clock.moment + 30_000, "slow down")


async def test_what_can_never_be_sent_is_failed_and_seen() -> None:
    """The channel gave up, or there is no such channel; the next message goes on."""
    book = Notebook(GiveUp("no such person"))
    async with working(Office(book)) as office:
        await office.write("t1", "a", "b")
        await office.write("t1", "lost", address="pigeon:lisa")
        await office.until("b", lambda row: row.status == "sent")
        lost = await office.until("lost", lambda row: row.status != "pending")
        given_up = await office.row("a")

    assert (given_up.status, given_up.error) == ("failed", "no such person")
    assert (lost.status, lost.error) == ("failed", "there is no channel for 'pigeon'")


class Puzzled(MemoryStore):
    """A store with a mistake of ours in it."""

    async def deliveries(self, thread: ThreadId) -> list[Delivery]:
        """Fail in a way that nobody foresaw."""
        if thread == "t1":
            raise KeyError("our mistake")
        return await super().deliveries(thread)


async def test_mistake_of_ours_over_one_message_holds_up_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The one is found again by its lease; who was about to send it goes on, and it is logged."""
    book = Notebook(GiveUp("no such person"))
    options = replace(QUICK, at_once=1, poll_seconds=NO_HURRY)
    office = Office(book, store=Puzzled())
    async with working(office, options):
        await office.hand_over("t1", "a")
        await office.hand_over("t2", "b")
        await until(lambda: book.sent == ["b"])

    assert "outbox failed" in caplog.text


async def test_tries_come_to_an_end() -> None:
    """After so many, it is failed with the last error."""
    options = replace(QUICK, most_attempts=3)
    async with working(Office(Notebook(*[TryLater("busy")] * 9)), options) as office:
        await office.write("t1", "a")
        for attempt in (1, 2):
            row = await office.put_back("a", attempt)
            office.clock.moment = Millis(row.due_at or 0)
        end = await office.until("a", lambda row: row.status == "failed")

    assert (end.attempts, end.error) == (3, "busy")


class Hanging(Notebook):
    """A channel that takes for ever, the first time."""

    def __init__(self) -> None:
        """Begin with nobody here."""
        super().__init__()
        self.arrived = asyncio.Event()
        self.go_on = asyncio.Event()
        self.times = 0

    async def send(self, message: Outgoing) -> Sent:
        """Hang."""
        self.times += 1
        self.arrived.set()
        if self.times == 1:
            await self.go_on.wait()
        return Sent(receipt={"time": self.times, "attempt": message.attempt})


async def test_channel_that_hangs_is_cut_off_and_tried_again() -> None:
    """A time-out is a try that failed."""
    async with working(Office(Hanging()), replace(QUICK, timeout_seconds=0.02)) as office:
        await office.write("t1", "a")
        row = await office.put_back("a", 1)
        office.clock.moment = Millis(row.due_at or 0)
        sent = await office.until("a", lambda row: row.status == "sent")

    assert (row.error, sent.receipt) == ("TimeoutError", {"time": 2, "attempt": 2})


@pytest.mark.parametrize(("lease_ms", "seconds"), [(60_000, 30.0), (2_000, 1.0), (600_000, 30.0)])
def test_try_is_cut_off_before_its_lease_can_run_out(lease_ms: int, seconds: float) -> None:
    """Begun in the first half of a lease, it is over in the second: nobody else sends it, too."""
    assert SenderOptions(lease_ms=lease_ms).try_seconds == seconds


async def test_sender_whose_lease_is_gone_records_nothing() -> None:
    """It hung until another had sent it: the other's receipt counts."""
    channel = Hanging()
    office = Office(channel)
    async with working(office):
        await office.write("t1", "a")
        await channel.arrived.wait()
        office.clock.pass_time(61)
        other = asyncio.create_task(office.sender().run())
        sent = await office.until("a", lambda row: row.status == "sent")
        channel.go_on.set()
        await asyncio.sleep(3 * QUICK.poll_seconds)
        after = await office.row("a")
        await stop(other)

    assert (sent.receipt, after) == ({"time": 2, "attempt": 2}, sent)


class ShakyOutbox(MemoryStore):
    """A store whose outbox fails now and then."""

    failures = 0

    async def claim_deliveries(self, *, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
        """Fail every other time."""
        self.failures += 1
        if self.failures % 2:
            raise StoreBusy("busy", retry_after=0)
        return await super().claim_deliveries(now=now, lease_ms=lease_ms, limit=limit)

    async def end_deliveries(self, ends: Sequence[DeliveryEnd]) -> list[bool]:
        """Fail the first time, when the message is out already."""
        if any(end.delivery.attempts == 1 for end in ends):
            raise StoreBusy("busy", retry_after=0)
        return await super().end_deliveries(ends)


async def test_store_that_fails_does_not_end_the_sender() -> None:
    """What may have been sent is sent again when its lease has run out: at least once."""
    book = Notebook()
    async with working(Office(book, store=ShakyOutbox())) as office:
        await office.write("t1", "a")
        await until(lambda: bool(book.sent))
        office.clock.pass_time(61)
        await office.until("a", lambda row: row.status == "sent")

    assert book.sent == ["a", "a"]


async def test_hint_is_enough_to_send_at_once() -> None:
    """Nobody waits for the poll."""
    async with working(Office(Notebook()), replace(QUICK, poll_seconds=100)) as office:
        await asyncio.sleep(0.01)
        await office.write("t1", "a", "b")
        await office.until("b", lambda row: row.status == "sent")


async def test_web_channel_is_one_of_them() -> None:
    """Its receipt says where to read."""
    async with working(Office(WebChannel())) as office:
        await office.write("t1", "a", address="web:t1")
        sent = await office.until("a", lambda row: row.status == "sent")

    assert sent.receipt == {"url": "/v1/threads/t1/events"}


# --- handed over ----------------------------------------------------------------------------------

DEAF = replace(QUICK, poll_seconds=100)


class Counting(MemoryStore):
    """A store that counts what the sender asks of it."""

    claims = ends = 0

    async def claim_deliveries(self, *, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
        """Count."""
        self.claims += 1
        return await super().claim_deliveries(now=now, lease_ms=lease_ms, limit=limit)

    async def end_deliveries(self, ends: Sequence[DeliveryEnd]) -> list[bool]:
        """Count."""
        self.ends += 1
        return await super().end_deliveries(ends)


async def test_what_is_handed_over_is_sent_without_a_claim_and_ended_together() -> None:
    """Many at once are recorded in one write."""
    book, store = Notebook(), Counting()
    async with working(Office(book, store=store), replace(DEAF, linger_seconds=0.5)) as office:
        await until(lambda: store.claims == 1)
        leased = [await office.hand_over(f"t{number}", f"a{number}") for number in range(10)]
        await until(lambda: len(book.sent) == 10)
        await until(lambda: bool(store.ends))
        rows = [await office.row(f"a{number}", f"t{number}") for number in range(10)]

    assert leased == [1] * 10
    assert {row.status for row in rows} == {"sent"}
    assert (store.claims, store.ends) == (1, 1)


class SlowToRecord(Counting):
    """A store that takes until a gate opens to record what was sent."""

    def __init__(self) -> None:
        """Begin with the gate shut."""
        super().__init__()
        self.gate = Gate()

    async def end_deliveries(self, ends: Sequence[DeliveryEnd]) -> list[bool]:
        """Take long."""
        await self.gate.stop_here()
        return await super().end_deliveries(ends)


async def test_what_is_sent_while_others_are_recorded_is_recorded_after_them() -> None:
    """None is forgotten, and none is recorded twice."""
    book, store = Notebook(), SlowToRecord()
    async with working(Office(book, store=store), DEAF) as office:
        await until(lambda: store.claims == 1)
        await office.hand_over("t1", "a")
        await store.gate.reached()
        await office.hand_over("t2", "b")
        await until(lambda: book.sent == ["a", "b"])
        store.gate.open()
        await until(lambda: store.ends == 2)
        rows = [await office.row("a", "t1"), await office.row("b", "t2")]

    assert [(row.status, row.attempts) for row in rows] == [("sent", 1)] * 2


async def test_what_stands_behind_a_message_that_was_handed_over_is_not_forgotten() -> None:
    """Only the first was leased; the others are claimed when it has gone, without a poll."""
    book = Notebook()
    async with working(Office(book), DEAF) as office:
        await until(lambda: office.nearby.sender is not None)
        leased = await office.hand_over("t1", "a", "b", "c")
        await office.until("c", lambda row: row.status == "sent")

    assert (leased, book.sent) == (1, ["a", "b", "c"])


class Stuck(Notebook):
    """A channel that hangs for ever, for some addresses."""

    def __init__(self, name: str, *addresses: str) -> None:
        """Hang for these, or for all."""
        super().__init__(name=name)
        self.addresses = addresses
        self.hanging = 0

    async def send(self, message: Outgoing) -> Sent:
        """Hang, or not."""
        if not self.addresses or message.address in self.addresses:
            self.hanging += 1
            await asyncio.Event().wait()
        return Sent(receipt={})


async def test_channel_that_hangs_holds_up_no_other() -> None:
    """However much it has to send."""
    stuck, book = Stuck("stuck"), Notebook()
    options = replace(QUICK, at_once=3, drain_seconds=0.01)
    async with working(Office(stuck, book), options) as office:
        for number in range(3):
            await office.write(f"s{number}", f"s{number}", address="stuck:otto")
        await until(lambda: stuck.hanging == 3)
        await office.write("t1", "a", "b")
        await office.until("b", lambda row: row.status == "sent")

        assert book.sent == ["a", "b"]


async def test_address_that_hangs_holds_up_no_other_of_its_channel() -> None:
    """Nobody waits for a round to end."""
    stuck = Stuck("notebook", "notebook:otto")
    async with working(Office(stuck), replace(QUICK, drain_seconds=0.01)) as office:
        await office.write("t1", "a", address="notebook:otto")
        await until(lambda: stuck.hanging == 1)
        await office.write("t2", "b", "c")
        async with asyncio.timeout(10):
            while (await office.row("c", "t2")).status != "sent":  # noqa: ASYNC110 (the store's)
                await asyncio.sleep(0.002)


async def test_what_was_not_begun_is_put_back_at_the_end() -> None:
    """Another process sends it at once; what hung is found by its lease."""
    stuck = Stuck("stuck")
    office = Office(stuck)
    options = replace(DEAF, at_once=2, drain_seconds=0.01)
    async with working(office, options):
        await until(lambda: office.nearby.sender is not None)
        for number in range(2):
            await office.hand_over(f"s{number}", f"s{number}", address="stuck:otto")
        await until(lambda: stuck.hanging == 2)
        office.nearby.sender = None  # too late for those who asked before
        assert office.nearby.send_lease_ms() is None
    rows = [await office.row(f"s{number}", f"s{number}") for number in range(2)]

    assert [(row.status, row.lease_until is None) for row in rows] == [("pending", False)] * 2


async def test_what_waited_for_so_long_that_its_lease_may_run_out_meanwhile_is_not_begun() -> None:
    """Somebody else would send it while we do: what is on its way can't be found by looking."""
    channel = Hanging()
    async with working(Office(channel), replace(QUICK, at_once=1)) as office:
        await office.write("t1", "a")
        await channel.arrived.wait()
        await office.write("t2", "b")
        await office.until("b", lambda row: row.lease_until is not None, thread="t2")
        office.clock.pass_time(40)
        channel.go_on.set()
        await office.until("a", lambda row: row.status == "sent")
        sent = await office.until("b", lambda row: row.status == "sent", thread="t2")

    assert (sent.receipt, sent.epoch) == ({"time": 2, "attempt": 1}, 2)


class Outage(Notebook):
    """A channel that is down until a time, by a clock driven by hand."""

    def __init__(self, clock: HandDrivenWorld, seconds: int) -> None:
        """Be down for so long."""
        super().__init__()
        self._clock = clock
        self._until = clock.moment + seconds * 1000

    async def send(self, message: Outgoing) -> Sent:
        """Fail, or write it down."""
        if self._clock.moment < self._until:
            self.tried.append(message)
            raise TryLater("500")
        return await super().send(message)


async def test_channel_that_is_down_for_ten_minutes_gets_everything_afterwards() -> None:
    """Once, in order within a thread, and not long after it is back."""
    office = Office()
    channel = Outage(office.clock, 600)
    office.channels[channel.name] = channel
    began = office.clock.moment
    async with working(office):
        await office.write("t1", "a", "b", "c")
        await office.write("t2", "x", "y")
        while len(channel.sent) < 5 and office.clock.moment < began + 1_300_000:
            office.clock.pass_time(5)
            await asyncio.sleep(0.01)

    assert sorted(channel.sent) == ["a", "b", "c", "x", "y"]
    assert [one for one in channel.sent if one in "abc"] == ["a", "b", "c"]
    assert len(channel.tried) < 50, "no storm of tries meanwhile"
    assert office.clock.moment - began < 1_300_000


def test_try_ends_before_its_lease_does() -> None:
    """It begins in the first half, or not at all; so it ends before somebody else may send it."""
    options = SenderOptions()

    assert options.timeout_seconds * 1000 <= options.lease_ms / 2
