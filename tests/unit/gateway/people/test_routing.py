"""Routing: who hears of an event, and where, as tables."""

from __future__ import annotations

import pytest

from agent_core import Waiting
from agent_core.thread.events import (
    Event,
    MessageReceived,
    Millis,
    QuestionAnswered,
    QuestionAsked,
    QuestionEscalated,
    QuestionReminded,
    ThreadFailed,
    ThreadFinished,
    ThreadId,
)
from agent_core.thread.questions import Question, QuestionId
from agent_core.thread.state import QuestionState, ThreadState
from gateway.people.directory import Directory
from gateway.people.routing import ORIGIN_ONLY, Routing
from gateway.settings.config import Person

NOW = Millis(5)
PEOPLE = (
    Person(name="otto", slack=("T1:U2",), email=("otto@x.org",), roles=("lead",)),
    Person(name="lisa", slack=("T2:U3",), email=("lisa@x.org",), prefer=("email",)),
    Person(name="max", email=("max@x.org",), roles=("lead",)),
    Person(name="ann", slack=("T1:U1",), email=("ann@x.org",), ask="all"),
    Person(name="ivo", slack=("T2:U8",), email=("ivo@x.org",)),
)
HOUSE = Routing(Directory(PEOPLE), {"web", "webhook", "slack", "email", "callback", "event"})
ANN, HOOK, CHANNEL, DIRECT = "slack:T1:U1", "webhook:ci", "slack:T1:C1:1.5", "slack:T1:D1:1.5"
MAIL = "email:ann@x.org:0123456789abcdef"
HOLD = "callback:https://example.com/hear"


def question(*to: str, kind: str = "text", key: str = "") -> Question:
    """A question to these."""
    return Question(id=QuestionId("q"), kind=kind, prompt="?", to=to, key=key)  # type: ignore[arg-type]


def thread(
    origin: str,
    *,
    requester: str = ANN,
    asked: Question | None = None,
    went_on_to: tuple[str, ...] = (),
    audience: tuple[str, ...] = (),
    watchers: tuple[str, ...] = (),
) -> ThreadState:
    """A thread in which something was asked."""
    one = asked or question()
    current = QuestionState(
        question=one, asked_at=NOW, timer_from=NOW, nudged_at=NOW, escalated_to=went_on_to
    )
    return ThreadState(
        id=ThreadId("th"),
        origin=origin,
        requester=requester,
        audience=audience,
        watchers=watchers,
        questions={one.id: current},
    )


def others(event: Event, state: ThreadState, house: Routing = HOUSE) -> list[str]:
    """Give who hears it besides the place where the thread began, which always does."""
    first, *rest = house.hearers(event, state, NOW)
    assert first == state.origin
    return rest


def asked(origin: str, *to: str, requester: str = ANN) -> list[str]:
    """Give where a question goes besides its origin."""
    one = question(*to)
    return others(QuestionAsked(at=NOW, question=one), thread(origin, requester=requester))


