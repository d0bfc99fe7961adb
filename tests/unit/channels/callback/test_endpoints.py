"""Endpoints that fail: what is known of them, and what another secret key makes of that."""

from __future__ import annotations

import pytest

from channels.callback.addresses import parse_target
from channels.callback.endpoints import PATIENCE_MS, Endpoints
from gateway.control.memory import SealedMemory
from storage.memory import MemoryStore

TARGET = parse_target("https://ci.example.com/in?job=1")


def endpoints(store: MemoryStore, secret: bytes, now: int = 1) -> Endpoints:
    """The record, as a server with this secret key has it."""
    return Endpoints(SealedMemory(store, "callback", secret), lambda: now)


@pytest.mark.parametrize("days", [0, 1])
async def test_what_another_secret_key_has_sealed_is_found_out_anew(days: int) -> None:
    """Nothing is sent less, nothing raises, and nothing stays that is counted and not listed."""
    store = MemoryStore()
    await store.open()
    before = endpoints(store, b"old" * 11)
    await before.failed(TARGET, "answered 500")
    if days:
        later = endpoints(store, b"old" * 11, PATIENCE_MS + 1)
        assert (await later.failed(TARGET, "answered 500")).disabled_at is not None
    now = endpoints(store, b"new" * 11, 7)

    assert await now.disabled(TARGET) is None
    assert await now.troubles() == []
    assert await now.counts() == (0, 0)
    assert (await now.failed(TARGET, "answered 502")).since == 7
    await now.succeeded(TARGET)
    assert await now.troubles() == []


async def test_endpoint_that_was_disabled_under_another_key_can_be_enabled() -> None:
    """Whoever says `enable` is not told that it is unknown, and need not say it twice."""
    store = MemoryStore()
    await store.open()
    await endpoints(store, b"old" * 11).disable(TARGET, "answered 410")
    now = endpoints(store, b"new" * 11)

    assert await now.enable(TARGET.endpoint)
    assert not await now.enable(TARGET.endpoint)
