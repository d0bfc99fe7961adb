"""A question: what its end means for the call that waits for it, or for the thread."""

from __future__ import annotations

import pytest

from agent_core.errors import DefinitionError, ImpossibleEvent
from agent_core.thread.events import Event, Millis
from agent_core.thread.fold import fold
from agent_core.thread.questions import Escalation, ResumeTo, Waiting, waiting_rules
from agent_core.thread.state import CallResult, ThreadState
from tests.unit.agent_core.thread.logs import (
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
    call_in,
    chose,
    compacted,
    doubt,
    escalated,
    expired,
    failed,
    limited,
    may_go_on,
    question_in,
    reminded,
    replied,
    returned,
    started,
    state_of,
    what_now,
    withdrawn,
)

TWO = (*RUNNING, asked(ask("q1", resume_to="ask")), asked(ask("q2", resume_to="ask")))


def last_shown(state: ThreadState) -> str:
    """Name the last thing that the model gets to see."""
    return type(state.entries[-1][1]).__name__


def test_an_asked_question_is_open_and_its_wait_begins() -> None:
    """Timers count from the asking."""
    current = question_in(state_of(*CALL_IN["gated"]))

    asked_at = Millis(START + 3000)
    assert (current.status, current.asked_at) == ("open", asked_at)
    assert (current.timer_from, current.nudged_at) == (asked_at, asked_at)


def test_a_reminder_begins_the_wait_for_the_next_one() -> None:
    """But not the wait for the expiry."""
    current = question_in(state_of(*CALL_IN["gated"], 60, reminded()))

    assert current.nudged_at - current.timer_from == 60_000


def test_an_escalation_begins_a_new_wait_with_more_people() -> None:
    """Those who were asked first may still answer."""
    current = question_in(state_of(*CALL_IN["gated"], 60, escalated("boss"), 60, escalated("ceo")))

    assert current.escalated_to == ("boss", "ceo")
    assert current.timer_from == current.nudged_at == current.asked_at + 120_000


def test_an_answer_is_kept_with_who_gave_it_and_when() -> None:
    """So that the next one can be told."""
    current = question_in(state_of(*CALL_IN["gated"], answered(NO, comment="too much")))

    assert (current.value, current.settled_by, current.comment) == (NO, "otto", "too much")
    assert current.settled_at == START + 4000


def test_an_approval_lets_its_call_run_with_the_arguments_that_it_had() -> None:
    """What was approved is bound by its digest."""
    call = call_in(state_of(*CALL_IN["gated"], answered(YES, digest="d1", comment="fine")))

    assert (call.status, call.approved_digest, call.edited) == ("approved", "d1", False)
    assert (call.arguments, call.approval_comment) == ({"order": "123"}, "fine")


def test_approved_with_edits_the_edited_arguments_are_what_runs() -> None:
    """The call carries them from then on."""
    edited = {"approved": True, "arguments": {"order": "9"}}
    call = call_in(state_of(*CALL_IN["gated"], answered(edited, digest="d2")))

    assert (call.status, call.approved_digest, call.edited) == ("approved", "d2", True)
    assert call.arguments == {"order": "9"}


@pytest.mark.parametrize("value", [NO, {"approved": 1}, "yes", None, True])
def test_whatever_is_not_an_approval_denies(value: object) -> None:
    """A forged log can't approve by a value that only looks like a yes."""
    result = call_in(state_of(*CALL_IN["gated"], answered(value, comment="no"))).result

    assert result == CallResult(outcome="denied", by="otto", comment="no")


def test_asking_again_for_approval_forgets_the_earlier_one() -> None:
    """The tool has changed, or the thread was forked: the old yes says nothing."""
    call = call_in(state_of(*CALL_IN["gated"], answered(YES, digest="d1"), asked(approval("q2"))))

    assert (call.status, call.approved_digest) == ("gated", "")


