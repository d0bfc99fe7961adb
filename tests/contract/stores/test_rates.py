"""Buckets that all processes of a store share."""

from __future__ import annotations

import asyncio

from agent_core.thread.events import Millis
from storage.store import Store
from tests.contract.stores.places import Place

_SLACK_MS = 2_000
"""Time goes on while a test runs: a bucket fills meanwhile."""


async def test_what_is_spent_adds_up(store: Store) -> None:
    """Each name by itself; the answer tells how far a bucket is ahead of now."""
    first = await store.spend({"a": 60_000, "b": 10_000})
    second = await store.spend({"a": 60_000})

    assert 60_000 - _SLACK_MS <= first["a"] <= 60_000
    assert 10_000 - _SLACK_MS <= first["b"] <= 10_000
    assert 120_000 - _SLACK_MS <= second["a"] <= 120_000


async def test_bucket_that_is_full_again_begins_at_now(store: Store) -> None:
    """What was not asked for in time is not saved up."""
    await store.spend({"a": 1})
    await asyncio.sleep(0.01)

    assert (await store.spend({"a": 5_000}))["a"] <= 5_000


async def test_processes_share_their_buckets(place: Place, store: Store, another: Store) -> None:
    """Where there can be several servers, what one spends is gone for the others."""
    if not place.hints_across:
        return  # one server is the limit there
    await asyncio.gather(*(one.spend({"a": 1_000, "b": 1_000}) for one in (store, another) * 20))

    assert 41_000 - _SLACK_MS <= (await another.spend({"a": 1_000}))["a"] <= 41_000


async def test_full_buckets_are_swept(store: Store) -> None:
    """They cost nothing once they say nothing."""
    await store.spend({"a": 1})
    await asyncio.sleep(0.01)
    far = Millis(4_000_000_000_000)
    await store.sweep(now=far)

    assert await store.kept("rates", now=far) == []
