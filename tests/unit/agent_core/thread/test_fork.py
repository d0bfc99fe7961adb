"""Fork: the log up to an event, under a new id, with open questions asked anew."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings

from agent_core.errors import Refused
from agent_core.thread.events import Event, Millis, QuestionAsked, ThreadId, ThreadLaunched
from agent_core.thread.fold import fold
from agent_core.thread.fork import fork
from agent_core.thread.questions import Question, QuestionId, Waiting
from agent_core.thread.state import ThreadState
from agent_core.thread.steps import Compensate, Recover, Wait, next_step
from agent_core.thread.timers import next_due
from tests.unit.agent_core.thread.logs import (
    CALL_IN,
    CHOSEN,
    RUNNING,
    SPOKEN,
    START,
    YES,
    answered,
    approval,
    ask,
    asked,
    broke,
    call_in,
    cancelled,
    chose,
    doubt,
    expired,
    failed,
    log,
    question_in,
    replied,
    returned,
    said,
    started,
)
from tests.unit.agent_core.thread.stories import STORIES
from tests.unit.agent_core.thread.walks import histories

NOW = Millis(START + 10**6)


def forked(events: list[Event], at_seq: int | None = None) -> list[Event]:
    """Fork into t2, with questions n1, n2 and so on."""
    numbers = count(1)
    return fork(
        events,
        at_seq=at_seq,
        thread=ThreadId("t2"),
        now=NOW,
        new_question=lambda: QuestionId(f"n{next(numbers)}"),
    )


def fork_of(*events: Event) -> ThreadState:
    """Fork at the end, and fold."""
    return fold(forked(log(*events)))


@pytest.mark.parametrize("events", STORIES.values(), ids=STORIES)
def test_a_thread_can_be_forked_at_each_event(events: list[Event]) -> None:
    """The fork stands where the original stood, under its own id."""
    for at_seq in range(1, len(events) + 1):
        original = fold(events[:at_seq])
        copy = fold(forked(events, at_seq))

        assert copy.id == "t2"
        assert copy.lifecycle == original.lifecycle
        assert len(copy.open_questions) <= len(original.open_questions)
        assert {key: one.status for key, one in copy.calls.items()} == {
            key: one.status for key, one in original.calls.items()
        }
        assert not set(copy.open_questions) & set(original.questions)
        assert copy.effects == []


@settings(max_examples=40)
@given(histories())
def test_any_history_can_be_forked_anywhere(events: list[Event]) -> None:
    """And what comes out is a history that could have happened, with new questions only."""
    for at_seq in range(1, len(events) + 1):
        original, copy = fold(events[:at_seq]), fold(forked(events, at_seq))

        assert copy.lifecycle == original.lifecycle
        assert not set(copy.open_questions) & set(original.questions)
        assert copy.effects == []


def test_a_fork_names_where_it_came_from() -> None:
    """Original and event."""
    first = forked(log(*CHOSEN, said()), 3)[0]

    assert isinstance(first, ThreadLaunched)
    assert (first.thread, first.forked_from, first.forked_at) == ("t2", "t1", 3)
    assert (first.agent, first.requester, first.at) == ("support", "ada", START)


def test_events_after_the_fork_are_left_out() -> None:
    """The rest is the same, event by event."""
    events = log(*CHOSEN, started(), returned())

    assert forked(events, 2)[1:] == events[1:2]
    assert forked(events)[1:] == events[1:]


def test_a_fork_leaves_the_original_alone() -> None:
    """It is a copy."""
    events = log(*CALL_IN["gated"])
    before = list(events)
    forked(events)

    assert events == before


@pytest.mark.parametrize("at_seq", [0, -1, 3, 99])
def test_a_fork_at_no_event_is_refused(at_seq: int) -> None:
    """The refusal says which there are."""
    with pytest.raises(Refused, match=rf"no event {at_seq}: the log has events 1 to 2"):
        forked(log(*SPOKEN), at_seq)


@pytest.mark.parametrize("at_seq", [None, 0, 1])
def test_an_empty_log_cannot_be_forked(at_seq: int | None) -> None:
    """There is nothing to copy."""
    with pytest.raises(Refused):
        forked([], at_seq)


def test_what_is_no_log_cannot_be_forked() -> None:
    """A log begins with its launch."""
    with pytest.raises(Refused, match="begins with ThreadLaunched"):
        forked(log(said()))


def test_an_open_question_is_asked_anew_under_a_new_id() -> None:
    """So an answer to the original reaches the original only; the wait begins anew."""
    question = approval(waiting=Waiting(remind_after=60))
    events = forked(log(*CHOSEN, asked(question)))
    state = fold(events)

    last = events[-1]
    assert isinstance(last, QuestionAsked)
    assert (last.replaces, last.at, last.question.prompt) == ("q1", NOW, question.prompt)
    assert (list(state.open_questions), question_in(state).status) == (["n1"], "withdrawn")
    assert next_due(state) == NOW + 60_000
    assert call_in(fold([answered(YES, "n1")], onto=state)).status == "approved"


def test_a_settled_question_is_not_asked_again() -> None:
    """Its answer is history."""
    state = fork_of(*RUNNING, asked(ask(resume_to="self")), answered("blue"))

    assert state.open_questions == {}
    assert call_in(state).status == "ready"


def test_an_approval_does_not_carry_over_to_a_fork() -> None:
    """What was approved in the original runs there, once; the fork asks anew."""
    state = fork_of(*CHOSEN, asked(approval()), answered(YES, digest="d1"))

    assert call_in(state).approved_digest == ""


def test_the_tools_memory_keeps_its_order() -> None:
    """An answered question behind an open one stays behind it."""
    state = fork_of(
        *RUNNING,
        asked(ask("q1", resume_to="ask")),
        asked(ask("q2", resume_to="ask")),
        answered("b", "q2"),
    )

    assert call_in(state).questions == ("n1", "q2")
    assert question_in(state, "n1").stands_for == "q1"


def test_a_fork_of_a_fork_remembers_the_id_that_the_tool_knows() -> None:
    """However many copies lie between."""
    once = forked(log(*CALL_IN["waiting"]))
    numbers = count(1)
    twice = fork(
        once,
        at_seq=None,
        thread=ThreadId("t3"),
        now=NOW,
        new_question=lambda: QuestionId(f"m{next(numbers)}"),
    )

    assert question_in(fold(twice), "m1").stands_for == "q1"


def test_a_call_that_was_running_is_found_as_after_a_crash_with_its_key() -> None:
    """The other side can tell that it is the same effect."""
    state = fork_of(*CHOSEN, started(key="t1/3.0"))

    assert next_step(state) == Recover((call_in(state),))
    assert call_in(state).idempotency_key == "t1/3.0"


COMPENSABLE = (*CHOSEN, started(compensable=True))


@pytest.mark.parametrize(
    "events",
    [
        (*COMPENSABLE, returned()),
        (*COMPENSABLE, asked(doubt())),
        (*COMPENSABLE, asked(ask(resume_to="next"))),
        (*COMPENSABLE, asked(ask(kind="event", resume_to="event", handler="h"))),
    ],
    ids=["returned", "in doubt", "paused for next", "paused for an event"],
)
def test_what_the_original_did_is_not_undone_by_the_fork(events: tuple[Event, ...]) -> None:
    """Cancelling a fork must not take back what the original still stands by."""
    state = fold([cancelled()], onto=fork_of(*events))

    assert next_step(state) == Wait("cancelled")


@pytest.mark.parametrize(
    "ending",
    [
        [asked(doubt("n9")), cancelled()],
        [asked(doubt("n9")), answered("it_happened", "n9"), cancelled()],
        [cancelled(), failed("outcome_unknown", "")],
    ],
    ids=["in doubt", "confirmed", "found after the cancellation"],
)
def test_what_was_running_at_the_fork_is_the_originals(ending: list[Event]) -> None:
    """The original's run goes on there; the fork, which never started it, doesn't undo it."""
    state = fold(ending, onto=fork_of(*COMPENSABLE))

    assert next_step(state) == Wait("cancelled")


def test_what_was_running_at_the_fork_and_runs_there_again_is_the_forks() -> None:
    """From its own start on."""
    again = [started(attempt=2, compensable=True), returned(), cancelled()]
    state = fold(again, onto=fork_of(*COMPENSABLE))

    assert next_step(state) == Compensate(call_in(state))


def test_what_the_fork_itself_does_is_undone() -> None:
    """From there on it is its own."""
    state = fold([started(compensable=True), returned(), cancelled()], onto=fork_of(*CHOSEN))

    assert next_step(state) == Compensate(call_in(state))


@pytest.mark.parametrize("end", [broke()], ids=["failed"])
def test_a_thread_that_stands_still_can_be_forked_with_its_questions(end: Event) -> None:
    """Also a failed one whose people are still being asked."""
    state = fork_of(*RUNNING, asked(ask(wait=False)), returned(), end)

    assert (state.lifecycle, list(state.open_questions)) == ("failed", ["n1"])


def test_a_fork_between_two_ends_withdraws_what_has_no_use() -> None:
    """Cut where a tool's first question has just expired, its second is not asked again."""
    events = log(
        *RUNNING,
        asked(ask("q1", resume_to="ask")),
        asked(ask("q2", resume_to="ask")),
        expired("q1"),
    )
    state = fold(forked(events))

    assert state.open_questions == {}
    assert call_in(state).status == "settled"


def test_several_questions_are_asked_anew_in_their_order() -> None:
    """Each call's own."""
    questions: list[Question] = [approval("q1", "3.0"), approval("q2", "3.1")]
    state = fork_of(*SPOKEN, replied("", chose("a"), chose("b")), *map(asked, questions))

    assert [one.question.call for one in state.waiting_questions()] == ["3.0", "3.1"]
    assert list(state.open_questions) == ["n1", "n2"]