def test_an_expired_question_settles_its_call_without_a_denial() -> None:
    """Expired is not denied; the operator's wish is kept beside it."""
    gated = (*CHOSEN, asked(approval(waiting=Waiting(expires_after=5, on_expiry="deny"))))

    assert call_in(state_of(*gated, expired())).result == CallResult(
        outcome="expired", reason="deny"
    )


def test_a_withdrawn_question_settles_its_call() -> None:
    """The model is told who took it back, and why."""
    result = call_in(state_of(*CALL_IN["gated"], withdrawn(reason="moot", by="ada"))).result

    assert result == CallResult(outcome="withdrawn", value="moot", by="ada")


def test_an_answer_is_the_result_where_the_tool_said_next() -> None:
    """The tool itself doesn't run again."""
    state = state_of(*RUNNING, asked(ask(resume_to="next")), answered("blue", comment="or red"))

    assert call_in(state).result == CallResult(
        outcome="answered", value="blue", by="otto", comment="or red"
    )


def test_the_tool_runs_again_where_it_said_self() -> None:
    """It is told which question let it go on, and how often that has happened."""
    call = call_in(state_of(*CALL_IN["ready"]))

    assert (call.status, call.resumed_by, call.resumes, call.handler) == ("ready", "q1", 1, "")


def test_the_handler_takes_over_where_the_tool_said_event() -> None:
    """By the name that the agent declared."""
    question = ask(kind="event", resume_to="event", handler="ci")
    call = call_in(state_of(*RUNNING, asked(question), answered({"ok": True})))

    assert (call.status, call.handler) == ("ready", "ci")


def test_a_tool_with_several_asks_goes_on_when_the_last_is_answered() -> None:
    """Answering one leaves the others open."""
    one = state_of(*TWO, answered("a", "q2"))
    both = fold([answered("b", "q1")], onto=one)

    assert (call_in(one).status, list(one.open_questions)) == ("waiting", ["q1"])
    assert (call_in(both).status, list(both.open_questions)) == ("ready", [])
    assert call_in(both).questions == ("q1", "q2")


def test_a_question_that_nobody_waits_for_does_not_hold_the_others_up() -> None:
    """Of several, only those that the tool stands still for count."""
    state = state_of(
        *RUNNING,
        asked(ask("q1", wait=False)),
        asked(ask("q2", resume_to="ask")),
        answered("b", "q2"),
    )

    assert call_in(state).status == "ready"
    assert list(state.open_questions) == ["q1"]


def test_the_first_question_to_end_unanswered_settles_the_call() -> None:
    """The other's end changes nothing any more: one result, whatever happens."""
    one = state_of(*TWO, expired("q1"))
    both = fold([withdrawn("q2", "another expired")], onto=one)

    assert call_in(one).result == call_in(both).result
    assert call_in(both).result == CallResult(outcome="expired", reason="tell_agent")


def test_an_answer_to_a_tool_that_has_ended_comes_too_late() -> None:
    """It is kept in the log, and changes no result."""
    state = state_of(*TWO, expired("q1"), answered("b", "q2"))

    assert call_in(state).result == CallResult(outcome="expired", reason="tell_agent")
    assert question_in(state, "q2").value == "b"


def test_a_late_answer_finds_its_call_summarised_away() -> None:
    """A fold never fails for a call that nobody needs any more."""
    state = state_of(*TWO, expired("q1"), compacted(3), answered("b", "q2"))

    assert state.calls == {}


@pytest.mark.parametrize("first", ["next", "self", "event", "ask"])
@pytest.mark.parametrize("second", ["next", "self", "event"])
def test_a_tool_pauses_for_one_thing_at_a_time(first: ResumeTo, second: ResumeTo) -> None:
    """Only asks, which run the tool again anyway, come together."""
    for one, other in ((first, second), (second, first)):
        before = state_of(*RUNNING, asked(ask("q1", resume_to=one, handler="h")))

        with pytest.raises(ImpossibleEvent, match=r"call 3\.0 waits for something else already"):
            fold([asked(ask("q2", resume_to=other, handler="h"))], onto=before)


