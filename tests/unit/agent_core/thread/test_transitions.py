"""The three tables: every row can happen, and nothing else can."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from agent_core.errors import ImpossibleEvent
from agent_core.thread import call_fold
from agent_core.thread.events import Event
from agent_core.thread.fold import fold
from agent_core.thread.questions import YES_NO
from agent_core.thread.transitions import (
    CALL,
    QUESTION,
    THREAD,
    CallStatus,
    CallTrigger,
    Lifecycle,
    QuestionStatus,
)
from tests.unit.agent_core.thread import logs
from tests.unit.agent_core.thread.logs import (
    CALL_IN,
    CHOSEN,
    NO,
    RUNNING,
    SPOKEN,
    YES,
    answered,
    approval,
    ask,
    asked,
    broke,
    call_in,
    cancelled,
    doubt,
    escalated,
    expired,
    failed,
    finished,
    log,
    paused,
    question_in,
    reminded,
    returned,
    started,
    state_of,
    taken_back,
    voted,
    withdrawn,
)
from tests.unit.agent_core.thread.stories import STORIES

LIFECYCLE_IN: dict[Lifecycle, tuple[Event, ...]] = {
    "new": (),
    "active": SPOKEN,
    "paused": (*SPOKEN, paused()),
    "finished": (*SPOKEN, finished()),
    "failed": (*SPOKEN, broke()),
    "cancelled": (*SPOKEN, cancelled()),
}
"""For each stage of a thread's life, a log that leaves it there."""

SAMPLES: dict[str, Event] = {type(one).__name__: one for log_ in STORIES.values() for one in log_}
"""One event of each type."""

IMPOSSIBLE_FOR_THREAD = sorted(set(product(LIFECYCLE_IN, SAMPLES)) - set(THREAD))

_ASKING = (*RUNNING, asked(ask("q1", resume_to="ask")))

CALL_MOVES: dict[tuple[CallStatus, CallTrigger], tuple[Event, ...]] = {
    ("chosen", "gate asked"): (*CHOSEN, asked(approval())),
    ("chosen", "started"): (*CHOSEN, started()),
    ("chosen", "failed"): (*CHOSEN, failed("unknown_tool")),
    ("chosen", "cancelled"): (*CHOSEN, cancelled()),
    ("gated", "gate asked"): (*CALL_IN["gated"], asked(approval("q2"), replaces="q1")),
    ("gated", "approved"): (*CALL_IN["gated"], answered(YES)),
    ("gated", "denied"): (*CALL_IN["gated"], answered(NO)),
    ("gated", "expired"): (*CALL_IN["gated"], expired()),
    ("gated", "withdrawn"): (*CALL_IN["gated"], withdrawn()),
    ("gated", "cancelled"): (*CALL_IN["gated"], cancelled()),
    ("approved", "gate asked"): (*CALL_IN["approved"], asked(approval("q2"))),
    ("approved", "taken back"): (*CALL_IN["approved"], taken_back()),
    ("approved", "started"): (*CALL_IN["approved"], started()),
    ("approved", "failed"): (*CALL_IN["approved"], failed("tool_changed")),
    ("approved", "cancelled"): (*CALL_IN["approved"], cancelled()),
    ("running", "started"): (*RUNNING, started(attempt=2)),
    ("running", "asked"): (*RUNNING, asked(ask())),
    ("running", "doubted"): (*RUNNING, asked(doubt())),
    ("running", "returned"): (*RUNNING, returned()),
    ("running", "failed"): (*RUNNING, failed()),
    ("running", "cancelled"): (*RUNNING, cancelled()),
    ("waiting", "asked"): (*_ASKING, asked(ask("q2", resume_to="ask"))),
    ("waiting", "one of several answered"): (
        *_ASKING,
        asked(ask("q2", resume_to="ask")),
        answered("blue", "q1"),
    ),
    ("waiting", "answered"): (*CALL_IN["waiting"], answered("blue")),
    ("waiting", "answered, runs on"): (*_ASKING, answered("blue")),
    ("waiting", "expired"): (*CALL_IN["waiting"], expired()),
    ("waiting", "withdrawn"): (*CALL_IN["waiting"], withdrawn()),
    ("waiting", "cancelled"): (*CALL_IN["waiting"], cancelled()),
    ("ready", "gate asked"): (*CALL_IN["ready"], asked(approval("q2"))),
    ("ready", "started"): (*CALL_IN["ready"], started(attempt=2)),
    ("ready", "failed"): (*CALL_IN["ready"], failed("tool_changed")),
    ("ready", "cancelled"): (*CALL_IN["ready"], cancelled()),
    ("unsure", "doubted"): (*CALL_IN["unsure"], asked(doubt("q2"), replaces="q1")),
    ("unsure", "happened"): (*CALL_IN["unsure"], answered("it_happened")),
    ("unsure", "run again"): (*CALL_IN["unsure"], answered("run_again")),
    ("unsure", "skipped"): (*CALL_IN["unsure"], answered("skip")),
    ("unsure", "expired"): (*CALL_IN["unsure"], expired()),
    ("unsure", "withdrawn"): (*CALL_IN["unsure"], withdrawn()),
    ("unsure", "cancelled"): (*CALL_IN["unsure"], cancelled()),
}
"""For each row of the call's table, a log whose last event is that row's."""

IMPOSSIBLE_FOR_CALL = sorted(set(product(get_args(CallStatus), get_args(CallTrigger))) - set(CALL))

