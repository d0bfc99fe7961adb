"""Commands: what people may ask of a thread, and how they are told that they may not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import get_args

import pytest
from msgspec.structs import replace

from agent_core.errors import (
    AlreadySettled,
    ImpossibleEvent,
    OpenQuestions,
    Refused,
    UnknownQuestion,
    WrongShape,
    WrongStatus,
)
from agent_core.json_values import JsonObject
from agent_core.thread import commands
from agent_core.thread.digest import approval_digest
from agent_core.thread.events import Event, Millis, QuestionAnswered
from agent_core.thread.fold import fold
from agent_core.thread.questions import Kind, Option, Purpose, Question, QuestionId
from agent_core.thread.state import ThreadState
from tests.unit.agent_core.thread.logs import (
    CALL,
    CALL_IN,
    CHOSEN,
    NO,
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
    expired,
    finished,
    log,
    paused,
    replied,
    resumed,
    returned,
    said,
    state_of,
    withdrawn,
)

NOW = Millis(START + 60_000)
Q1, Q2 = QuestionId("q1"), QuestionId("q2")

IN: dict[str, ThreadState] = {
    "new": fold([]),
    "running": state_of(*SPOKEN),
    "waiting": state_of(*CALL_IN["gated"]),
    "paused": state_of(*SPOKEN, paused("otto")),
    "finished": state_of(*SPOKEN, replied("done"), finished()),
    "failed": state_of(*SPOKEN, broke()),
    "cancelled": state_of(*SPOKEN, cancelled("otto")),
}
"""A thread in each status."""

WHO = r"\(by otto, 2026-10-03 04:00 UTC\) "


def same(_tool: str, arguments: JsonObject) -> JsonObject:
    """Let any arguments pass."""
    return arguments


def answer(state: ThreadState, value: object, key: QuestionId = Q1) -> list[Event]:
    """Answer one question as otto."""
    return commands.answer(
        state, {key: value}, at=NOW, by="otto", comment="so be it", check_arguments=same
    )


Command = Callable[[ThreadState], list[Event]]
COMMANDS: dict[str, tuple[Command, tuple[str, ...], str, Event]] = {
    "receive": (
        lambda state: commands.receive(state, "hello", at=NOW, sender="bob"),
        ("running", "waiting", "paused", "finished", "failed"),
        "takes no more messages",
        said("hello", "bob"),
    ),
    "pause": (
        lambda state: commands.pause(state, at=NOW, by="ada", reason="look"),
        ("running", "waiting"),
        "can't be paused",
        paused("ada", "look"),
    ),
    "resume": (
        lambda state: commands.resume(state, at=NOW, by="ada", instruction="be brief"),
        ("paused",),
        "can't be resumed",
        resumed("ada", "be brief"),
    ),
    "retry": (
        lambda state: commands.retry(state, at=NOW, by="ada", instruction="be brief"),
        ("failed",),
        "can't be retried",
        resumed("ada", "be brief"),
    ),
    "cancel": (
        lambda state: commands.cancel(state, at=NOW, by="ada", reason="wrong"),
        ("running", "waiting", "paused", "failed"),
        "can't be cancelled",
        cancelled("ada", "wrong"),
    ),
    "close": (
        lambda state: commands.close(state, at=NOW, by="ada", withdraw_open=True, result="x"),
        ("running", "waiting", "paused", "failed"),
        "can't be closed",
        finished("x"),
    ),
}


@pytest.mark.parametrize(
    ("name", "status"),
    [(name, status) for name, (_, allowed, _, _) in COMMANDS.items() for status in allowed],
)
def test_a_command_that_fits_becomes_an_event_that_the_thread_takes(name: str, status: str) -> None:
    """It carries who said so, and when, and folding it works."""
    command, _, _, expected = COMMANDS[name]

    events = command(IN[status])

    assert events[-1] == replace(expected, at=NOW)
    assert fold(events, onto=IN[status]).updated_at == NOW


@pytest.mark.parametrize(
    ("name", "status"),
    [
        (name, one)
        for name, (_, allowed, _, _) in COMMANDS.items()
        for one in IN
        if one not in allowed
    ],
)
def test_a_command_that_does_not_fit_is_refused_with_the_status(name: str, status: str) -> None:
    """The refusal says what the thread is, who made it so and when, and what it doesn't take."""
    command, _, refusal, _ = COMMANDS[name]
    who = WHO if status in ("paused", "cancelled") else ""
    shown = "running" if status == "new" else status

    with pytest.raises(WrongStatus, match=rf"^the thread is {shown} {who}and {refusal}$"):
        command(IN[status])