def test_a_pause_may_stand_beside_a_posted_question() -> None:
    """Nothing waits for that one."""
    state = state_of(*RUNNING, asked(ask("q1", wait=False)), asked(ask("q2")))

    assert list(state.open_questions) == ["q1", "q2"]


@pytest.mark.parametrize(
    ("value", "status", "outcome"),
    [
        ("it_happened", "settled", "confirmed"),
        ("run_again", "ready", None),
        ("skip", "settled", "failed"),
    ],
)
def test_a_person_says_what_became_of_a_call_that_was_cut_off(
    value: str, status: str, outcome: str | None
) -> None:
    """It happened, it should run again, or nobody knows: never a blind repeat."""
    call = call_in(state_of(*CALL_IN["unsure"], answered(value, comment="looked")))

    assert call.status == status
    assert (call.result and call.result.outcome) == outcome
    assert call.result is None or call.result.comment == "looked"


def test_a_call_that_runs_again_keeps_its_idempotency_key() -> None:
    """So the other side can tell that it is the same."""
    call = call_in(state_of(*CALL_IN["unsure"], answered("run_again")))

    assert call.idempotency_key == "t1/3.0"


@pytest.mark.parametrize("end", [answered("x"), expired(), withdrawn()], ids=repr)
def test_the_end_of_a_question_that_nothing_waited_for_is_news_for_the_model(end: Event) -> None:
    """It comes as a message, because its call had its result long ago."""
    state = state_of(*RUNNING, asked(ask(wait=False)), returned(), replied("posted"), end)

    assert last_shown(state) == type(end).__name__
    assert state.unseen
    assert call_in(state).result == CallResult(outcome="returned", value="done")


def test_a_question_for_nobodys_call_is_remembered_by_none() -> None:
    """A question of the thread's own belongs to no call."""
    state = state_of(*CHOSEN, failed(), asked(what_now()))

    assert call_in(state).questions == ()


def test_a_question_that_a_tool_posts_is_remembered_with_the_call() -> None:
    """Its memory when it runs again."""
    assert call_in(state_of(*RUNNING, asked(ask(wait=False)))).questions == ("q1",)


def test_a_posted_question_may_outlive_its_call() -> None:
    """A copy of it can still be asked when a summary stands for the call."""
    state = state_of(
        *RUNNING,
        asked(ask("q1", wait=False)),
        returned(),
        compacted(3),
        asked(ask("q2", wait=False), replaces="q1"),
    )

    assert (list(state.open_questions), state.calls) == (["q2"], {})


@pytest.mark.parametrize("end", [answered("go_on"), answered("stop"), expired(), withdrawn()])
def test_a_limits_question_is_not_shown_to_the_model(end: Event) -> None:
    """It is about the run, not for the agent."""
    state = state_of(*SPOKEN, replied("hm"), limited("ask"), asked(may_go_on()), end)

    assert last_shown(state) == "ModelReplied"


@pytest.mark.parametrize(
    ("end", "stopping"),
    [
        (answered("go_on"), ""),
        (answered("stop"), "a limit, and a person said to stop"),
        (expired(), "a limit, and nobody said to go on"),
        (withdrawn(), "a limit, and nobody said to go on"),
    ],
    ids=repr,
)
def test_after_a_limit_only_a_person_lets_the_agent_go_on(end: Event, stopping: str) -> None:
    """Silence is no permission."""
    state = state_of(*SPOKEN, replied("hm"), limited("ask"), asked(may_go_on()), end)

    assert state.stopping == stopping


def test_advice_after_failures_is_shown_and_ends_the_row() -> None:
    """The agent may try again, knowing what the person said."""
    state = state_of(*CHOSEN, failed(), asked(what_now()), answered("try the other one"))

    assert (last_shown(state), state.failures_in_a_row) == ("QuestionAnswered", 0)


