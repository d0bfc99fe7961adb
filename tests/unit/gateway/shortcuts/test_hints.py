"""Hints: spread to whoever listens, never relied on."""

from __future__ import annotations

import asyncio

from agent_core.thread.events import MessageReceived, Millis, ThreadId
from gateway.shortcuts.hints import ANY, Hints, heard_or_later
from storage.memory import MemoryStore
from storage.values import Commit, NewThread
from tests.unit.gateway.workshop import stop, until

NOW = Millis(1_000)


async def begin(store: MemoryStore, thread: str) -> None:
    """Begin a thread, which is hinted at."""
    said = MessageReceived(at=NOW, text="hello")
    new = NewThread(agent="agent")
    await store.commit(
        Commit(thread=ThreadId(thread), events=[said], create=new, wake_at=NOW, now=NOW)
    )


async def test_each_listener_hears_of_its_topic_and_no_other() -> None:
    """One that wants everything hears everything; one that left hears no more."""
    store = MemoryStore()
    await store.open()
    hints = Hints(store)
    running = asyncio.create_task(hints.run())
    await asyncio.sleep(0)
    one: list[str] = []
    every: list[str] = []
    with hints.listening(ANY, lambda hint: every.append(hint.topic)):
        with hints.listening("t1", lambda hint: one.append(hint.topic)):
            await begin(store, "t1")
            await begin(store, "t2")
            await until(lambda: len(every) == 2)
        await begin(store, "t3")
        await store.set_halt("fire")
        await until(lambda: len(every) == 4)
    await stop(running)
    await store.close()

    assert (one, sorted(every)) == (["t1"], ["halt", "t1", "t2", "t3"])
    assert hints._listeners == {}


async def test_watching_is_told_until_it_ends() -> None:
    """Also what came while nobody was waiting."""
    store = MemoryStore()
    await store.open()
    hints = Hints(store)
    running = asyncio.create_task(hints.run())
    await asyncio.sleep(0)
    async with hints.watching("t1") as heard:
        await begin(store, "t2")
        assert not await heard_or_later(heard, 0.02)
        await begin(store, "t1")
        assert await heard_or_later(heard, 10)
        assert not await heard_or_later(heard, 0.01), "once"
    await stop(running)
    await store.close()


async def test_listening_ends_with_the_store() -> None:
    """Nobody waits for a store that is gone."""
    store = MemoryStore()
    await store.open()
    running = asyncio.create_task(Hints(store).run())
    await asyncio.sleep(0)
    await store.close()
    async with asyncio.timeout(1):
        await running
