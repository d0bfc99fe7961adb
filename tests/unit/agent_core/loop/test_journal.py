"""The journal in memory: all or nothing, in order, and whoever waits is woken."""

from __future__ import annotations

import asyncio

import pytest

from agent_core.errors import ImpossibleEvent, NotJson
from agent_core.loop.journal import Journal, MemoryJournal, Overtaken
from agent_core.thread.checkpoint import Log
from agent_core.thread.events import (
    Event,
    MessageReceived,
    Millis,
    ThreadFinished,
    ThreadId,
    ThreadLaunched,
)
from agent_core.thread.state import ThreadState

LAUNCHED = ThreadLaunched(at=Millis(1), thread=ThreadId("th_1"), agent="agent")
HELLO = MessageReceived(at=Millis(2), text="hello")
FINISHED = ThreadFinished(at=Millis(3))


def empty() -> MemoryJournal:
    """Give a journal without events."""
    return MemoryJournal(Log(), ThreadState())


async def test_what_is_appended_is_in_the_log_and_in_the_state() -> None:
    """Both, always."""
    journal = empty()
    protocol: Journal = journal

    await protocol.append([LAUNCHED, HELLO])

    assert journal.log.events == [LAUNCHED, HELLO]
    assert (await protocol.catch_up(ThreadState())).seq == 2


async def test_what_was_decided_on_an_older_state_is_not_appended() -> None:
    """A signal tells the loop to look again."""
    journal = empty()
    await journal.append([LAUNCHED])
    await journal.append([HELLO], seen=1)

    with pytest.raises(Overtaken):
        await journal.append([FINISHED], seen=1)

    assert journal.log.events == [LAUNCHED, HELLO]


async def test_of_several_events_with_an_impossible_one_none_is_appended() -> None:
    """All of it or nothing."""
    journal = empty()
    await journal.append([LAUNCHED])

    with pytest.raises(ImpossibleEvent):
        await journal.append([HELLO, FINISHED, FINISHED])

    assert journal.log.events == [LAUNCHED]
    assert journal.state.seq == 1


async def test_an_event_that_cannot_be_written_leaves_log_and_state_in_step() -> None:
    """Text with half a surrogate pair has no bytes."""
    journal = empty()
    await journal.append([LAUNCHED])

    with pytest.raises(NotJson, match="surrogate"):
        await journal.append([HELLO, MessageReceived(at=Millis(2), text="\ud800")])

    assert journal.state.seq == len(journal.log.events) == 1
    assert Log.read(journal.log.text())[1].seq == 1


async def test_whoever_watches_gets_what_was_appended_after_it_was() -> None:
    """Never what was refused."""
    seen: list[Event] = []
    journal = MemoryJournal(Log(), ThreadState(), seen.extend)
    await journal.append([LAUNCHED])
    with pytest.raises(Overtaken):
        await journal.append([HELLO], seen=0)

    assert seen == [LAUNCHED]


async def test_whoever_waits_for_growth_is_woken_by_it() -> None:
    """Several may wait."""
    journal = empty()
    waiting = [journal.stirred(0) for _ in range(3)]
    await asyncio.sleep(0)

    await journal.append([LAUNCHED])

    async with asyncio.timeout(1):
        await asyncio.gather(*waiting)


async def test_whoever_comes_late_does_not_wait() -> None:
    """The log has grown already."""
    journal = empty()
    await journal.append([LAUNCHED])

    async with asyncio.timeout(1):
        await journal.stirred(0)


def test_a_journal_serves_one_event_loop_after_another() -> None:
    """Plain code may call `asyncio.run` for each step of a thread's life."""
    journal = empty()

    async def grow(event: Event) -> None:
        waiting = journal.stirred(journal.state.seq)
        await asyncio.sleep(0)
        await journal.append([event])
        await asyncio.wait_for(waiting, 1)

    asyncio.run(grow(LAUNCHED))
    asyncio.run(grow(HELLO))

    assert journal.state.seq == 2