def test_a_copy_takes_the_place_of_the_question_that_it_replaces() -> None:
    """Also in the tool's memory, which goes by order."""
    state = state_of(*TWO, answered("b", "q2"), asked(ask("q9", resume_to="ask"), replaces="q1"))

    assert call_in(state).questions == ("q9", "q2")
    assert (question_in(state, "q1").status, list(state.open_questions)) == ("withdrawn", ["q9"])


def test_a_new_question_of_the_tool_comes_after_its_earlier_ones() -> None:
    """Each run may ask one more."""
    state = state_of(
        *RUNNING,
        asked(ask("q1", resume_to="ask")),
        answered("a", "q1"),
        started(attempt=2),
        asked(ask("q2", resume_to="ask")),
    )

    assert call_in(state).questions == ("q1", "q2")


def test_calls_wait_each_for_its_own_question() -> None:
    """Answering one leaves the other call where it is."""
    state = state_of(
        *SPOKEN,
        replied("", chose("a"), chose("b")),
        asked(approval("q1", "3.0")),
        started("3.1"),
        asked(doubt("q2", "3.1")),
        answered(YES, "q1"),
    )

    assert (call_in(state, "3.0").status, call_in(state, "3.1").status) == ("approved", "unsure")


@pytest.mark.parametrize("seconds", [0, -1, 1.5, True, "60"])
def test_a_time_that_no_timer_can_follow_is_refused_where_it_is_written(seconds: int) -> None:
    """Zero would fire at once, over and over."""
    with pytest.raises(DefinitionError, match=f"^remind_after is .* seconds, not {seconds!r}$"):
        Waiting(remind_after=seconds)
    with pytest.raises(DefinitionError, match=f"^expires_after is .* seconds, not {seconds!r}$"):
        Waiting(expires_after=seconds)


def test_what_to_do_at_the_end_of_the_wait_is_one_of_four_things() -> None:
    """A slip of the pen must not show itself a month later."""
    with pytest.raises(DefinitionError, match="deny, escalate, tell_agent, wait, not 'denny'"):
        Waiting(on_expiry="denny")  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("names", ["boss", ["boss"]])
def test_those_to_escalate_to_are_a_tuple(names: object) -> None:
    """A single word would be taken letter by letter."""
    with pytest.raises(DefinitionError, match="escalate_to is a tuple of names"):
        Waiting(escalate_to=names)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("times", [0, -1, True, 1.5, "2"])
def test_a_number_of_reminders_is_one_or_more(times: object) -> None:
    """Refused where it is written."""
    with pytest.raises(DefinitionError, match="remind_times"):
        Waiting(remind_times=times)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("growth", [0, 11, 1.5, True])
def test_waits_for_reminders_grow_by_a_sensible_number(growth: object) -> None:
    """Eleven times longer each time is no reminder any more."""
    with pytest.raises(DefinitionError, match="remind_growth"):
        Waiting(remind_growth=growth)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("to", [(), "boss", ["boss"]])
def test_an_escalation_goes_to_somebody(to: object) -> None:
    """To a tuple of names."""
    with pytest.raises(DefinitionError, match="goes to a tuple of names"):
        Escalation(to)  # type: ignore[arg-type]  # that is the point


def test_an_escalation_takes_a_whole_number_of_seconds() -> None:
    """Like every other timer."""
    with pytest.raises(DefinitionError, match="after is a whole number of seconds"):
        Escalation(("boss",), 0)


def test_rules_by_urgency_name_urgencies() -> None:
    """What they leave out waits for ever."""
    assert waiting_rules({"high": Waiting(expires_after=9)}) == {
        "low": Waiting(),
        "normal": Waiting(),
        "high": Waiting(expires_after=9),
    }
    with pytest.raises(DefinitionError, match="urgency"):
        waiting_rules({"urgent": Waiting()})  # type: ignore[dict-item]  # that is the point
