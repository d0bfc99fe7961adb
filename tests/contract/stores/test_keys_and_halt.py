"""API keys, by their hashes; and the kill switch."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core.errors import NotJson
from storage.errors import IdTaken
from storage.store import Store
from storage.values import ApiKey, KeyId
from tests.contract.stores.rows import NOW, later

KEY = ApiKey(id=KeyId("k1"), name="ci", hash="h1", scopes=("launch", "read"), created_at=NOW)


async def test_key_is_found_by_its_hash(store: Store, another: Store) -> None:
    """Everything about it comes back, in every process."""
    await store.add_key(KEY)

    assert await store.key_by_hash("h1") == KEY
    assert await another.key_by_hash("h1") == KEY
    assert await store.key_by_hash("h2") is None
    assert await store.key_by_hash("h\0") is None


async def test_revoked_key_is_listed_but_not_found(store: Store) -> None:
    """It is useless at once, and people still see that it was there."""
    other = replace(KEY, id=KeyId("k2"), hash="h2", scopes=(), created_at=later(1))
    await store.add_key(other)
    await store.add_key(KEY)

    assert await store.revoke_key(KeyId("k1"), now=later(5))

    assert await store.key_by_hash("h1") is None
    assert [replace(KEY, revoked_at=later(5)), other] == await store.keys()


async def test_key_is_revoked_once(store: Store) -> None:
    """The second time, or for no key, there is nothing to do."""
    await store.add_key(KEY)
    await store.revoke_key(KeyId("k1"), now=NOW)

    assert not await store.revoke_key(KeyId("k1"), now=later(9))
    assert not await store.revoke_key(KeyId("k9"), now=NOW)
    [key] = await store.keys()
    assert key.revoked_at == NOW


async def test_key_is_added_once(store: Store) -> None:
    """Neither an id nor a hash is given to two keys."""
    await store.add_key(KEY)

    with pytest.raises(IdTaken):
        await store.add_key(replace(KEY, hash="h2"))
    with pytest.raises(IdTaken):
        await store.add_key(replace(KEY, id=KeyId("k2")))
    assert await store.keys() == [KEY]


async def test_halt_holds_for_every_process_until_it_is_lifted(
    store: Store, another: Store
) -> None:
    """The reason is what people are told; the last one counts."""
    assert await store.halted() == ""

    await store.set_halt("a bad deploy")
    await another.set_halt("a very bad deploy ✋")
    assert await store.halted() == "a very bad deploy ✋"

    await store.set_halt("")
    assert await another.halted() == ""


async def test_names_and_reasons_that_no_database_stores_are_refused(store: Store) -> None:
    """They come from people, so they are checked."""
    with pytest.raises(NotJson):
        await store.set_halt("\0")
    with pytest.raises(NotJson):
        await store.add_key(replace(KEY, name="\ud800"))

    assert await store.halted() == ""
    assert await store.keys() == []
