"""How long a name may be: what one store takes, all take, and what is too long is told so."""

from __future__ import annotations

from secrets import token_hex

import pytest
from msgspec.structs import replace

from agent_core.thread.events import ThreadId
from storage.errors import NameTooLong
from storage.store import Store
from storage.values import Commit, InboxKey
from tests.contract.stores.rows import LEASE, NOW, committed, delivery, launching, question

LONGEST, TOGETHER = 2_000, 2_600


def name(size: int) -> str:
    """Make a name of so many bytes, which no database can make shorter."""
    return token_hex(size // 2)


def named(**lengths: int) -> Commit:
    """Make a commit whose names have these lengths, in bytes."""
    thread = name(lengths.get("thread", 20))
    commit = launching(
        thread,
        agent=name(lengths.get("agent", 20)),
        requester=name(lengths.get("requester", 20)),
        origin="slack:T1:C1",
        key=name(lengths.get("key", 20)),
        inbox=InboxKey(source=name(lengths.get("source", 20)), key=name(lengths.get("inbox", 20))),
    )
    return replace(
        commit,
        places=[name(lengths.get("place", 20))],
        questions=[question(name(lengths.get("question", 20)), thread)],
        deliveries=[delivery(name(lengths.get("delivery", 20)), name(lengths.get("address", 20)))],
    )


LONG = [
    {"thread": LONGEST, "delivery": TOGETHER - LONGEST, "address": TOGETHER - LONGEST},
    {"key": LONGEST, "agent": TOGETHER - LONGEST},
    {"inbox": LONGEST, "source": TOGETHER - LONGEST},
    {"requester": LONGEST, "place": LONGEST, "question": LONGEST},
    {"delivery": LONGEST, "address": LONGEST},
]


@pytest.mark.parametrize("lengths", LONG, ids=["-".join(each) for each in LONG])
async def test_long_names_are_kept_and_found(store: Store, lengths: dict[str, int]) -> None:
    """Up to the limit they are names like any other."""
    commit = named(**lengths)

    assert await committed(store, commit) == 1

    assert commit.create is not None
    assert commit.inbox is not None
    found = await store.thread_by_key(commit.create.agent, commit.create.thread_key)
    assert found is not None
    assert found.id == commit.thread
    assert await store.thread_at(commit.places[0]) == commit.thread
    assert await store.inbox(commit.inbox.source, commit.inbox.key) is not None
    assert await store.question(commit.questions[0].id) is not None
    [row] = await store.claim_deliveries(now=NOW, lease_ms=LEASE, limit=9)
    assert row.id == commit.deliveries[0].id


TOO_LONG = [
    {"thread": LONGEST + 2},
    {"key": LONGEST + 2},
    {"key": LONGEST, "agent": TOGETHER - LONGEST + 2},
    {"inbox": LONGEST + 2},
    {"source": LONGEST, "inbox": TOGETHER - LONGEST + 2},
    {"place": LONGEST + 2},
    {"question": LONGEST + 2},
    {"delivery": LONGEST + 2},
    {"thread": LONGEST, "address": TOGETHER - LONGEST + 2},
    {"requester": LONGEST + 2},
]


@pytest.mark.parametrize("lengths", TOO_LONG, ids=["-".join(each) for each in TOO_LONG])
async def test_name_that_is_too_long_is_refused_by_name(
    store: Store, lengths: dict[str, int]
) -> None:
    """Nothing is written, and the error says how long it may be."""
    commit = named(**lengths)

    with pytest.raises(NameTooLong, match=r"too long: (2,|6)\d+ bytes"):
        await store.commit(commit)

    assert await store.thread(commit.thread) is None


async def test_bytes_count_and_not_characters(store: Store) -> None:
    """A letter may take four bytes in a database."""
    with pytest.raises(NameTooLong):
        await store.commit(launching("🦜" * 501))

    assert await committed(store, launching("🦜" * 500)) == 1


async def test_what_is_too_long_to_be_there_is_not_found(store: Store) -> None:
    """Looking for it is no error."""
    long = name(10_000)

    assert await store.thread(ThreadId(long)) is None
    assert await store.thread_by_key(long, long) is None
    assert await store.thread_at(long) is None
    assert await store.inbox(long, long) is None


async def test_what_is_kept_has_names_of_that_length_too(store: Store) -> None:
    """The owner's and the key's together."""
    owner, key = name(TOGETHER - LONGEST), name(LONGEST)

    await store.keep(owner, key, b"1", now=NOW)
    with pytest.raises(NameTooLong):
        await store.keep(owner, key + "xx", b"1", now=NOW)

    assert await store.kept(owner, now=NOW) == [key]
