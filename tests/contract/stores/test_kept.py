"""What is kept for others: bytes by owner and key, for a time, and taken by one only."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent_core.errors import NotJson
from storage.store import Store
from storage.values import InboxKey
from tests.contract.stores.places import Place
from tests.contract.stores.rows import NOW, committed, later, launched, saying

SLACK = "slack"


async def test_what_was_kept_is_recalled_in_every_process(store: Store, another: Store) -> None:
    """Any bytes, also none at all; an owner sees nothing of another's."""
    await store.keep(SLACK, "token", b"\0\xff secret", now=NOW)
    await store.keep(SLACK, "empty", b"", now=NOW)

    assert await another.recall(SLACK, "token", now=later(10**12)) == b"\0\xff secret"
    assert await store.recall(SLACK, "empty", now=NOW) == b""
    assert await store.recall(SLACK, "other", now=NOW) is None
    assert await store.recall("email", "token", now=NOW) is None


async def test_what_was_kept_is_there_after_opening_again(place: Place) -> None:
    """It outlives the process."""
    store = place.store()
    await store.open()
    await store.keep(SLACK, "token", b"1", now=NOW)
    await store.close()

    again = place.store()
    await again.open()
    try:
        assert await again.recall(SLACK, "token", now=NOW) == b"1"
    finally:
        await again.close()


async def test_later_value_replaces_the_earlier_with_its_time(store: Store) -> None:
    """Neither the value nor the time of the first is left."""
    await store.keep(SLACK, "stream", b"1", now=NOW, expires_at=later(5))
    await store.keep(SLACK, "stream", b"2", now=NOW)
    await store.keep(SLACK, "state", b"1", now=NOW)
    await store.keep(SLACK, "state", b"2", now=NOW, expires_at=later(5))

    assert await store.recall(SLACK, "stream", now=later(5)) == b"2"
    assert await store.recall(SLACK, "state", now=later(4)) == b"2"
    assert await store.recall(SLACK, "state", now=later(5)) is None


async def test_none_forgets(store: Store) -> None:
    """That one and no other; what is not there is forgotten already."""
    await store.keep(SLACK, "token", b"1", now=NOW)
    await store.keep("email", "token", b"2", now=NOW)

    await store.keep(SLACK, "token", None, now=NOW)
    await store.keep(SLACK, "token", None, now=NOW)

    assert await store.recall(SLACK, "token", now=NOW) is None
    assert await store.kept(SLACK, now=NOW) == []
    assert await store.recall("email", "token", now=NOW) == b"2"


async def test_expired_value_is_as_if_it_were_not_there(store: Store) -> None:
    """From the very moment on, for every way of asking; it may be kept anew."""
    await store.keep(SLACK, "state", b"1", now=NOW, expires_at=later(5))
    assert await store.recall(SLACK, "state", now=later(4)) == b"1"
    assert await store.kept(SLACK, now=later(4)) == ["state"]

    assert await store.recall(SLACK, "state", now=later(5)) is None
    assert await store.kept(SLACK, now=later(5)) == []
    assert await store.take(SLACK, "state", now=later(5)) is None

    await store.keep(SLACK, "state", b"2", now=later(5), expires_at=later(9))
    assert await store.take(SLACK, "state", now=later(8)) == b"2"


async def test_value_whose_time_has_come_before_it_was_kept_replaces_the_old(store: Store) -> None:
    """A late writer doesn't bring the earlier value back."""
    await store.keep(SLACK, "state", b"1", now=NOW)

    await store.keep(SLACK, "state", b"2", now=later(5), expires_at=later(5))

    assert await store.recall(SLACK, "state", now=NOW) is None


async def test_taken_value_is_gone(store: Store) -> None:
    """One that takes gets it, and nobody after; the neighbours stay."""
    for key in ("a", "b"):
        await store.keep(SLACK, key, key.encode(), now=NOW)
    await store.keep("email", "a", b"mail", now=NOW)

    assert await store.take(SLACK, "a", now=NOW) == b"a"

    assert await store.take(SLACK, "a", now=NOW) is None
    assert await store.recall(SLACK, "a", now=NOW) is None
    assert await store.kept(SLACK, now=NOW) == ["b"]
    assert await store.recall("email", "a", now=NOW) == b"mail"


async def test_of_many_who_take_exactly_one_gets_it(store: Store, another: Store) -> None:
    """Also from another process, at the same moment."""
    for round_ in range(5):
        key = f"state/{round_}"
        await store.keep(SLACK, key, b"once", now=NOW)

        got = await asyncio.gather(
            *((store, another)[n % 2].take(SLACK, key, now=NOW) for n in range(30))
        )

        assert got.count(b"once") == 1
        assert got.count(None) == 29


async def test_keys_come_in_order_by_their_beginning(store: Store) -> None:
    """Code points, whatever the language of the database; a prefix is no pattern."""
    for key in ("b", "a/2", "B", "a/10", "ä", "a%", "a_", "A/1", "a"):
        await store.keep(SLACK, key, b"", now=NOW)
    await store.keep("email", "a/3", b"", now=NOW)

    everything = ["A/1", "B", "a", "a%", "a/10", "a/2", "a_", "b", "ä"]
    assert everything == await store.kept(SLACK, now=NOW)
    assert await store.kept(SLACK, prefix="a/", now=NOW) == ["a/10", "a/2"]
    assert await store.kept(SLACK, prefix="a_", now=NOW) == ["a_"]
    assert await store.kept(SLACK, prefix="a%", now=NOW) == ["a%"]
    assert await store.kept(SLACK, prefix="ä", now=NOW) == ["ä"]
    assert await store.kept(SLACK, prefix="c", now=NOW) == []
    assert await store.kept("nobody", now=NOW) == []


async def test_names_that_no_database_stores_are_refused_and_never_found(store: Store) -> None:
    """NUL and halves of surrogate pairs."""
    for owner, key in (("sl\0ck", "k"), (SLACK, "\ud800")):
        with pytest.raises(NotJson):
            await store.keep(owner, key, b"1", now=NOW)
        with pytest.raises(NotJson):
            await store.keep(owner, key, None, now=NOW)

        assert await store.recall(owner, key, now=NOW) is None
        assert await store.take(owner, key, now=NOW) is None
        assert await store.kept(owner, prefix=key, now=NOW) == []


async def test_sweep_forgets_what_has_expired_and_nothing_else(store: Store) -> None:
    """With the keys of the inbox, and never more in all than asked for."""
    await launched(store)
    for number in range(3):
        await store.keep(SLACK, str(number), b"", now=NOW, expires_at=later(number + 1))
        inbox = InboxKey(source="api", key=str(number), expires_at=later(number + 1))
        await committed(store, replace(saying("t1", "x"), inbox=inbox))
    await store.keep(SLACK, "token", b"1", now=NOW)

    assert await store.sweep(now=later(2), limit=3) == 3
    assert await store.sweep(now=later(2), limit=3) == 1
    assert await store.sweep(now=later(2), limit=3) == 0

    assert await store.kept(SLACK, now=NOW) == ["2", "token"]
    assert await store.inbox("api", "1") is None
    assert await store.inbox("api", "2") is not None
