"""A call's one result, in the words that the model reads."""

from __future__ import annotations

from typing import get_args

import pytest

from agent_core.context.results import result_text
from agent_core.thread.events import Event, FailureReason
from agent_core.thread.questions import Waiting
from agent_core.thread.state import Outcome
from tests.unit.agent_core.thread.logs import (
    CALL_IN,
    CHOSEN,
    NO,
    RUNNING,
    YES,
    answered,
    approval,
    asked,
    call_in,
    cancelled,
    expired,
    failed,
    returned,
    started,
    state_of,
    withdrawn,
)

APPROVED = (*CALL_IN["gated"], answered(YES, comment="only today"), started())
DENY = (*CHOSEN, asked(approval(waiting=Waiting(expires_after=9, on_expiry="deny"))), expired())

TELLS: list[tuple[Outcome, tuple[Event, ...], str]] = [
    ("returned", (*RUNNING, returned("paid")), "paid"),
    ("returned", (*RUNNING, returned("")), ""),
    ("returned", (*RUNNING, returned(None)), "null"),
    ("returned", (*RUNNING, returned({"n": [1, 2.5]})), '{"n":[1,2.5]}'),
    ("returned", (*APPROVED, returned("paid")), "(The approver said: only today)\npaid"),
    ("answered", (*CALL_IN["waiting"], answered("blue")), "blue"),
    ("answered", (*CALL_IN["waiting"], answered({"n": 1})), '{"n":1}'),
    (
        "answered",
        (*CALL_IN["waiting"], answered("blue", comment="or red")),
        "blue\n(Comment: or red)",
    ),
    ("denied", (*CALL_IN["gated"], answered(NO)), "Denied by otto. The tool was not run."),
    ("denied", (*CALL_IN["gated"], answered(NO, by="")), "Denied. The tool was not run."),
    (
        "denied",
        (*CALL_IN["gated"], answered(NO, comment="too much {value}")),
        "Denied by otto. The tool was not run. They said: too much {value}",
    ),
    (
        "confirmed",
        (*CALL_IN["unsure"], answered("it_happened")),
        "It took effect, as confirmed by otto.",
    ),
    (
        "confirmed",
        (*CALL_IN["unsure"], answered("it_happened", by="", comment="saw it")),
        "It took effect, as confirmed. They said: saw it",
    ),
    (
        "withdrawn",
        (*CALL_IN["gated"], withdrawn()),
        "The question was withdrawn. The tool was not run.",
    ),
    (
        "withdrawn",
        (*CALL_IN["gated"], withdrawn(reason="moot")),
        "The question was withdrawn. The tool was not run. moot",
    ),
    ("cancelled", (*CHOSEN, cancelled()), "The thread was stopped. The tool was not run."),
    (
        "cancelled",
        (*CHOSEN, cancelled(reason="wrong customer")),
        "The thread was stopped. The tool was not run. wrong customer",
    ),
]


@pytest.mark.parametrize(("outcome", "events", "words"), TELLS)
def test_the_model_is_told_how_its_call_ended(
    outcome: Outcome, events: tuple[Event, ...], words: str
) -> None:
    """In plain words, with who said what."""
    call = call_in(state_of(*events))

    assert call.result is not None
    assert call.result.outcome == outcome
    assert result_text(call) == words


def test_an_expiry_is_told_as_no_denial() -> None:
    """Nobody has said no; only the operator can wish it to be taken so."""
    told = result_text(call_in(state_of(*CALL_IN["gated"], expired())))

    assert "in time" in told
    assert "not a denial" in told
    assert "not run" in told
    assert result_text(call_in(state_of(*DENY))) == (
        "Nobody answered in time: that counts as a no here. The tool was not run."
    )


@pytest.mark.parametrize("end", [expired(), withdrawn(), cancelled()], ids=repr)
def test_a_tool_that_had_begun_is_not_told_to_have_never_run(end: Event) -> None:
    """It ran up to its question: the model must know that something may have happened."""
    told = result_text(call_in(state_of(*CALL_IN["waiting"], end)))

    assert "not run" not in told
    assert "run up to its question" in told


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("exception", "The tool failed: {boom}"),
        ("timeout", "{boom} It may have taken effect"),
        ("unknown_tool", "There is no such tool. {boom}"),
        ("bad_arguments", "nothing ran. {boom}"),
        ("bad_result", "took effect, but its result can't be shown: {boom}"),
        ("interrupted", "stopped half-way"),
        ("outcome_unknown", "Nobody knows whether this took effect"),
        ("tool_changed", "has changed since this was chosen, and nothing ran: {boom}"),
        ("too_many_resumes", "asked too many times, and was ended: {boom}"),
    ],
)
def test_a_failure_is_told_with_what_the_model_can_make_of_it(
    reason: FailureReason, words: str
) -> None:
    """Whether it took effect, and what was wrong; braces in an error are just text."""
    assert words in result_text(call_in(state_of(*RUNNING, failed(reason, "{boom}"))))


def test_every_reason_of_failure_has_its_words() -> None:
    """Also one that will be added."""
    told = {
        result_text(call_in(state_of(*RUNNING, failed(reason, ""))))
        for reason in get_args(FailureReason)
    }

    assert len(told) == len(get_args(FailureReason))


def test_an_outcome_that_a_person_could_not_tell_says_what_they_did_tell() -> None:
    """Skipped, with a hint."""
    told = result_text(call_in(state_of(*CALL_IN["unsure"], answered("skip", comment="ask Eve"))))

    assert told.startswith("Nobody knows whether this took effect")
    assert told.endswith("They said: ask Eve")


@pytest.mark.parametrize("end", [expired(), withdrawn()], ids=repr)
def test_a_doubt_that_nobody_cleared_up_stays_a_doubt(end: Event) -> None:
    """That nobody answered doesn't mean that nothing ran."""
    told = result_text(call_in(state_of(*CALL_IN["unsure"], end)))

    assert told.startswith("Nobody knows whether this took effect")


def test_every_outcome_is_told_here() -> None:
    """The tests above leave none out."""
    elsewhere = {"expired", "failed"}

    assert {outcome for outcome, _, _ in TELLS} | elsewhere == set(get_args(Outcome))
