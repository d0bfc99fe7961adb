"""The outside world: the real one, and the one driven by hand."""

from __future__ import annotations

import time

from agent_core import HandDrivenWorld, World


def test_the_real_world_has_a_clock_in_milliseconds_and_ids_that_do_not_repeat() -> None:
    """Times are whole numbers; ids say what they name."""
    world = World()
    ids = {world.new_id("th") for _ in range(1000)}

    assert abs(world.now() - time.time() * 1000) < 60_000
    assert len(ids) == 1000
    assert all(one.startswith("th_") for one in ids)
    assert world.halted() == ""


async def test_by_hand_time_passes_only_when_told() -> None:
    """Sleeping moves the clock, and takes no time."""
    world = HandDrivenWorld()
    start = world.moment

    await world.world.sleep(3600)
    world.pass_time(0.5)

    assert world.world.now() - start == 3_600_500
    assert world.slept == [3600]


def test_by_hand_ids_count_up_for_each_prefix() -> None:
    """A test can name them."""
    new_id = HandDrivenWorld().world.new_id

    assert [new_id("q"), new_id("th"), new_id("q")] == ["q_1", "th_1", "q_2"]


def test_by_hand_the_kill_switch_is_a_word() -> None:
    """Its reason, or nothing."""
    world = HandDrivenWorld()
    world.halt_reason = "budget"

    assert world.world.halted() == "budget"
