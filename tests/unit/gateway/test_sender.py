"""The sender: at least once, in order, with growing delays, and an end to everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from agent_core import HandDrivenWorld
from agent_core.json_values import JsonObject
from agent_core.thread.events import MessageReceived, Millis, ThreadId, ThreadLaunched
from channels.channel import Channel, GiveUp, Outgoing, TryLater
from channels.web.channel import WebChannel
from gateway.hints import Hints
from gateway.sender import Sender, SenderOptions
from storage.errors import StoreBusy
from storage.memory import MemoryStore
from storage.values import Commit, Delivery, DeliveryId, NewDelivery, NewThread
from tests.unit.gateway.workshop import stop, until

QUICK = SenderOptions(poll_seconds=0.005)


class Notebook:
    """A channel that writes down what it is given, and does as its script says first."""

    name = "notebook"

    def __init__(self, *script: Exception | JsonObject) -> None:
        """Follow the script, then succeed for ever."""
        self.tried: list[Outgoing] = []
        self.sent: list[str] = []
        self._script = list(script)

    async def send(self, message: Outgoing) -> JsonObject:
        """Write it down."""
        self.tried.append(message)
        done = self._script.pop(0) if self._script else {"place": len(self.tried)}
        if isinstance(done, Exception):
            raise done
        self.sent.append(message.id)
        return done


class Office:
    """A sender on a store, in a world driven by hand."""

    def __init__(self, *channels: Channel, store: MemoryStore | None = None) -> None:
        """Put it together; nothing runs yet."""
        self.store = store or MemoryStore()
        self.clock = HandDrivenWorld()
        self.hints = Hints(self.store)
        self.channels = {channel.name: channel for channel in channels}

    def sender(self, options: SenderOptions = QUICK) -> Sender:
        """Make a sender."""
        return Sender(
            self.store, self.channels, self.hints, world=self.clock.world, options=options
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
                            id=DeliveryId(one), address=address, body={"text": one}, due_at=now
                        )
                    ],
                    now=now,
                )
            )

    async def row(self, one: str, thread: str = "t1") -> Delivery:
        """Look at a delivery."""
        rows = await self.store.deliveries(ThreadId(thread))
        return next(row for row in rows if row.id == one)

    async def put_back(self, one: str, tries: int) -> Delivery:
        """Wait until a delivery was tried so often, and nobody has it."""
        return await self.until(one, lambda row: (row.attempts, row.lease_until) == (tries, None))

    async def until(self, one: str, holds: Callable[[Delivery], Any]) -> Delivery:
        """Wait until something is true of a delivery."""
        async with asyncio.timeout(10):
            while True:
                row = await self.row(one)
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


@pytest.mark.parametrize("trouble", [TryLater("line busy"), ValueError("oh"), {"place": object()}])
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


class Hanging:
    """A channel that takes for ever, the first time."""

    name = "notebook"

    def __init__(self) -> None:
        """Begin with nobody here."""
        self.arrived = asyncio.Event()
        self.go_on = asyncio.Event()
        self.times = 0

    async def send(self, message: Outgoing) -> JsonObject:
        """Hang."""
        self.times += 1
        self.arrived.set()
        if self.times == 1:
            await self.go_on.wait()
        return {"time": self.times, "attempt": message.attempt}


async def test_channel_that_hangs_is_cut_off_and_tried_again() -> None:
    """A time-out is a try that failed."""
    async with working(Office(Hanging()), replace(QUICK, timeout_seconds=0.02)) as office:
        await office.write("t1", "a")
        row = await office.put_back("a", 1)
        office.clock.moment = Millis(row.due_at or 0)
        sent = await office.until("a", lambda row: row.status == "sent")

    assert (row.error, sent.receipt) == ("TimeoutError", {"time": 2, "attempt": 2})


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

    async def end_delivery(self, delivery: Delivery, **ending: Any) -> bool:  # noqa: ANN401 (as there)
        """Fail the first time, when the message is out already."""
        if delivery.attempts == 1:
            raise StoreBusy("busy", retry_after=0)
        return await super().end_delivery(delivery, **ending)


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
