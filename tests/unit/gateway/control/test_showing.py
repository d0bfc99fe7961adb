"""From rows and events to what the API shows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_core.thread.events import ThreadId
from agent_core.thread.fold import fold
from gateway.control.showing import show_events, show_question, show_thread
from gateway.work.consequences import question_row, summary
from storage.values import ThreadRow
from tests.unit.gateway.logs_of_threads import NOW, asking

ROW = ThreadRow(
    id=ThreadId("th_1"),
    agent="agent",
    status="running",
    origin="web:th_1",
    requester="lisa",
    thread_key="",
    seq=2,
    handled_seq=0,
    wake_at=NOW,
    lease_until=None,
    epoch=0,
    summary={},
    created_at=NOW,
    updated_at=NOW,
)


def test_what_newer_code_keeps_in_a_row_is_no_reason_to_fail() -> None:
    """Two versions run side by side: the older one shows what it knows."""
    newer = {"mood": "fine", "usage": {"joules": 3}}

    assert show_thread(replace(ROW, summary=newer), NOW) == show_thread(ROW, NOW)


@pytest.mark.parametrize(
    ("lease_until", "shown"),
    [(None, "queued"), (NOW - 1, "queued"), (NOW, "queued"), (NOW + 1, "running")],
)
def test_thread_is_running_while_somebody_holds_it(lease_until: Any, shown: str) -> None:  # noqa: ANN401 (a time or none)
    """A lease that ran out holds nothing: the thread is queued again."""
    assert show_thread(replace(ROW, lease_until=lease_until), NOW).status == shown


@given(
    status=st.sampled_from(["waiting", "paused", "finished", "failed", "cancelled"]),
    lease=st.none() | st.integers(NOW - 10, NOW + 10),
)
def test_any_other_status_is_shown_as_the_log_gives_it(status: Any, lease: Any) -> None:  # noqa: ANN401 (drawn)
    """Also while a worker is still looking at it."""
    row = replace(ROW, status=status, lease_until=lease)

    assert show_thread(row, NOW).status == status


def test_row_without_a_summary_is_shown() -> None:
    """Defaults stand in for what is not known."""
    view = show_thread(ROW, NOW)

    assert (view.result, view.error, view.metadata, view.questions) == (None, None, {}, [])
    assert view.created_at.isoformat() == "2026-01-01T00:00:00+00:00"


async def test_thread_and_queue_show_the_same_question() -> None:
    """One form of it, wherever it is seen; times are times."""
    log = await asking()
    state = fold(log.events)
    listed = show_thread(replace(ROW, status="waiting", summary=summary(state)), NOW).questions
    queued = [show_question(question_row(state, key)) for key in log.open]

    assert listed == queued
    assert queued[0].asked_at.isoformat() == "2026-01-01T00:00:00+00:00"
    assert (queued[0].tool, queued[0].arguments) == ("pay", {"amount": 1})
    assert (queued[0].expires_at, queued[0].audience) == (None, ["otto"])


@given(after=st.integers(0, 10**6))
async def test_events_are_numbered_from_where_they_begin(after: int) -> None:
    """Their places in the log, their types, and what belongs to each."""
    events = (await asking()).events
    shown = [view.model_dump(mode="json") for view in show_events(events, after)]

    assert [one["seq"] for one in shown] == list(range(after + 1, after + len(events) + 1))
    assert [one["type"] for one in shown] == [type(event).__name__ for event in events]
    assert (shown[1]["text"], shown[1]["at"]) == ("hello", "2026-01-01T00:00:00Z")
