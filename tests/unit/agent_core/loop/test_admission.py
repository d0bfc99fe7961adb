"""Admission: may this call run, now, with these arguments?"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from agent_core import Agent, ScriptedModel, Tool, tool
from agent_core.loop.admission import Admission, Admitted, admit, problem_of, readmit
from agent_core.thread.digest import approval_digest
from agent_core.thread.events import Millis, QuestionAsked, ToolFailed
from agent_core.thread.questions import CallKey, QuestionId
from agent_core.thread.state import Call, ThreadState

STATE = ThreadState(id="th_1", lifecycle="active")  # type: ignore[arg-type]


@tool
def look(thing: str) -> str:
    """Look at something."""
    return thing


@tool(approval=True, approvers=["otto"], compensate=lambda: None)
def pay(amount: int) -> str:
    """Pay."""
    return f"{amount}"


@tool(idempotent=True)
def send(text: str) -> str:
    """Send."""
    return text


def chosen(made: Tool, **parts: Any) -> Call:  # noqa: ANN401 (of Call)
    """Make a call of a tool, as the model chose it."""
    given: dict[str, Any] = {"arguments": {}, "signature": made.signature.digest, **parts}
    return Call(key=CallKey("3.0"), tool=made.name, **given)


def decide(call: Call, *tools: Tool, state: ThreadState = STATE, lost: bool = False) -> Admission:
    """Decide about a call, with these tools."""
    definition = Agent("agent", tools=tools, model=ScriptedModel([])).definition
    decision = readmit if lost else admit
    return decision(definition, state, call, Millis(7), lambda: QuestionId("q_1"))


def test_a_call_that_needs_no_one_starts_with_a_key_of_its_own() -> None:
    """The start is an event, with the key that the tool can pass on."""
    decision = decide(chosen(look, arguments={"thing": "x"}), look)

    assert isinstance(decision, Admitted)
    started = decision.started
    assert (started.key, started.attempt, started.compensable) == ("th_1/3.0", 1, False)
    assert decision.arguments == {"thing": "x"}


def test_a_key_once_fixed_stays() -> None:
    """Also in a fork, which has another id."""
    again = chosen(look, arguments={"thing": "x"}, idempotency_key="th_0/3.0", attempt=1)

    decision = decide(again, look)

    assert isinstance(decision, Admitted)
    assert (decision.started.key, decision.started.attempt) == ("th_0/3.0", 2)


def test_a_call_that_needs_approval_asks_with_a_digest_of_what_would_run() -> None:
    """Whoever may approve is asked."""
    decision = decide(chosen(pay, arguments={"amount": 5}), pay)

    assert isinstance(decision, QuestionAsked)
    question = decision.question
    assert (question.kind, question.to, question.tool) == ("approval", ("otto",), "pay")
    assert question.digest == approval_digest("pay", pay.signature.digest, {"amount": 5})


def test_an_approval_of_other_arguments_is_none() -> None:
    """Only the very digest lets it run."""
    digest = approval_digest("pay", pay.signature.digest, {"amount": 5})
    approved = chosen(pay, arguments={"amount": 5}, status="approved", approved_digest=digest)
    other = replace(approved, arguments={"amount": 6})

    assert isinstance(decide(approved, pay), Admitted)
    assert isinstance(decide(other, pay), QuestionAsked)


def test_a_started_call_that_can_be_undone_says_so() -> None:
    """The log must know what to compensate without the code."""
    digest = approval_digest("pay", pay.signature.digest, {"amount": 5})

    decision = decide(chosen(pay, arguments={"amount": 5}, approved_digest=digest), pay)

    assert isinstance(decision, Admitted)
    assert decision.started.compensable


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (Call(key=CallKey("3.0"), tool="nope", arguments={}), "unknown_tool"),
        (chosen(pay, arguments={"amount": 5}), "tool_changed"),
        (chosen(look, malformed="{oops"), "bad_arguments"),
        (chosen(look, arguments={}), "bad_arguments"),
        (chosen(look, arguments={"thing": "x"}, signature="other"), "tool_changed"),
        (chosen(look, arguments={"thing": "x"}, handler="gone"), "tool_changed"),
    ],
)
def test_a_call_that_cannot_run_fails_for_its_own_reason(call: Call, reason: str) -> None:
    """Before anybody is asked, and before anything runs."""
    decision = decide(call, look)

    assert isinstance(decision, ToolFailed)
    assert decision.reason == reason


def test_a_malformed_call_shows_the_model_what_it_wrote_but_not_pages_of_it() -> None:
    """500 characters are enough to see the mistake."""
    definition = Agent("agent", tools=[look], model=ScriptedModel([])).definition

    problem = problem_of(definition, chosen(look, malformed="x" * 10_000))

    assert problem is not None
    assert len(problem[1]) < 600


# A call that was cut off


def test_an_idempotent_call_that_was_cut_off_starts_again() -> None:
    """With the same key."""
    lost = chosen(
        send, arguments={"text": "x"}, status="running", attempt=1, idempotency_key="th_1/3.0"
    )

    decision = decide(lost, send, lost=True)

    assert isinstance(decision, Admitted)
    assert (decision.started.attempt, decision.started.key) == (2, "th_1/3.0")


def test_any_other_call_that_was_cut_off_is_asked_about() -> None:
    """It may have taken effect."""
    lost = chosen(pay, arguments={"amount": 5}, status="running", attempt=1)

    decision = decide(lost, pay, lost=True)

    assert isinstance(decision, QuestionAsked)
    assert decision.question.purpose == "outcome"
    assert decision.question.to == ("otto",)


def test_in_a_cancelled_thread_nobody_is_asked_about_a_call_that_was_cut_off() -> None:
    """It is noted as unknown, so that it is undone."""
    cancelled = ThreadState(id="th_1", lifecycle="cancelled")  # type: ignore[arg-type]
    lost = chosen(send, arguments={"text": "x"}, status="running", attempt=1)

    decision = decide(lost, send, state=cancelled, lost=True)

    assert isinstance(decision, ToolFailed)
    assert decision.reason == "outcome_unknown"