def test_a_pause_by_nobody_in_particular_names_nobody() -> None:
    """There is no name to give."""
    with pytest.raises(WrongStatus, match=r"^the thread is paused and can't be paused$"):
        commands.pause(state_of(*SPOKEN, paused()), at=NOW)


@pytest.mark.parametrize("stop", [paused("otto"), cancelled("otto")], ids=["paused", "cancelled"])
def test_a_refusal_tells_when_the_thread_was_stopped_not_when_it_last_changed(stop: Event) -> None:
    """A note or a compensation a day later doesn't move the moment of the pause."""
    stopped_with_tool_running = state_of(*RUNNING, stop, 86_400, returned())

    with pytest.raises(WrongStatus, match=WHO):
        commands.pause(stopped_with_tool_running, at=NOW)


def test_an_answer_is_shaped_and_carries_who_and_what_they_said() -> None:
    """What is stored is the one form that answers of this kind have."""
    (event,) = answer(IN["waiting"], value=False)

    assert event == replace(answered(NO, comment="so be it"), at=NOW)


def test_an_approval_is_bound_to_the_tool_and_its_arguments() -> None:
    """A digest of what exactly was approved."""
    (event,) = answer(IN["waiting"], YES)

    assert isinstance(event, QuestionAnswered)
    assert event.digest == approval_digest("refund", "sig", {"order": "123"})


def test_an_approval_with_edits_is_bound_to_the_edited_arguments() -> None:
    """They are what was approved."""
    (event,) = answer(IN["waiting"], {"approved": True, "arguments": {"order": "9"}})

    assert isinstance(event, QuestionAnswered)
    assert event.digest == approval_digest("refund", "sig", {"order": "9"})


@pytest.mark.parametrize(
    "question", [ask(kind="approval"), approval(call=None)], ids=["a tool's own", "nobody's call"]
)
def test_a_yes_that_lets_no_call_run_has_no_digest(question: Question) -> None:
    """There is nothing that it could be bound to."""
    state = state_of(*RUNNING, asked(question))

    (event,) = answer(state, YES)

    assert isinstance(event, QuestionAnswered)
    assert event.digest == ""


def test_of_several_answers_all_are_taken_or_none() -> None:
    """One of the wrong shape leaves every question open."""
    state = state_of(*RUNNING, asked(ask("q1", resume_to="ask")), asked(ask("q2", resume_to="ask")))

    both = commands.answer(state, {Q1: "a", Q2: "b"}, at=NOW, check_arguments=same)

    assert call_in(fold(both, onto=state)).status == "ready"
    with pytest.raises(WrongShape):
        commands.answer(state, {Q1: "a", Q2: 7}, at=NOW, check_arguments=same)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (answered(YES, by="bob"), "question q1 was answered by bob at 2026-10-03 04:00 UTC"),
        (expired(), "question q1 was expired at 2026-10-03 04:00 UTC"),
        (withdrawn(by="ada"), "question q1 was withdrawn by ada at 2026-10-03 04:00 UTC"),
    ],
    ids=["answered", "expired", "withdrawn"],
)
def test_a_late_answer_is_told_who_was_first(end: Event, words: str) -> None:
    """By whom and when; it changes nothing."""
    state = state_of(*CALL_IN["gated"], end)

    with pytest.raises(AlreadySettled, match=f"^{words}$"):
        answer(state, YES)
    with pytest.raises(AlreadySettled, match=f"^{words}$"):
        commands.withdraw(state, Q1, at=NOW)


def test_an_answer_to_a_question_that_was_never_asked_is_refused() -> None:
    """By its name."""
    with pytest.raises(UnknownQuestion, match="'q2'"):
        answer(IN["waiting"], YES, Q2)
    with pytest.raises(UnknownQuestion, match="'q2'"):
        commands.withdraw(IN["waiting"], Q2, at=NOW)


