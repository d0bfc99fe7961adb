"""A call: from the model's choice to its one result."""

from __future__ import annotations

import pytest

from agent_core.errors import ImpossibleEvent
from agent_core.thread.events import ChosenCall, Event, FailureReason
from agent_core.thread.fold import fold
from agent_core.thread.state import CallResult, Compensation
from agent_core.thread.transitions import CallStatus
from tests.unit.agent_core.thread.logs import (
    CALL_IN,
    CHOSEN,
    RUNNING,
    SPOKEN,
    answered,
    ask,
    asked,
    call_in,
    cancelled,
    chose,
    compacted,
    doubt,
    failed,
    replied,
    returned,
    started,
    state_of,
    undone,
)

COMPENSABLE = (*CHOSEN, started(compensable=True))


def test_calls_are_keyed_by_their_reply_and_their_place_in_it() -> None:
    """Model servers' own ids repeat from thread to thread, so they are no keys."""
    state = state_of(*SPOKEN, replied("", chose("a", x=1), chose("b")))

    assert list(state.calls) == ["3.0", "3.1"]
    assert list(state.open_calls) == ["3.0", "3.1"]
    assert (call_in(state).tool, call_in(state).arguments) == ("a", {"x": 1})
    assert (call_in(state).signature, call_in(state).status) == ("sig", "chosen")


def test_a_start_fixes_the_idempotency_key() -> None:
    """What the tool was given is in the log before it runs."""
    call = call_in(state_of(*CHOSEN, started(key="t1/3.0", attempt=2, compensable=True)))

    assert (call.idempotency_key, call.attempt, call.compensable) == ("t1/3.0", 2, True)


def test_a_tools_return_is_the_calls_result() -> None:
    """And the model has something to see."""
    state = state_of(*RUNNING, returned({"n": 1}))

    assert call_in(state).result == CallResult(outcome="returned", value={"n": 1})
    assert state.unseen
    assert not state.open_calls


def test_a_failure_is_a_result_too() -> None:
    """The model is told the reason."""
    result = call_in(state_of(*RUNNING, failed("timeout", "5 s"))).result

    assert result == CallResult(outcome="failed", value="5 s", reason="timeout")


@pytest.mark.parametrize(
    ("reason", "counts"),
    [
        ("exception", True),
        ("timeout", True),
        ("unknown_tool", True),
        ("bad_arguments", True),
        ("bad_result", True),
        ("too_many_resumes", True),
        ("interrupted", False),
        ("outcome_unknown", False),
        ("tool_changed", False),
    ],
)
def test_failures_in_a_row_are_those_that_the_agent_can_help(
    reason: FailureReason, *, counts: bool
) -> None:
    """A pause, a crash and a deploy say nothing about whether the agent is on the right way."""
    state = state_of(*RUNNING, failed(reason))

    assert state.failures_in_a_row == (1 if counts else 0)


def test_a_return_ends_the_row_of_failures() -> None:
    """Only failures in a row are a bad sign."""
    state = state_of(
        *SPOKEN,
        replied("", chose("a"), chose("b"), chose("c")),
        failed(call="3.0"),
        failed(call="3.1"),
        started("3.2"),
        returned(call="3.2"),
    )

    assert state.failures_in_a_row == 0


@pytest.mark.parametrize(
    "ending",
    [
        returned(),
        failed("timeout"),
        failed("interrupted"),
        failed("bad_result"),
        failed("outcome_unknown"),
        asked(doubt()),
        asked(ask(resume_to="next")),
        asked(ask(resume_to="event", handler="h")),
    ],
    ids=repr,
)
def test_what_took_effect_or_may_have_can_be_undone(ending: Event) -> None:
    """When in doubt a cancellation undoes it: compensations are idempotent."""
    assert state_of(*COMPENSABLE, ending).effects == ["3.0"]


@pytest.mark.parametrize(
    "ending",
    [
        failed("exception"),
        failed("too_many_resumes"),
        asked(ask(resume_to="self")),
        asked(ask(resume_to="ask")),
    ],
    ids=repr,
)
def test_what_did_not_take_effect_is_not_undone(ending: Event) -> None:
    """A tool that raised, or that will run again, has done nothing yet."""
    assert state_of(*COMPENSABLE, ending).effects == []


def test_what_has_no_compensation_is_no_effect() -> None:
    """There is nothing that could undo it."""
    assert state_of(*RUNNING, returned()).effects == []


def test_an_effect_is_noted_once() -> None:
    """A call in doubt that turns out to have happened is one effect, not two."""
    again = (started(attempt=2, compensable=True), returned())

    assert state_of(*COMPENSABLE, asked(doubt()), answered("it_happened")).effects == ["3.0"]
    assert state_of(*COMPENSABLE, asked(doubt()), answered("run_again"), *again).effects == ["3.0"]
    assert state_of(*COMPENSABLE, asked(ask()), answered("x")).effects == ["3.0"]


def test_each_try_at_undoing_is_recorded() -> None:
    """The last one says whether there will be another."""
    tried = state_of(*COMPENSABLE, returned(), cancelled(), undone(error="no line", settled=False))
    settled = fold([undone(attempt=2)], onto=tried)

    assert tried.compensations == {
        "3.0": Compensation(call_in(tried).key, 1, "no line", settled=False)
    }
    assert settled.compensations == {"3.0": Compensation(call_in(tried).key, 2, settled=True)}


def test_what_had_no_effect_cannot_be_undone() -> None:
    """A compensation without its call is a forged log."""
    with pytest.raises(ImpossibleEvent, match=r"call 3\.0 has no effect to undo"):
        state_of(*RUNNING, returned(), cancelled(), undone())


@pytest.mark.parametrize("status", sorted(set(CALL_IN) - {"settled"}))
def test_an_open_call_cannot_be_summarised_away(status: CallStatus) -> None:
    """Its result would have no place to go."""
    with pytest.raises(ImpossibleEvent, match=r"call 3\.0 is open"):
        state_of(*CALL_IN[status], compacted(3))


def test_what_the_model_wrote_in_place_of_arguments_is_kept() -> None:
    """The person and the model can be told what was wrong with it."""
    broken = ChosenCall("refund", {}, "sig", malformed="{oops")
    call = call_in(state_of(*SPOKEN, replied("", broken)))

    assert (call.arguments, call.malformed) == ({}, "{oops")
