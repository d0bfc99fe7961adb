"""Superseding threads: who is last in a place, also for a process that has just begun."""

from __future__ import annotations

from agent_core import ModelReply, ModelRequest
from agent_core.errors import ModelRejected
from agent_core.thread.events import ThreadId
from channels.people import Actor
from gateway.intake.succession import Succession
from storage.values import Wish
from tests.unit.gateway.front_door import FrontDoor, front_door

PLACE = "webhook:ci:k"
HOOK = Actor(id="webhook:ci", is_authenticated=False)


async def supersede(door: FrontDoor, key: str, place: str = PLACE) -> ThreadId:
    """Send an event that ends what was there."""
    received = await door.says(
        "go", HOOK, key=key, place=place, agent="agent", may_answer=False, repeat="supersede"
    )
    return ThreadId(received.thread)


async def test_last_of_many_is_found_by_whoever_has_not_seen_them_begin() -> None:
    """Whatever the number: by leaps, and then by halves; or from what is remembered."""
    async with front_door(works=False) as door:
        for number in range(1, 36):
            newest = await supersede(door, f"d{number}")
            stranger = Succession(door.here.gateway, door.store)

            found = [await stranger.current(PLACE), await stranger.current(PLACE)]

            assert found == [(newest, f"{PLACE}#{number + 1}")] * 2


async def test_place_that_looks_like_a_number_of_another_is_not_mistaken_for_it() -> None:
    """`k` superseded once, and `k#1`: two lines of threads."""
    async with front_door(works=False) as door:
        first = await supersede(door, "d1")
        other = await supersede(door, "d2", place=f"{PLACE}#1")
        statuses = {row.id: row.status for row in (await door.store.threads(Wish())).items}

    assert statuses == {first: "running", other: "running"}


async def test_failed_thread_is_ended_too() -> None:
    """It could be retried, and may have open questions."""

    def broken(_request: ModelRequest) -> ModelReply:
        raise ModelRejected("no such model")

    async with front_door(script=broken) as door:
        failed = await supersede(door, "d1")
        before = (await door.here.rested(failed)).status
        await supersede(door, "d2")
        after = (await door.here.rested(failed)).status

    assert (before, after) == ("failed", "cancelled")
