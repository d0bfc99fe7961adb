"""`next_step`: what comes next, in every situation that a thread can be in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from agent_core.thread.events import Event
from agent_core.thread.fold import fold
from agent_core.thread.questions import CallKey, Question
from agent_core.thread.state import Status
from agent_core.thread.steps import (
    CallModel,
    Compensate,
    Finish,
    Recover,
    RunCalls,
    Step,
    Wait,
    next_step,
    status,
)
from agent_core.thread.transitions import CallStatus
from tests.unit.agent_core.thread.logs import (
    CALL,
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
    chose,
    expired,
    failed,
    finished,
    launched,
    limited,
    may_go_on,
    paused,
    replied,
    resumed,
    returned,
    said,
    started,
    state_of,
    undone,
    what_now,
)
from tests.unit.agent_core.thread.walks import histories

POSTED = (*RUNNING, asked(ask(wait=False)), returned())


def step_after(*events: Event | float, running: frozenset[CallKey] = frozenset()) -> Step:
    """Decide after a log."""
    return next_step(state_of(*events), running)


@pytest.mark.parametrize(
    "events",
    [
        SPOKEN,
        (*SPOKEN, replied("hm"), said("and?")),
        (*SPOKEN, said("wait"), replied("hm", seen=2)),
        (*RUNNING, returned()),
        (*CHOSEN, failed("unknown_tool")),
        (*CALL_IN["gated"], answered(NO)),
        (*CALL_IN["gated"], expired()),
        (*SPOKEN, replied("hm"), paused(), resumed("otto", "go on")),
        (*SPOKEN, replied("hm"), finished(), said("more")),
        (*SPOKEN, broke(), resumed()),
        (*SPOKEN, limited("ask"), asked(may_go_on()), answered("go_on")),
        (*CHOSEN, failed(), asked(what_now()), answered("try again")),
        POSTED,
        (*POSTED, replied("posted"), answered("x")),
    ],
)
def test_the_model_is_shown_what_it_has_not_seen(events: tuple[Event, ...]) -> None:
    """Whatever is new, once every call has its result."""
    state = state_of(*events)

    assert next_step(state) == CallModel()
    assert status(state) == "running"


@pytest.mark.parametrize("where", ["chosen", "approved", "ready"])
def test_a_call_that_may_go_on_is_run(where: CallStatus) -> None:
    """Chosen, approved, or with its answer."""
    state = state_of(*CALL_IN[where])

    assert next_step(state) == RunCalls((call_in(state),))


def test_calls_that_need_no_one_run_while_others_wait() -> None:
    """In the order in which they were chosen."""
    state = state_of(
        *SPOKEN,
        replied("", chose("a"), chose("b"), chose("c")),
        asked(approval("q1", "3.1")),
    )

    assert next_step(state) == RunCalls((call_in(state, "3.0"), call_in(state, "3.2")))


def test_nothing_is_shown_to_the_model_until_every_call_has_its_result() -> None:
    """Also when somebody writes meanwhile."""
    state = state_of(
        *SPOKEN,
        replied("", chose("a"), chose("b")),
        asked(approval("q1", "3.0")),
        started("3.1"),
        returned(call="3.1"),
        said("hurry"),
    )

    assert next_step(state) == Wait("calls")
    assert status(state) == "waiting"


@pytest.mark.parametrize("where", ["gated", "waiting", "unsure"])
def test_a_call_that_people_were_asked_about_waits(where: CallStatus) -> None:
    """And holds no worker."""
    assert step_after(*CALL_IN[where]) == Wait("calls")


def test_a_call_that_this_worker_runs_is_waited_for() -> None:
    """It is in good hands."""
    assert step_after(*RUNNING, running=frozenset({CALL})) == Wait("calls")


def test_a_call_that_nobody_runs_is_recovered() -> None:
    """Its worker is gone; and that comes before anything else."""
    state = state_of(
        *SPOKEN, replied("", chose("a"), chose("b"), chose("c")), started("3.0"), started("3.1")
    )

    assert next_step(state, {CALL}) == Recover((call_in(state, "3.1"),))
    assert next_step(state) == Recover((call_in(state, "3.0"), call_in(state, "3.1")))
    assert status(state) == "running"


@pytest.mark.parametrize("question", [may_go_on(), what_now()], ids=["limit", "failures"])
def test_a_question_about_the_run_itself_holds_the_model(question: Question) -> None:
    """Also when there is something new to see."""
    state = state_of(*CHOSEN, failed(), asked(question), said("and?"))

    assert next_step(state) == Wait("questions")
    assert status(state) == "waiting"


def test_a_posted_question_is_waited_for_only_when_nothing_else_is_to_do() -> None:
    """The agent went on meanwhile; but it doesn't end while people are being asked."""
    assert step_after(*POSTED) == CallModel()
    assert step_after(*POSTED, replied("posted")) == Wait("questions")
    assert step_after(*POSTED, replied("posted"), said("x")) == CallModel()