@pytest.mark.parametrize(
    ("origin", "to", "also"),
    [
        # Those who are there
        (CHANNEL, (), []),
        (CHANNEL, ("otto",), []),
        (CHANNEL, ("slack:T1:U7",), []),
        (CHANNEL, ("slack:T1:C1",), []),
        (DIRECT, (), []),
        (DIRECT, ("ann",), []),
        (MAIL, ("ann",), []),
        (MAIL, ("email:ann@x.org",), []),
        ("slack:T1:U2", ("otto",), []),
        # Those who are not
        (CHANNEL, ("lisa",), ["email:lisa@x.org"]),
        (CHANNEL, ("max",), ["email:max@x.org"]),
        (CHANNEL, ("lead",), ["email:max@x.org"]),
        (CHANNEL, ("ivo",), ["slack:T2:U8"]),
        (CHANNEL, ("slack:T1:C2",), ["slack:T1:C2"]),
        (DIRECT, ("otto",), ["slack:T1:U2"]),
        (DIRECT, ("lead",), ["slack:T1:U2", "email:max@x.org"]),
        (DIRECT, ("slack:T1:U7",), ["slack:T1:U7"]),
        (MAIL, ("otto", "lisa"), ["slack:T1:U2", "email:lisa@x.org"]),
        ("slack:T1:U1", ("otto",), ["slack:T1:U2"]),
        # Nobody is there
        (HOOK, (), ["slack:T1:U1", "email:ann@x.org"]),
        (HOOK, ("otto", "ann"), ["slack:T1:U2", "slack:T1:U1", "email:ann@x.org"]),
        ("web:th", ("lead",), ["slack:T1:U2", "email:max@x.org"]),
        ("web:th", ("slack:T1:C1",), ["slack:T1:C1"]),
        # Names that lead nowhere
        ("web:th", ("legal", "web:th", "webhook:ci", "fax:1"), []),
        # A place of another kind shows its questions to whoever is there
        ("fax:1", ("otto",), []),
    ],
)
def test_question_goes_to_those_who_can_not_see_it_where_the_thread_is(
    origin: str, to: tuple[str, ...], also: list[str]
) -> None:
    """By the way that each prefers; by all of them at once, if they want it so."""
    assert asked(origin, *to) == also


def test_question_to_nobody_by_name_goes_to_the_threads_own_audience() -> None:
    """As the source of the thread has it; else to who began it."""
    event = QuestionAsked(at=NOW, question=question())

    assert others(event, thread(HOOK, audience=("otto",))) == ["slack:T1:U2"]
    assert others(event, thread(HOOK, requester="otto")) == ["slack:T1:U2"]
    assert others(event, thread(HOOK, requester="")) == []


def test_channel_that_is_off_is_no_way() -> None:
    """The next one is."""
    mail_only = Routing(Directory(PEOPLE), {"web", "email"})
    event = QuestionAsked(at=NOW, question=question("otto", "ivo", "slack:T1:U7"))

    assert others(event, thread("web:th"), mail_only) == ["email:otto@x.org", "email:ivo@x.org"]


WATCHFUL = Person(name="grace", email=("grace@x.org",), roles=("operator",))
LOST = Person(name="lost", slack=("T2:U9",))


@pytest.mark.parametrize(
    ("origin", "to", "told"),
    [
        ("web:th", ("lost",), ["email:grace@x.org"]),
        (CHANNEL, ("lost",), ["email:grace@x.org"]),
        (HOOK, (), ["email:grace@x.org"]),
        ("web:th", ("lost", "lisa"), []),
        (CHANNEL, ("otto",), []),
        ("web:th", (), []),
    ],
)
def test_operator_hears_of_a_question_that_has_no_way_to_anybody(
    origin: str, to: tuple[str, ...], told: list[str]
) -> None:
    """Their channels are off from the start; who launched it over the API reads it there."""
    mail_only = Routing(Directory((*PEOPLE, LOST, WATCHFUL)), {"email"})
    state = thread(origin, requester="webhook:ci" if origin == HOOK else "desk")
    event = QuestionAsked(at=NOW, question=question(*to))

    assert mail_only.lookouts(event, state) == told


def test_operator_hears_when_it_goes_on_to_nobody() -> None:
    """Those who were asked first did not answer."""
    mail_only = Routing(Directory((*PEOPLE, LOST, WATCHFUL)), {"email"})
    event = QuestionEscalated(at=NOW, question=QuestionId("q"), to=("lost",))

    assert mail_only.lookouts(event, thread("web:th", asked=question("lisa"))) == [
        "email:grace@x.org"
    ]


def test_watchers_hear_all_that_the_origin_hears() -> None:
    """Each once, before the people."""
    state = thread(DIRECT, watchers=(HOLD, HOLD, "callback:https://b.org"))
    both = [HOLD, "callback:https://b.org"]

    assert others(ThreadFinished(at=NOW), state) == both
    assert others(QuestionReminded(at=NOW, question=QuestionId("q")), state) == both
    assert others(ThreadFinished(at=NOW), state, ORIGIN_ONLY) == both


