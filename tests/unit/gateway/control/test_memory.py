"""What channels remember: sealed with the secret key, each channel for itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent_core.loop.hand_driven import HandDrivenWorld
from agent_core.thread.events import Millis
from channels.intake import Memory, SealBroken
from gateway.control.memory import SealedMemory
from storage.memory import MemoryStore

SECRET = b"a secret key of thirty-two bytes"
FAR = Millis(10**15)


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    """Give a store that lasts as long as the test."""
    opened = MemoryStore()
    await opened.open()
    yield opened
    await opened.close()


def memory(store: MemoryStore, channel: str = "slack", secret: bytes = SECRET) -> Memory:
    """Open the memory of a channel, as the gateway hands it to one."""
    return SealedMemory(store, channel, secret)


async def test_what_was_kept_is_recalled_after_a_restart_and_on_another_machine(
    store: MemoryStore,
) -> None:
    """Whoever has the same secret key opens it; any bytes come back as they were."""
    values = {"token": b"xoxb-1", "empty": b"", "all": bytes(range(256))}
    for key, value in values.items():
        await memory(store).keep(key, value)

    for key, value in values.items():
        assert await memory(store).recall(key) == value
    assert await memory(store).recall("never") is None
    assert await memory(store).keys() == ["all", "empty", "token"]
    assert await memory(store).keys("e") == ["empty"]


async def test_nothing_of_a_value_can_be_read_in_the_store(store: MemoryStore) -> None:
    """Nor can two equal values be told to be so; the keys stand as they are."""
    await memory(store).keep("a", b"xoxb-secret")
    await memory(store).keep("b", b"xoxb-secret")

    first = await store.recall("slack", "a", now=Millis(0))
    second = await store.recall("slack", "b", now=Millis(0))

    assert first is not None
    assert b"xoxb" not in first
    assert first != second


async def test_each_channel_has_a_memory_of_its_own(store: MemoryStore) -> None:
    """The same key in another channel is another thing."""
    await memory(store, "slack").keep("token", b"1")
    await memory(store, "email").keep("token", b"2")

    assert await memory(store, "slack").take("token") == b"1"

    assert await memory(store, "slack").keys() == []
    assert await memory(store, "email").recall("token") == b"2"


async def test_none_forgets(store: MemoryStore) -> None:
    """It is not a value that is kept."""
    await memory(store).keep("token", b"1")

    await memory(store).keep("token", None)

    assert await memory(store).recall("token") is None
    assert await store.kept("slack", now=Millis(0)) == []


async def test_value_is_kept_for_as_long_as_asked_for(store: MemoryStore) -> None:
    """To the millisecond of the world's clock; without a time, for good."""
    clock = HandDrivenWorld()
    slack = SealedMemory(store, "slack", SECRET, world=clock.world)
    await slack.keep("state", b"1", seconds=1.5)
    await slack.keep("token", b"2")

    clock.pass_time(1.499)
    assert await slack.recall("state") == b"1"
    assert await slack.keys() == ["state", "token"]

    clock.pass_time(0.001)
    assert await slack.recall("state") is None
    assert await slack.take("state") is None
    assert await slack.keys() == ["token"]
    assert await store.kept("slack", now=FAR) == ["token"]


async def test_of_many_who_take_exactly_one_gets_it(store: MemoryStore) -> None:
    """So a state of OAuth is good for one sign-in."""
    await memory(store).keep("state", b"once")

    got = await asyncio.gather(*(memory(store).take("state") for _ in range(10)))

    assert (got.count(b"once"), got.count(None)) == (1, 9)


async def test_another_secret_key_opens_nothing_and_says_which_setting(store: MemoryStore) -> None:
    """The error names the channel and the setting; what was kept stays for the right key."""
    await memory(store).keep("token", b"xoxb-1")
    stranger = memory(store, secret=SECRET + b"!")

    with pytest.raises(SealBroken, match=r"channel slack .*'token'.* PARLEY_SECRET_KEY") as caught:
        await stranger.recall("token")

    assert "xoxb" not in str(caught.value)
    assert await stranger.keys() == ["token"]
    assert await memory(store).recall("token") == b"xoxb-1"


async def test_taking_what_can_not_be_opened_gives_no_garbage(store: MemoryStore) -> None:
    """It is told in the same words."""
    await memory(store).keep("state", b"1")

    with pytest.raises(SealBroken, match=r"slack.*PARLEY_SECRET_KEY"):
        await memory(store, secret=b"another").take("state")


async def test_damaged_value_is_never_given(store: MemoryStore) -> None:
    """Cut, changed anywhere, or never sealed at all."""
    await memory(store).keep("token", b"xoxb-1")
    sealed = await store.recall("slack", "token", now=Millis(0))
    assert sealed is not None
    changed = [
        sealed[:at] + (b"A" if sealed[at : at + 1] != b"A" else b"B") + sealed[at + 1 :]
        for at in range(0, len(sealed.rstrip(b"=")) - 1, 7)
    ]

    for damaged in [b"", b"xoxb-1", b"\0\xff", sealed[:-8], *changed]:
        await store.keep("slack", "token", damaged, now=Millis(0))
        with pytest.raises(SealBroken, match=r"slack.*PARLEY_SECRET_KEY"):
            await memory(store).recall("token")


async def test_seal_stays_the_same_from_version_to_version(store: MemoryStore) -> None:
    """A deploy opens what an earlier one has sealed: HKDF-SHA256, `parley memory v1`, Fernet."""
    await store.keep("slack", "token", _SEALED_BY_THE_FIRST, now=Millis(0))

    assert await memory(store).recall("token") == b"xoxb-first"


_SEALED_BY_THE_FIRST = (
    b"gAAAAABq-phJ7dzzeZKrJo4q8PLlvvtv8NRNyClrRmOkscbJm7pxdwBFK4ObWekh3UJEGmO4tzeMixEE"
    b"ptzoNgtxZt3bi26XLQ=="
)