def test_a_thread_finishes_when_the_model_has_seen_everything() -> None:
    """And nobody is still being asked."""
    assert step_after(*SPOKEN, replied("done")) == Finish()
    assert step_after(*POSTED, replied("posted"), answered("x"), replied("thanks")) == Finish()
    assert step_after(launched()) == Finish()


@pytest.mark.parametrize(
    "events",
    [
        (*SPOKEN, limited("finish")),
        (*SPOKEN, limited("ask"), asked(may_go_on()), answered("stop")),
        (*SPOKEN, limited("ask"), asked(may_go_on()), expired()),
        (*POSTED, limited("finish")),
    ],
)
def test_a_limit_ends_the_run_with_what_there_is(events: tuple[Event, ...]) -> None:
    """The model isn't called again, not even for what it has not seen."""
    assert step_after(*events) == Finish()


@pytest.mark.parametrize(
    ("event", "why"),
    [(paused(), "paused"), (finished(), "finished"), (broke(), "failed")],
)
@pytest.mark.parametrize("before", [SPOKEN, CHOSEN, (*CALL_IN["gated"], answered(YES))])
def test_nothing_starts_unless_the_thread_is_active(
    before: tuple[Event, ...], event: Event, why: Status
) -> None:
    """Whatever there would be to do."""
    state = state_of(*before, event)

    assert next_step(state) == Wait(why)  # type: ignore[arg-type]  # "running" is not among these
    assert status(state) == why


def test_a_thread_that_nobody_launched_has_nothing_to_do() -> None:
    """Not yet."""
    assert next_step(fold([])) == Wait("new")
    assert status(fold([])) == "running"


def test_resuming_goes_on_where_it_stood() -> None:
    """A pause between choosing and running changes nothing but the time."""
    state = state_of(*CHOSEN, paused(), resumed())

    assert next_step(state) == RunCalls((call_in(state),))


def test_a_cancelled_thread_undoes_its_effects_in_reverse_order() -> None:
    """One after the other, each until it is settled."""
    calls = [chose("a"), chose("b"), chose("c")]
    ran = [
        event
        for key in ("3.0", "3.1", "3.2")
        for event in (started(key, compensable=key != "3.1"), returned(call=key))
    ]
    state = state_of(*SPOKEN, replied("", *calls), *ran, cancelled("otto"))

    assert next_step(state) == Compensate(call_in(state, "3.2"))
    state = fold([undone("3.2", error="no line", settled=False)], onto=state)
    assert next_step(state) == Compensate(call_in(state, "3.2"))
    state = fold([undone("3.2", attempt=2)], onto=state)
    assert next_step(state) == Compensate(call_in(state, "3.0"))
    state = fold([undone("3.0", error="refused by the bank")], onto=state)
    assert next_step(state) == Wait("cancelled")
    assert status(state) == "cancelled"


def test_a_cancelled_thread_waits_for_the_tool_that_still_runs() -> None:
    """What can't be stopped ends by itself, and is undone only then."""
    state = state_of(*CHOSEN, started(compensable=True), cancelled())

    assert next_step(state, {CALL}) == Wait("calls")
    assert next_step(state) == Recover((call_in(state),))
    ended = fold([returned()], onto=state)
    assert next_step(ended) == Compensate(call_in(ended))


def test_a_cancelled_thread_with_nothing_to_undo_is_at_rest() -> None:
    """For good."""
    assert step_after(*SPOKEN, cancelled()) == Wait("cancelled")


@settings(max_examples=40)
@given(histories())
def test_a_model_call_never_comes_before_a_result(events: list[Event]) -> None:
    """In every history: no open call, and nothing that holds the run, when the model is called."""
    state = fold(events)
    step = next_step(state)

    if isinstance(step, (CallModel, Finish)):
        assert not state.open_calls
    if isinstance(step, CallModel):
        assert state.unseen
        assert not state.stopping
