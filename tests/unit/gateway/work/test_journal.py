"""A leased thread as the loop's journal: fenced, caught up, and stirred by hints."""

from __future__ import annotations

import asyncio

import pytest

from agent_core.loop.journal import Overtaken
from agent_core.thread.events import (
    MessageReceived,
    Millis,
    ModelReplied,
    QuestionAnswered,
    QuestionAsked,
    ThreadId,
    ThreadLaunched,
    ThreadPaused,
)
from agent_core.thread.fold import fold
from agent_core.thread.questions import Question, QuestionId, Waiting
from agent_core.thread.state import ThreadState
from gateway.work.journal import StoreJournal
from gateway.work.threads import commit_outside, read_thread
from storage.errors import Fenced
from storage.values import NewThread
from tests.unit.gateway.workshop import ShakyStore

NOW = Millis(1_000)
T1 = ThreadId("th_1")
HELLO = MessageReceived(at=NOW, text="hello")
REPLY = ModelReplied(at=NOW, text="hi")


async def leased(store: ShakyStore) -> StoreJournal:
    """Begin a thread, and claim it."""
    await store.open()
    launched = ThreadLaunched(at=NOW, thread=T1, agent="agent", origin="web:th_1")
    new = NewThread(agent="agent")
    await commit_outside(store, ThreadState(), [launched, HELLO], now=NOW, create=new)
    (claim,) = await store.claim(now=NOW, lease_ms=1000, limit=1)
    found = await read_thread(store, T1)
    assert found is not None
    return StoreJournal(store, found, claim.epoch, lambda: NOW)


async def say(store: ShakyStore, text: str) -> None:
    """Let somebody outside say something."""
    found = await read_thread(store, T1)
    assert found is not None
    await commit_outside(store, found.state, [MessageReceived(at=NOW, text=text)], now=NOW)


async def test_append_is_kept_and_known() -> None:
    """The state moves with the log, and nothing is read for it."""
    store = ShakyStore()
    journal = await leased(store)
    loads = store.asked["load"]
    await journal.append([REPLY], seen=2)
    await journal.append([])

    assert store.asked["load"] == loads
    assert await journal.catch_up(ThreadState()) == journal.state == fold(await store.events(T1))


async def test_decision_on_an_old_state_is_overtaken() -> None:
    """Whether or not a hint came; afterwards the journal knows what came."""
    store = ShakyStore()
    journal = await leased(store)
    await say(store, "wait")
    with pytest.raises(Overtaken):
        await journal.append([REPLY], seen=2)
    with pytest.raises(Overtaken):
        await journal.append([REPLY], seen=2)

    assert journal.state.seq == 3
    assert len(await store.events(T1)) == 3


async def test_fact_is_appended_behind_whatever_came() -> None:
    """What happened has happened: it needs no look at what others said."""
    store = ShakyStore()
    journal = await leased(store)
    await say(store, "one")
    await say(store, "two")
    await journal.append([REPLY])

    assert (await store.events(T1))[-1] == REPLY
    assert journal.state == fold(await store.events(T1))


async def test_append_without_the_lease_is_refused() -> None:
    """Somebody else has the thread; nothing is written, and the state stays as it was."""
    store = ShakyStore()
    journal = await leased(store)
    await store.claim(now=Millis(NOW + 2000), lease_ms=1000, limit=1)
    with pytest.raises(Fenced):
        await journal.append([REPLY])

    assert (journal.state.seq, len(await store.events(T1))) == (2, 2)


async def test_only_news_stirs() -> None:
    """Its own events come back as hints, and are passed over."""
    store = ShakyStore()
    journal = await leased(store)
    loads = store.asked["load"]
    stirred = journal.stirred(2)
    await asyncio.sleep(0)
    journal.stir(2)
    await asyncio.sleep(0)
    assert not stirred.done()
    await journal.catch_up(journal.state)
    assert store.asked["load"] == loads

    await say(store, "news")
    journal.stir(3)
    await stirred
    assert (await journal.catch_up(journal.state)).seq == 3


async def test_hint_without_a_number_stirs_in_any_case() -> None:
    """The kill switch moved: look again. Also if nobody waited for it just then."""
    journal = await leased(ShakyStore())
    journal.stir()
    async with asyncio.timeout(1):
        await journal.stirred(2)

    assert (await journal.catch_up(journal.state)).seq == 2


async def test_pause_from_outside_is_found_by_catching_up() -> None:
    """So a pause reaches a run."""
    store = ShakyStore()
    journal = await leased(store)
    await commit_outside(store, journal.state, [ThreadPaused(at=NOW, by="otto")], now=NOW)
    assert (await journal.catch_up(journal.state)).lifecycle == "active", "nobody said so yet"
    journal.stir(3)

    assert (await journal.catch_up(journal.state)).lifecycle == "paused"


async def test_timer_that_an_answer_has_overtaken_says_nothing() -> None:
    """The answer came between the look at the clock and the commit: the first outcome stands."""
    store = ShakyStore()
    journal = await leased(store)
    waiting = Waiting(expires_after=1)
    asked = Question(id=QuestionId("q_1"), kind="text", prompt="Which?", waiting=waiting)
    await journal.append([QuestionAsked(at=Millis(NOW - 1000), question=asked)])
    found = await read_thread(store, T1)
    assert found is not None
    answered = QuestionAnswered(at=NOW, question=asked.id, value="this", by="otto")
    await commit_outside(store, found.state, [answered], now=NOW)

    await journal.fire_timers()

    assert (await store.events(T1))[-1] == answered
    assert journal.state == fold(await store.events(T1))