@pytest.mark.parametrize(("key", "address"), [("", "event:q"), ("paid/7", "event:paid/7")])
def test_event_is_awaited_by_its_key_and_asked_of_nobody(key: str, address: str) -> None:
    """Whom a thread would ask has no part in it."""
    one = question("lead", kind="event", key=key)
    state = thread("web:th", asked=one)

    assert others(QuestionAsked(at=NOW, question=one), state) == [address]
    assert others(QuestionAnswered(at=NOW, question=one.id, value={}), state) == [address]
    assert others(QuestionAsked(at=NOW, question=one), state, Routing()) == []


def test_escalation_goes_to_those_who_are_new() -> None:
    """Whoever was asked before has it; a reminder and the end go to all."""
    state = thread("web:th", asked=question("otto"), went_on_to=("max",))
    key = QuestionId("q")

    assert others(QuestionEscalated(at=NOW, question=key, to=("max",)), state) == [
        "email:max@x.org"
    ]
    for event in (
        QuestionReminded(at=NOW, question=key),
        QuestionAnswered(at=NOW, question=key, value="yes"),
    ):
        assert others(event, state) == ["slack:T1:U2", "email:max@x.org"]


@pytest.mark.parametrize("event", [ThreadFinished(at=NOW), ThreadFailed(at=NOW, error="no")])
@pytest.mark.parametrize(
    ("origin", "requester", "also"),
    [
        (HOOK, "otto", ["slack:T1:U2"]),
        (HOOK, "otto@x.org", ["slack:T1:U2"]),
        (HOOK, "github:otto", []),
        (HOOK, "slack:T1:U7", []),
        ("web:th", "otto", []),
        (CHANNEL, "lisa", []),
    ],
)
def test_end_goes_to_the_requester_where_nobody_looks(
    event: Event, origin: str, requester: str, also: list[str]
) -> None:
    """After a pipeline's event, to somebody we know; the API and channels have who looks."""
    assert others(event, thread(origin, requester=requester)) == also


def test_question_that_is_not_there_concerns_nobody_else() -> None:
    """A log from elsewhere can't make the gateway stumble."""
    event = QuestionReminded(at=NOW, question=QuestionId("unknown"))

    assert others(event, thread("web:th", asked=question("otto"))) == []


NIGHT = Millis(1_800_000_000_000 - 1_800_000_000_000 % 86_400_000)
"""Midnight in Greenwich, on some day."""
MINUTE, NINE = 60_000, 9 * 3_600_000
SLEEPER = Person(name="zoe", email=("zoe@x.org",), hours="Mon-Sun 09:00-17:00")
AT_NIGHT = Routing(Directory([SLEEPER]), {"web", "email", "slack"})
ZOE = "email:zoe@x.org"


def at_night(
    event: Event, urgency: str = "normal", *, wrote: int | None = None, asked_at: int = NIGHT
) -> dict[str, Millis]:
    """Tell a sleeper of an event at midnight; they `wrote` so many minutes ago."""
    one = Question(id=QuestionId("q"), kind="text", prompt="?", to=("zoe",), urgency=urgency)  # type: ignore[arg-type]
    state = thread("web:th", asked=one)
    current = QuestionState(
        question=one, asked_at=Millis(asked_at), timer_from=NIGHT, nudged_at=NIGHT
    )
    state.questions = {one.id: current}
    if wrote is not None:
        earlier = Millis(NIGHT - wrote * MINUTE)
        state.entries = [
            (2, MessageReceived(at=earlier, text="hi", sender="Email:Zoe@x.org")),
            (3, MessageReceived(at=NIGHT, text="well", sender="somebody else")),
        ]
    if isinstance(event, QuestionAsked):
        event = QuestionAsked(at=NIGHT, question=one)
    return AT_NIGHT.hearers(event, state, NIGHT)


