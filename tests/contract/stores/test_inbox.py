"""Messages from outside: each has one effect, however often it comes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core.loop.journal import Overtaken
from storage.store import Store
from storage.values import Commit, Duplicate, InboxKey, InboxRecord
from tests.contract.stores.rows import (
    NOW,
    T1,
    T2,
    committed,
    delivery,
    later,
    launched,
    launching,
    saying,
)

KEY = InboxKey(source="slack", key="Ev1", digest="d1")


async def test_second_copy_has_no_effect_and_learns_of_the_first(store: Store) -> None:
    """The answer names the thread and the event of the first copy."""
    await launched(store)
    first = replace(saying("t1", "hello"), inbox=KEY, wake_at=NOW, deliveries=[delivery()])
    await committed(store, first)

    result = await store.commit(replace(first, now=later(5)))

    assert Duplicate(InboxRecord(T1, 2, "d1")) == result
    assert len(await store.events(T1)) == 2
    assert len(await store.deliveries(T1)) == 1
    row = await store.thread(T1)
    assert row is not None
    assert row.updated_at == NOW


async def test_second_launch_makes_no_second_thread(store: Store) -> None:
    """The copy carries another new id; the first thread is the answer."""
    await committed(store, launching("t1", key="k", inbox=KEY))

    result = await store.commit(launching("t2", key="k", inbox=KEY))

    assert Duplicate(InboxRecord(T1, 1, "d1")) == result
    assert await store.thread(T2) is None


async def test_digest_of_the_first_copy_shows_another_content(store: Store) -> None:
    """The same key with another body is for the caller to refuse."""
    await committed(store, launching("t1", inbox=KEY))

    result = await store.commit(launching("t2", inbox=replace(KEY, digest="other")))

    assert isinstance(result, Duplicate)
    assert result.first.digest == "d1"


async def test_duplicate_comes_before_every_other_refusal(store: Store) -> None:
    """A repeated message is told what became of it, not that the thread has moved on."""
    await committed(store, launching("t1", inbox=KEY))
    stale = replace(saying("nobody", "x"), inbox=KEY, seen=0, epoch=7)

    assert isinstance(await store.commit(stale), Duplicate)


async def test_keys_of_other_sources_are_other_keys(store: Store) -> None:
    """Two sources may count alike."""
    await launched(store)
    await committed(store, replace(saying("t1", "a"), inbox=KEY))

    other = replace(saying("t1", "b"), inbox=replace(KEY, source="email"))

    assert await committed(store, other) == 3


async def test_refused_message_leaves_no_key(store: Store) -> None:
    """What had no effect may come again."""
    await launched(store)
    with pytest.raises(Overtaken):
        await store.commit(replace(saying("t1", "a"), inbox=KEY, seen=7))

    assert await store.inbox("slack", "Ev1") is None
    assert await committed(store, replace(saying("t1", "a"), inbox=KEY)) == 2


async def test_inbox_tells_what_became_of_a_message(store: Store) -> None:
    """Also without a second copy; also of a message that appended nothing."""
    await launched(store)
    await committed(store, Commit(thread=T1, inbox=KEY, now=NOW))

    assert InboxRecord(T1, 1, "d1") == await store.inbox("slack", "Ev1")
    assert await store.inbox("slack", "Ev2") is None
    assert await store.inbox("slack", "a\0b") is None


async def test_expired_key_counts_as_new(store: Store) -> None:
    """An idempotency key is kept for a time."""
    await committed(store, launching("t1", inbox=replace(KEY, expires_at=later(10))))
    again = launching("t2", inbox=replace(KEY, expires_at=later(20)))

    assert isinstance(await store.commit(replace(again, now=later(9))), Duplicate)
    assert await committed(store, replace(again, now=later(10))) == 1
    assert InboxRecord(T2, 1, "d1") == await store.inbox("slack", "Ev1")


async def test_sweep_forgets_expired_keys_and_no_others(store: Store) -> None:
    """Some at a time, so that nothing waits long for it."""
    await launched(store)
    for number in range(5):
        key = InboxKey(source="api", key=str(number), expires_at=later(number))
        await committed(store, replace(saying("t1", "x"), inbox=key))
    await committed(store, replace(saying("t1", "x"), inbox=KEY))

    assert await store.sweep(now=later(3), limit=3) == 3
    assert await store.sweep(now=later(3), limit=3) == 1
    assert await store.sweep(now=later(3), limit=3) == 0
    assert await store.inbox("api", "4") is not None
    assert await store.inbox("slack", "Ev1") is not None
