"""Timers: they follow from the log, fire once, and never pile up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_core.thread.events import Event, Millis
from agent_core.thread.fold import fold
from agent_core.thread.questions import Escalation, OnExpiry, Question, Waiting
from agent_core.thread.state import ThreadState
from agent_core.thread.timers import due, next_due
from tests.unit.agent_core.thread.logs import (
    CHOSEN,
    RUNNING,
    SPOKEN,
    START,
    answered,
    approval,
    ask,
    asked,
    broke,
    call_in,
    chose,
    escalated,
    expired,
    may_go_on,
    paused,
    reminded,
    replied,
    returned,
    started,
    state_of,
    withdrawn,
)
from tests.unit.agent_core.thread.walks import histories

ASKED = START + 3000
"""When the first question of a log that begins with a choice is asked."""


def gated(waiting: Waiting) -> ThreadState:
    """A call that waits for its approval."""
    return state_of(*CHOSEN, asked(approval(waiting=waiting)))


def after(seconds: float) -> Millis:
    """So long after the question was asked."""
    return Millis(ASKED + round(seconds * 1000))


def dated(event: Event, seconds: float) -> Event:
    """The event, so long after the question was asked."""
    return replace(event, at=after(seconds))


def test_without_timers_a_question_waits_for_ever() -> None:
    """And costs nothing."""
    state = gated(Waiting())

    assert next_due(state) is None
    assert due(state, after(10**9)) == []


def test_a_reminder_comes_when_it_is_due_and_not_before() -> None:
    """To the millisecond."""
    state = gated(Waiting(remind_after=60))

    assert next_due(state) == after(60)
    assert due(state, after(59.999)) == []
    assert due(state, after(60)) == [dated(reminded(), 60)]


def test_a_reminder_repeats_from_the_last_one() -> None:
    """Every so often, as long as nobody answers."""
    state = fold(
        due(gated(Waiting(remind_after=60)), after(65)), onto=gated(Waiting(remind_after=60))
    )

    assert next_due(state) == after(125)


def test_after_a_long_outage_people_are_reminded_once() -> None:
    """Not once for each time that was missed."""
    state = gated(Waiting(remind_after=60))
    month = 30 * 86_400

    news = due(state, after(month))

    assert news == [dated(reminded(), month)]
    assert due(fold(news, onto=state), after(month)) == []


@pytest.mark.parametrize("on_expiry", ["tell_agent", "deny"])
def test_a_question_expires(on_expiry: OnExpiry) -> None:
    """Once; then nothing of it is due any more."""
    state = gated(Waiting(remind_after=30, expires_after=60, on_expiry=on_expiry))

    news = due(state, after(60))

    assert news == [dated(expired(), 60)]
    over = fold(news, onto=state)
    assert next_due(over) is None
    assert call_in(over).result is not None


def test_a_question_that_waits_on_expiry_never_expires() -> None:
    """But people are still reminded."""
    waiting = Waiting(expires_after=60, on_expiry="wait")

    assert next_due(gated(waiting)) is None
    assert due(gated(waiting), after(10**6)) == []
    assert next_due(gated(replace(waiting, remind_after=90))) == after(90)


def test_a_question_escalates_along_its_chain_and_then_expires() -> None:
    """Each gets as long as the first had."""
    state = gated(Waiting(expires_after=60, on_expiry="escalate", escalate_to=("boss", "ceo")))
    told: list[Event] = []

    for moment in (60, 120, 180):
        assert due(state, after(moment - 1)) == []
        news = due(state, after(moment))
        told += news
        state = fold(news, onto=state)

    assert told == [
        dated(escalated("boss"), 60),
        dated(escalated("ceo"), 120),
        dated(expired(), 180),
    ]


def test_a_question_with_nobody_to_escalate_to_expires() -> None:
    """There is no one left to ask."""
    state = gated(Waiting(expires_after=60, on_expiry="escalate"))

    assert due(state, after(60)) == [dated(expired(), 60)]


def test_an_escalation_begins_the_wait_for_reminders_anew() -> None:
    """Nobody is reminded of what they have just been asked."""
    waiting = Waiting(
        remind_after=50, expires_after=60, on_expiry="escalate", escalate_to=("boss",)
    )
    state = state_of(*CHOSEN, asked(approval(waiting=waiting)), 60, escalated("boss"))

    assert next_due(state) == after(110)


def test_questions_of_one_tool_expire_together() -> None:
    """The tool ends with the first; nobody is left with a question that has no use."""
    short = Waiting(expires_after=60)
    state = state_of(
        *RUNNING,
        asked(ask("q1", resume_to="ask", waiting=Waiting(expires_after=600))),
        asked(ask("q2", resume_to="ask", waiting=short)),
        asked(ask("q3", resume_to="ask", waiting=short)),
        asked(ask("q4", wait=False)),
    )

    news = due(state, after(100))

    reason = "another question of it expired"
    assert news == [
        dated(expired("q2"), 100),
        dated(withdrawn("q1", reason), 100),
        dated(withdrawn("q3", reason), 100),
    ]
    over = fold(news, onto=state)
    assert (list(over.open_questions), list(over.open_calls)) == (["q4"], [])


def test_a_posted_question_expires_alone() -> None:
    """Nothing stood still for it, so its end ends nothing."""
    state = state_of(
        *RUNNING, asked(ask("q1", wait=False, waiting=Waiting(expires_after=5))), asked(ask("q2"))
    )

    assert due(state, after(100)) == [dated(expired("q1"), 100)]


def test_a_question_of_the_thread_expires_alone() -> None:
    """It belongs to no call."""
    state = state_of(
        *SPOKEN, asked(may_go_on("q1", Waiting(expires_after=5))), asked(may_go_on("q2"))
    )

    assert due(state, after(100)) == [dated(expired("q1"), 100)]


def test_questions_of_different_calls_are_due_each_by_itself() -> None:
    """In the order in which they were asked."""
    state = state_of(
        *SPOKEN,
        replied("", chose("a"), chose("b"), chose("c")),
        asked(approval("q1", "3.0", waiting=Waiting(expires_after=60))),
        asked(approval("q2", "3.1", waiting=Waiting(remind_after=30))),
        asked(approval("q3", "3.2", waiting=Waiting(expires_after=600))),
    )

    assert next_due(state) == after(31)
    assert due(state, after(100)) == [dated(expired("q1"), 100), dated(reminded("q2"), 100)]


def test_an_answered_question_has_no_timers() -> None:
    """Whatever they were set to."""
    state = fold([answered({"approved": True})], onto=gated(Waiting(remind_after=1)))

    assert next_due(state) is None


@pytest.mark.parametrize("stop", [paused(), broke()], ids=["paused", "failed"])
def test_timers_go_on_while_a_thread_is_stopped(stop: Event) -> None:
    """People are told the truth about the time that they have."""
    waiting = Waiting(remind_after=30, expires_after=60)
    state = state_of(*RUNNING, asked(ask(wait=False, waiting=waiting)), returned(), stop)

    assert not fold(due(state, after(100)), onto=state).open_questions


_seconds = st.none() | st.integers(1, 50)
_waitings = st.builds(
    Waiting,
    remind_after=_seconds,
    expires_after=_seconds,
    on_expiry=st.sampled_from(["deny", "escalate", "tell_agent", "wait"]),
    escalate_to=st.lists(st.sampled_from(["boss", "ceo"]), max_size=3).map(tuple),
)


def _question(number: int, waiting: Waiting, *, call: int) -> Question:
    if call == 0:
        return may_go_on(f"q{number}", waiting)
    return ask(f"q{number}", f"3.{call}", resume_to="ask", waiting=waiting, wait=call != 2)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 2), _waitings), min_size=1, max_size=5),
    st.lists(st.integers(0, 120), max_size=8),
)
def test_after_what_was_due_nothing_is_due_until_later(
    asks: list[tuple[int, Waiting]], gaps: list[int]
) -> None:
    """`next_due` and `due` agree: a timer fires exactly when it was said to, and once."""
    state = state_of(
        *SPOKEN,
        replied("", chose("a"), chose("b"), chose("c")),
        started("3.1"),
        started("3.2"),
        *(asked(_question(n, waiting, call=call)) for n, (call, waiting) in enumerate(asks)),
    )
    now = state.updated_at
    for gap in gaps:
        now = Millis(now + gap * 1000)
        moment, news = next_due(state), due(state, now)

        assert bool(news) == (moment is not None and moment <= now)
        state = fold(news, onto=state)
        later = next_due(state)
        assert later is None or later > now


@settings(max_examples=30)
@given(histories(), st.integers(0, 10**6))
def test_what_is_due_in_any_history_may_happen_and_settles_it(
    events: list[Event], seconds: int
) -> None:
    """Timers never break a thread, and never fire twice at one moment."""
    state = fold(events)
    now = Millis(state.updated_at + seconds * 1000)

    over = fold(due(state, now), onto=state)

    assert due(over, now) == []


def test_reminders_end_after_so_many() -> None:
    """And the question goes on waiting."""
    state = gated(Waiting(remind_after=60, remind_times=2))
    for seconds in (60, 120):
        state = fold(due(state, after(seconds)), onto=state)

    assert next_due(state) is None
    assert due(state, after(10**6)) == []


def test_each_wait_for_a_reminder_may_be_longer() -> None:
    """One minute, then three, then nine."""
    state = gated(Waiting(remind_after=60, remind_growth=3))
    moments = []
    for _ in range(3):
        moment = next_due(state)
        assert moment is not None
        moments.append(moment)
        state = fold(due(state, moment), onto=state)

    assert moments == [after(60), after(240), after(780)]


def test_whoever_comes_later_is_reminded_from_the_start() -> None:
    """New people have not been reminded yet."""
    rules = Waiting(
        remind_after=60,
        remind_times=1,
        remind_growth=2,
        expires_after=100,
        on_expiry="escalate",
        escalate_to=("boss",),
    )
    state = gated(rules)
    for seconds in (60, 100):
        state = fold(due(state, after(seconds)), onto=state)

    assert next_due(state) == after(160)


def test_each_step_of_a_chain_has_its_own_time() -> None:
    """Then it expires: nobody has said no."""
    rules = Waiting(
        expires_after=100,
        on_expiry="escalate",
        escalate_to=(Escalation(("lead", "cto"), 20), "boss", Escalation(("board",))),
    )
    state = gated(rules)
    seen: list[tuple[Millis | None, list[Event]]] = []
    while (moment := next_due(state)) is not None:
        events: list[Event] = [*due(state, moment)]
        seen.append((moment, events))
        state = fold(events, onto=state)

    assert seen == [
        (after(100), [dated(escalated("lead", "cto"), 100)]),
        (after(120), [dated(escalated("boss"), 120)]),
        (after(220), [dated(escalated("board"), 220)]),
        (after(320), [dated(expired(), 320)]),
    ]


def test_an_escalation_that_somebody_else_decided_still_ends() -> None:
    """A log may hold more of them than the chain has steps."""
    rules = Waiting(expires_after=100, on_expiry="escalate", escalate_to=("boss",))
    state = state_of(*CHOSEN, asked(approval(waiting=rules)), escalated("boss"), escalated("board"))
    moment = next_due(state)

    assert moment is not None
    assert [type(one).__name__ for one in due(state, moment)] == ["QuestionExpired"]