@pytest.mark.parametrize("status", ["running", "waiting", "paused", "failed"])
def test_answers_are_taken_in_every_status_that_has_open_questions(status: str) -> None:
    """Also while paused or failed: people need not wait for the machine."""
    posted = fold(log(*RUNNING, asked(ask(wait=False)), returned()))
    then = {"paused": [paused()], "failed": [broke()], "waiting": [replied("hm")]}
    state = fold(then.get(status, []), onto=posted)

    events = answer(state, "blue")

    assert not fold(events, onto=state).open_questions


def test_a_thread_that_has_ended_takes_no_answers() -> None:
    """A forged log could have left a question open there; it still says who ended it."""
    state = state_of(*CALL_IN["gated"], cancelled("otto"))

    with pytest.raises(WrongStatus, match=f"{WHO}and takes no more answers"):
        answer(state, YES)


def test_withdrawing_a_question_takes_its_siblings_with_it() -> None:
    """The tool that asked them stands still for all of them, and ends."""
    state = state_of(
        *RUNNING,
        asked(ask("q1", resume_to="ask")),
        asked(ask("q2", resume_to="ask")),
        asked(ask("q3", wait=False)),
    )

    events = commands.withdraw(state, Q1, at=NOW, reason="moot", by="ada")

    assert events == [
        replace(withdrawn("q1", "moot", "ada"), at=NOW),
        replace(withdrawn("q2", "moot", "ada"), at=NOW),
    ]
    assert call_in(fold(events, onto=state)).status == "settled"


def test_cancelling_withdraws_open_questions_first() -> None:
    """Nobody is left with a question that no longer matters, and every call has its result."""
    events = commands.cancel(IN["waiting"], at=NOW, by="ada", reason="wrong")

    assert events == [
        replace(withdrawn("q1", "the thread was cancelled", "ada"), at=NOW),
        replace(cancelled("ada", "wrong"), at=NOW),
    ]
    assert fold(events, onto=IN["waiting"]).open_calls == {}


def test_closing_is_refused_while_people_are_being_asked() -> None:
    """Unless told to withdraw the questions; the refusal names them."""
    with pytest.raises(OpenQuestions, match=r"still being asked \(q1\)"):
        commands.close(IN["waiting"], at=NOW, withdraw_open=False)

    events = commands.close(IN["waiting"], at=NOW, withdraw_open=True, by="ada")

    assert events == [
        replace(withdrawn("q1", "the thread was closed", "ada"), at=NOW),
        replace(finished(), at=NOW),
    ]


def test_closing_needs_no_withdrawing_where_nobody_is_asked() -> None:
    """Then there is only the end."""
    events = commands.close(IN["running"], at=NOW, withdraw_open=False)

    assert events == [replace(finished(), at=NOW)]


def test_closing_is_refused_while_a_tool_runs() -> None:
    """Nobody would learn how it ended."""
    with pytest.raises(WrongStatus, match="was started and has no result"):
        commands.close(state_of(*RUNNING), at=NOW, withdraw_open=True)


def test_closing_settles_calls_that_were_only_chosen() -> None:
    """They will not run, and have a result that says so."""
    state = state_of(*CHOSEN)

    after = fold(commands.close(state, at=NOW, withdraw_open=False), onto=state)

    assert (after.lifecycle, call_in(after).status) == ("finished", "settled")


@pytest.mark.parametrize("purpose", get_args(Purpose))
@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("schema", [None, {"type": "nonsense"}, {"$ref": "http://127.0.0.1:9/x"}])
def test_a_forged_question_is_answered_or_refused_and_never_worse(
    purpose: Purpose, kind: Kind, schema: JsonObject | None
) -> None:
    """A hostile checkpoint may hold a question that no code of ours asks; errors have names."""
    values = ["a", True, YES, NO, {"approved": True, "arguments": {}}, {}, ["a"], None]
    options = [Option("a"), Option("b")]
    for call in (None, CALL):
        question = replace(
            ask(kind=kind, call=call, schema=schema, options=options),
            purpose=purpose,
            tool="refund",
        )
        for before in (CHOSEN, RUNNING):
            with suppress(ImpossibleEvent):
                state = state_of(*before, asked(question))
                for value in values:
                    with suppress(Refused):
                        fold(answer(state, value), onto=state)