ASKED = QuestionAsked(at=NOW, question=question())
REMINDED = QuestionReminded(at=NOW, question=QuestionId("q"))
SETTLED = QuestionAnswered(at=NOW, question=QuestionId("q"), value="yes")
MORNING = Millis(NIGHT + NINE)


def test_question_waits_until_somebodys_hours_begin() -> None:
    """Elsewhere, that is: the conversation's own place hears it at once."""
    assert at_night(ASKED) == {"web:th": NIGHT, ZOE: MORNING}
    assert at_night(ASKED, "low")[ZOE] == MORNING


def test_urgent_question_waits_for_nobody() -> None:
    """Somebody is woken."""
    assert at_night(ASKED, "high")[ZOE] == NIGHT


def test_who_wrote_a_moment_ago_is_there() -> None:
    """And gets the question at once; who wrote in the evening does not."""
    assert at_night(ASKED, wrote=14)[ZOE] == NIGHT
    assert at_night(ASKED, wrote=16)[ZOE] == MORNING


def test_reminder_waits_too_and_is_none_for_who_does_not_know_yet() -> None:
    """Asked in the afternoon: reminded in the morning. Asked at night: the question comes then."""
    afternoon = NIGHT - 9 * 3_600_000

    assert at_night(REMINDED, asked_at=afternoon)[ZOE] == MORNING
    assert ZOE not in at_night(REMINDED, asked_at=NIGHT - MINUTE)


def test_who_is_asked_next_is_not_reminded_before_they_know() -> None:
    """It went on to them at night: in the morning they hear of it, once."""
    waiting = Waiting(expires_after=60, on_expiry="escalate", escalate_to=("zoe",))
    one = Question(id=QuestionId("q"), kind="text", prompt="?", to=("boss",), waiting=waiting)
    state = thread("web:th", asked=one)
    afternoon = Millis(NIGHT - 9 * 3_600_000)
    went_on = QuestionState(
        question=one,
        asked_at=afternoon,
        timer_from=Millis(NIGHT - MINUTE),
        nudged_at=afternoon,
        escalations=1,
        escalated_to=("zoe",),
    )
    state.questions = {one.id: went_on}

    assert AT_NIGHT.hearers(REMINDED, state, NIGHT) == {"web:th": NIGHT}


def test_how_it_ended_never_waits() -> None:
    """It stands behind the question in the outbox anyway."""
    assert at_night(SETTLED)[ZOE] == NIGHT


@pytest.mark.parametrize(
    ("origin", "to", "doubtful"),
    [
        (CHANNEL, ("otto",), ["slack:T1:U2"]),
        (CHANNEL, ("lead", "slack:T1:U7"), ["slack:T1:U2", "slack:T1:U7"]),
        (CHANNEL, ("ann", "lisa", "slack:T1:C1"), []),
        (CHANNEL, (), []),
        (DIRECT, ("otto",), []),
        (MAIL, ("otto",), []),
        ("web:th", ("otto",), []),
    ],
)
def test_only_slack_can_tell_who_is_in_a_channel(
    origin: str, to: tuple[str, ...], doubtful: list[str]
) -> None:
    """It is asked about those who are of that workspace, and have had no part so far."""
    state = thread(origin)
    state.participants = (ANN,)

    assert HOUSE.doubtful(QuestionAsked(at=NOW, question=question(*to)), state) == doubtful
    escalated = QuestionEscalated(at=NOW, question=QuestionId("q"), to=to)
    assert HOUSE.doubtful(escalated, state) == (doubtful if to else [])
    reminded = thread(origin, asked=question(*to))
    reminded.participants = (ANN,)
    assert HOUSE.doubtful(QuestionReminded(at=NOW, question=QuestionId("q")), reminded) == doubtful
    assert HOUSE.doubtful(ThreadFinished(at=NOW), state) == []
