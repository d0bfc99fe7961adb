"""The guide ticks off what has happened, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.playground.guide import STEPS, ticked
from gateway.playground.scene import Scene
from tests.unit.gateway.playground.scenes import (
    answered,
    asking,
    event,
    killed,
    scene,
    seen,
)

BOTH = {"slack:T:C:1": "sent", "email:olga@example.com": "sent"}
SETTLED = dict.fromkeys(BOTH, "settled")
FINISHED = [
    *answered(),
    event(6, 6, "ToolReturned", call="2.0", result="done"),
    event(7, 7, "ThreadFinished", result="done"),
]


def done(happened: Scene) -> set[str]:
    """Name the steps that are ticked off."""
    return {one.step.name for one in ticked(happened) if one.is_done}


def test_nothing_is_ticked_at_the_start_and_the_first_step_is_next() -> None:
    """Who comes new sees one thing to do."""
    steps = ticked(scene())

    assert [one.is_next for one in steps] == [True] + [False] * (len(STEPS) - 1)
    assert done(scene()) == set()


def test_question_must_be_delivered_in_both_channels() -> None:
    """Asked is not yet told: a copy that waits in the outbox doesn't count."""
    half = {**BOTH, "email:olga@example.com": "pending"}

    assert done(scene(seen(asking(), copies=half))) == {"mention"}
    assert done(scene(seen(asking(), copies=BOTH))) == {"mention", "asked"}


def test_copies_settle_all_or_the_step_is_not_done() -> None:
    """The thread is over, but one copy still has its buttons."""
    one_left = {**SETTLED, "slack:T:C:1": "sent"}

    assert "settled" not in done(scene(seen(FINISHED, status="finished", copies=one_left)))
    assert "settled" in done(scene(seen(FINISHED, status="finished", copies=SETTLED)))


def test_thread_of_a_pipeline_is_no_mention() -> None:
    """Each step is about its own kind of thread."""
    by_hook = seen(asking(origin="webhook:ci:1"), origin="webhook:ci:1", copies=BOTH)

    assert done(scene(by_hook)) == {"pipeline"}


def test_kill_while_a_question_waits() -> None:
    """It counts when the next process answers; a kill before the question, or after it, doesn't."""
    waiting = seen(asking(), copies=BOTH)

    assert "killed" in done(scene(waiting, lives=killed(3.5)))
    assert "killed" not in done(scene(waiting, lives=killed(2.5)))
    assert "killed" not in done(scene(seen(answered(), copies=BOTH), lives=killed(4.5)))


def test_kill_counts_only_when_the_server_is_back() -> None:
    """Until the next process answers, nobody knows what is left."""
    dead, back = killed(3.5)
    starting = replace(back, ready=None)

    assert "killed" not in done(scene(seen(asking(), copies=BOTH), lives=[dead, starting]))


def test_server_that_ended_by_itself_was_not_killed() -> None:
    """Only -9 is a kill."""
    dead, back = killed(3.5)

    assert "killed" not in done(scene(seen(asking()), lives=[replace(dead, code=1), back]))


@pytest.mark.parametrize(("second", "is_cut"), [(4.5, False), (5.5, True), (6.5, False)])
def test_kill_in_a_tool_is_one_between_its_start_and_its_result(
    second: float,
    is_cut: bool,  # noqa: FBT001 (pytest gives it by name)
) -> None:
    """By the times of the server's own log."""
    happened = scene(seen(FINISHED, status="finished", copies=SETTLED), lives=killed(second))

    assert ("cut" in done(happened)) is is_cut
    assert ("done" in done(happened)) is is_cut


def test_thread_that_was_cut_off_and_is_not_over_has_not_carried_on() -> None:
    """The last step waits for the end."""
    again = [*answered(), event(6, 8, "ToolStarted", call="2.0", key="th_1/2.0", attempt=2)]

    assert "done" not in done(scene(seen(again, status="running"), lives=killed(5.5)))