_FREE = ask("q1", call=None, kind="choice", options=YES_NO)
QUESTION_IN: dict[QuestionStatus, tuple[Event, ...]] = {
    "open": (*SPOKEN, asked(_FREE)),
    "answered": (*CHOSEN, asked(approval()), answered(YES)),
    "expired": (*SPOKEN, asked(_FREE), expired()),
    "withdrawn": (*SPOKEN, asked(_FREE), withdrawn()),
}
QUESTION_EVENTS: dict[str, Event] = {
    "QuestionAnswered": answered("no"),
    "VoteCast": voted(YES),
    "ApprovalTakenBack": taken_back(),
    "QuestionReminded": reminded(),
    "QuestionEscalated": escalated("boss"),
    "QuestionExpired": expired(),
    "QuestionWithdrawn": withdrawn(),
    "QuestionAsked": asked(ask("q2", call=None), replaces="q1"),
}
IMPOSSIBLE_FOR_QUESTION = sorted(set(product(QUESTION_IN, QUESTION_EVENTS)) - set(QUESTION))


def test_every_row_of_the_threads_table_is_taken_by_some_story() -> None:
    """A row that no log can take would be a lie in the documentation."""
    taken = set()
    for story in STORIES.values():
        for length in range(len(story)):
            before, after = fold(story[:length]), fold(story[: length + 1])
            row = (before.lifecycle, type(story[length]).__name__)
            taken.add(row)
            assert THREAD[row] == after.lifecycle

    assert taken == set(THREAD)


def test_there_is_a_sample_of_every_event_type() -> None:
    """The stories leave none out."""
    assert set(SAMPLES) == {kind.__name__ for kind in get_args(Event)}


@pytest.mark.parametrize(("lifecycle", "kind"), IMPOSSIBLE_FOR_THREAD)
def test_an_event_that_a_thread_cannot_take_is_impossible(lifecycle: Lifecycle, kind: str) -> None:
    """What the thread's table doesn't have raises an error that names both sides."""
    before = state_of(*LIFECYCLE_IN[lifecycle])
    assert before.lifecycle == lifecycle

    with pytest.raises(ImpossibleEvent, match=rf"\b{lifecycle}\b.*\b{kind}\b"):
        fold([SAMPLES[kind]], onto=before)


@pytest.mark.parametrize("row", sorted(CALL))
def test_every_row_of_the_calls_table_is_taken_by_some_log(
    row: tuple[CallStatus, CallTrigger],
) -> None:
    """The log's last event takes the call where the table says."""
    events = log(*CALL_MOVES[row])

    assert call_in(fold(events[:-1])).status == row[0]
    assert call_in(fold(events)).status == CALL[row]


@pytest.mark.parametrize("status", get_args(CallStatus))
def test_a_log_leaves_a_call_in_each_status(status: CallStatus) -> None:
    """The logs that other tests build on say what they claim."""
    assert call_in(state_of(*CALL_IN[status])).status == status


@pytest.mark.parametrize(("status", "trigger"), IMPOSSIBLE_FOR_CALL)
def test_what_a_call_cannot_take_is_impossible(status: CallStatus, trigger: CallTrigger) -> None:
    """What the call's table doesn't have raises an error that names call, status and trigger."""
    state = state_of(*CALL_IN[status])

    with pytest.raises(ImpossibleEvent, match=rf"call 3\.0 .*\b{status}\b.*{trigger}$"):
        call_fold.advance(state, logs.CALL, trigger)


@pytest.mark.parametrize(("status", "trigger"), sorted(QUESTION))
def test_every_row_of_the_questions_table_is_taken_by_some_log(
    status: QuestionStatus, trigger: str
) -> None:
    """An open question is reminded of, escalated, or comes to exactly one end."""
    before = state_of(*QUESTION_IN[status])

    after = fold([QUESTION_EVENTS[trigger]], onto=before)

    assert question_in(before).status == status
    assert question_in(after).status == QUESTION[status, trigger]
    assert ("q1" in after.open_questions) == (QUESTION[status, trigger] == "open")


@pytest.mark.parametrize(("status", "trigger"), IMPOSSIBLE_FOR_QUESTION)
def test_a_settled_question_takes_nothing_more(status: QuestionStatus, trigger: str) -> None:
    """The first end wins: a second answer, expiry or withdrawal is impossible."""
    before = state_of(*QUESTION_IN[status])

    with pytest.raises(ImpossibleEvent, match=rf"question q1 .*\b{status}\b.*\b{trigger}\b"):
        fold([QUESTION_EVENTS[trigger]], onto=before)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (started("9.9"), "no call 9.9"),
        (returned(call="9.9"), "no call 9.9"),
        (failed(call="9.9"), "no call 9.9"),
        (asked(ask("q9", "9.9")), "no call 9.9"),
        (asked(approval("q9", "9.9")), "no call 9.9"),
        (asked(doubt("q9", "9.9")), "no call 9.9"),
        (asked(ask("q1")), "question q1 was asked before"),
        (asked(ask("q9"), replaces="q8"), "no question q8"),
        (answered("x", "q9"), "no question q9"),
        (voted(YES, "q9"), "no question q9"),
        (taken_back("q9"), "no question q9"),
        (reminded("q9"), "no question q9"),
        (escalated("boss", key="q9"), "no question q9"),
        (expired("q9"), "no question q9"),
        (withdrawn("q9"), "no question q9"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else one,
)
def test_an_event_about_what_never_was_is_impossible(event: Event, words: str) -> None:
    """A forged log can't speak of calls and questions that nobody made, nor make one twice."""
    before = state_of(*CALL_IN["waiting"])

    with pytest.raises(ImpossibleEvent, match=words):
        fold([event], onto=before)
