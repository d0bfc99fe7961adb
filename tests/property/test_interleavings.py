"""Whatever people, clocks and crashes do to a thread, and whenever: the rules hold.

Each example is a random story (`agents_at_random`) told on a stage (`stage`) where tools and
model wait to be let go, held against every rule in `invariants`. A failure prints the story.

For a long run multiply the examples, with new ones each time:

    PARLEY_PROPERTY_EXAMPLES=50 pytest tests/property --timeout=0
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, note

from agent_core import HandDrivenWorld
from tests.property import hand_driven_loop
from tests.property.agents_at_random import Story, examples, stories
from tests.property.hand_driven_loop import HandDrivenLoop
from tests.property.invariants import hold_always, hold_at_rest, hold_at_the_end
from tests.property.people import perform, to_end
from tests.property.stage import Stage

pytestmark = pytest.mark.timeout(900)
"""Making a failing story smaller takes its time; a thread that hangs is found without a clock."""


@pytest.fixture(autouse=True)
def no_complaints() -> Iterator[None]:
    """No task's exception goes unseen, in any example."""
    hand_driven_loop.complaints.clear()
    yield
    gc.collect()
    assert hand_driven_loop.complaints == []


@given(stories())
@examples(200)
def test_the_rules_hold_through_any_interleaving(story: Story) -> None:
    """Acts at any moment, while tools and model are at work; then a kind end."""
    on_stage(story, tell)


@given(stories(most_acts=6))
@examples(8)
def test_a_crash_after_any_event_is_survived(story: Story) -> None:
    """Whatever was last committed, a fresh agent brings the thread to its end by the rules."""
    told = on_stage(story, tell_briefly)
    for count in sorted({*told.commits}):
        note(f"crash after event {count}")
        on_stage(story, partial(from_prefix, told=told, count=count), told.hand)


@given(stories(most_acts=6))
@examples(8)
def test_a_fork_at_any_event_can_be_brought_to_its_end(story: Story) -> None:
    """Any event will do, also one in the middle of a commit."""
    told = on_stage(story, tell_briefly)
    for count in range(1, len(told.thread.events) + 1):
        note(f"fork at event {count}")
        on_stage(story, partial(from_fork, told=told, at=count), told.hand)


def on_stage(
    story: Story,
    play: Callable[[Stage], Coroutine[Any, Any, None]],
    hand: HandDrivenWorld | None = None,
) -> Stage:
    """Play something on a fresh stage, in a loop of its own that must be left empty.

    hand: a world in which the story was told before, so that its ids don't come again.
    """

    async def playing() -> Stage:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, HandDrivenLoop)
        stage = Stage(story, loop, hand or HandDrivenWorld())
        await play(stage)
        assert asyncio.all_tasks() == {asyncio.current_task()}, "tasks are left behind"
        return stage

    with asyncio.Runner(loop_factory=HandDrivenLoop) as runner:
        return runner.run(playing())


async def tell(stage: Stage) -> None:
    """Tell the whole story, and hold it against the rules at each moment."""
    note(stage.story.told())
    note("and so it went:")
    stage.run()
    await stage.quiet()
    for act in stage.story.acts:
        told = await perform(stage, act)
        note(f"  {act!r}: {told} [{stage.thread.state.lifecycle}]")
        (hold_at_rest if stage.is_at_rest else hold_always)(stage)
    await to_end(stage)
    hold_at_the_end(stage)


async def tell_briefly(stage: Stage) -> None:
    """Tell the story without looking closely."""
    stage.run()
    for act in stage.story.acts:
        await perform(stage, act)
    await to_end(stage)


async def from_prefix(stage: Stage, told: Stage, count: int) -> None:
    """Go on from what was committed when the process died."""
    stage.was_closed = told.was_closed
    stage.open_prefix(told.thread.events[:count])
    await to_end(stage)
    hold_at_the_end(stage)


async def from_fork(stage: Stage, told: Stage, at: int) -> None:
    """Go on with a copy."""
    stage.was_closed = told.was_closed
    stage.take_fork(told.thread.checkpoint, at)
    await to_end(stage)
    hold_at_the_end(stage)
