"""Rerouting: what can't be delivered goes to the next address, and then to the operator."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from agent_core.loop.world import World
from agent_core.thread.events import ThreadId
from channels.channel import GiveUp, Sent, TryLater
from channels.notebook import Notebook
from channels.outgoing import Outgoing
from gateway.control.views import Launch
from gateway.settings.config import Person
from gateway.work.opening import Opening
from tests.unit.gateway.front_door import ANN, OTTO, PLACE
from tests.unit.gateway.office import QUICK, YES, Slow, office


async def test_place_that_is_gone_sends_the_question_to_the_person() -> None:
    """The channel is archived: those who are asked get a direct message, the first is recorded."""
    otto = Person(name="otto", slack=("T1:UOTTO",))
    slack = Notebook(GiveUp("is_archived"), {"ts": "2"}, name="slack")
    async with office(slack, people=(otto,)) as here:
        thread, (question,) = await here.door.asked()
        first, second = await here.deliveries(thread, 2)
        await here.door.decides(question, YES)
        await here.deliveries(thread, 4)

    assert (first.status, first.error, second.address) == (
        "failed",
        "is_archived",
        "slack:T1:UOTTO",
    )
    assert [receipt for receipt, _ in slack.settled] == [{"ts": "2"}]


async def test_place_that_is_gone_wakes_nobody_at_night() -> None:
    """At once means: in the hours of who hears it instead."""
    later = (datetime.now(UTC) + timedelta(days=2)).strftime("%a")
    otto = Person(name="otto", slack=("T1:UOTTO",), hours=f"{later} 09:00-10:00")
    slack = Notebook(GiveUp("is_archived"), name="slack")
    async with office(slack, people=(otto, GRACE)) as here:
        thread, _ = await here.door.asked()
        await here.deliveries(thread, 1)
        _, waits = await here.door.store.deliveries(thread)

    assert (waits.address, waits.status) == ("slack:T1:UOTTO", "pending")
    assert waits.due_at is not None
    assert waits.due_at > World().now() + 3_600_000


async def test_next_address_may_be_another_channel() -> None:
    """In the order that the person prefers, one after the other; then nobody is left."""
    otto = Person(name="otto", slack=("T1:UOTTO",), email=("otto@x.org",), prefer=("email",))
    slack = Notebook(GiveUp("gone"), GiveUp("gone"), name="slack")
    email = Notebook(GiveUp("bounced"), name="email")
    async with office(slack, email, people=(otto,)) as here:
        thread, _ = await here.door.asked()
        rows = await here.deliveries(thread, 3)

    assert [row.address for row in rows] == [PLACE, "email:otto@x.org", "slack:T1:UOTTO"]
    assert {row.status for row in rows} == {"failed"}


async def test_result_finds_who_began_it() -> None:
    """Everybody hears the end, also when the channel is gone."""
    slack = Notebook({"ts": "1"}, GiveUp("channel_not_found"), name="slack")
    async with office(slack) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)
        await here.door.decides(question, YES)
        rows = await here.deliveries(thread, 4)

    assert (rows[-1].address, rows[-1].status) == (ANN.id, "sent")
    assert slack.tried[-1].text == "done"


async def test_trying_for_too_long_is_a_failure_too() -> None:
    """After the last try the next address has its turn."""
    otto = Person(name="otto", email=("otto@x.org",))
    slack = Notebook(TryLater("down"), name="slack")
    email = Notebook(name="email")
    options = replace(QUICK, most_attempts=1)
    async with office(slack, email, people=(otto,), options=options) as here:
        thread, _ = await here.door.asked()
        rows = await here.deliveries(thread, 2)

    assert [(row.address, row.status) for row in rows] == [
        (PLACE, "failed"),
        ("email:otto@x.org", "sent"),
    ]


async def test_place_that_a_message_opened_belongs_to_the_thread() -> None:
    """Words said under the direct message reach the thread that sent it."""
    otto = Person(name="otto", slack=("T1:UOTTO",))
    slack = Notebook(GiveUp("gone"), {"place": "slack:T1:D1:5.5"}, name="slack")
    async with office(slack, people=(otto,)) as here:
        thread, _ = await here.door.asked()
        await here.deliveries(thread, 2)
        received = await here.door.says("yes", OTTO, place="slack:T1:D1:5.5", is_addressed=False)

    assert (received.effect, received.thread) == ("taken", thread)


async def test_every_one_asked_is_reached_when_the_place_is_gone() -> None:
    """The channel is archived: each gets a message of their own."""
    both = [Person(name=name, slack=(f"T1:U{name.upper()}",), roles=("otto",)) for name in "ab"]
    slack = Notebook(GiveUp("is_archived"), name="slack")
    async with office(slack, people=tuple(both)) as here:
        thread, _ = await here.door.asked()
        rows = await here.deliveries(thread, 3)

    assert [row.address for row in rows] == [PLACE, "slack:T1:UA", "slack:T1:UB"]


async def test_watcher_that_fails_is_no_reason_to_write_to_people() -> None:
    """A callback has no next address: it is recorded as failed."""
    otto = Person(name="otto", slack=("T1:UOTTO",))
    slack, callback = Notebook(name="slack"), Notebook(GiveUp("410"), name="callback")
    async with office(slack, callback, people=(otto,)) as here:
        opening = Opening(
            agent="agent",
            text="pay",
            by=ANN.id,
            origin=PLACE,
            watchers=("callback:https://x.org",),
        )
        thread, _ = await here.door.here.gateway.begin(opening)
        rows = await here.deliveries(thread, 2)

    assert [(row.address, row.status) for row in rows] == [
        (PLACE, "sent"),
        ("callback:https://x.org", "failed"),
    ]


GRACE = Person(name="grace", email=("grace@x.org",), roles=("operator",))


async def test_operator_is_told_when_nobody_could_be_reached() -> None:
    """By their own channel, without what was asked; once, however often it fails."""
    otto = Person(name="otto", slack=("T1:UOTTO",))
    slack = Notebook(GiveUp("gone"), GiveUp("gone"), name="slack")
    email = Notebook(name="email")
    async with office(slack, email, people=(otto, GRACE)) as here:
        thread, (question,) = await here.door.asked()
        rows = await here.deliveries(thread, 3)

    assert here.figures.unreached == 1
    assert [row.address for row in rows] == [PLACE, "slack:T1:UOTTO", "email:grace@x.org"]
    (told,) = email.tried
    assert (told.kind, told.question) == ("notice", None)
    assert f"The question {question} of thread {thread} reached nobody" in told.text
    assert "pay" not in told.text


async def test_operator_is_told_also_before_the_first_failure_is_recorded() -> None:
    """Ends of tries are recorded together, a moment later: what was sent on has failed."""
    slack = Notebook(GiveUp("gone"), GiveUp("gone"), name="slack")
    email = Notebook(name="email")
    otto = Person(name="otto", slack=("T1:UOTTO",))
    late = replace(QUICK, linger_seconds=0.3)
    async with office(slack, email, people=(otto, GRACE), options=late) as here:
        thread, _ = await here.door.asked()
        await here.deliveries(thread, 3)

    assert [one.kind for one in email.tried] == ["notice"]


async def test_operator_is_told_when_no_way_was_ever_on() -> None:
    """Nothing fails, because nothing is sent: somebody must hear of it all the same."""
    otto = Person(name="otto", slack=("T1:UOTTO",))
    email = Notebook(name="email")
    async with office(email, people=(otto, GRACE)) as here:
        launch = Launch(agent="agent", text="pay it")
        view, _ = await here.door.here.gateway.launch(launch, by="desk", origin="web:desk")
        thread = ThreadId(view.id)
        (question,) = (await here.door.here.rested(thread)).questions
        await here.deliveries(thread, 2)

    (told,) = email.tried
    assert (told.kind, told.address) == ("notice", "email:grace@x.org")
    assert f"The question {question.id} of thread {thread} reached nobody" in told.text


async def test_operator_hears_of_a_result_that_reached_nobody() -> None:
    """Somebody must know that it is done."""
    slack = Notebook({"ts": "1"}, GiveUp("gone"), GiveUp("gone"), name="slack")
    email = Notebook(name="email")
    otto = Person(name="otto", slack=("T1:UOTTO",))
    async with office(slack, email, people=(otto, GRACE)) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)
        await here.door.decides(question, YES)
        await here.deliveries(thread, 5)

    (told,) = email.tried
    assert f"How it ended of thread {thread} reached nobody" in told.text


async def test_operator_hears_what_a_channel_wants_them_to_know() -> None:
    """Such as an endpoint that is disabled: nobody else would notice."""
    slack = Notebook(GiveUp("gone", notice="It is disabled."), name="slack")
    email = Notebook(name="email")
    otto = Person(name="otto", slack=("T1:UOTTO",))
    async with office(slack, email, people=(otto, GRACE)) as here:
        thread, _ = await here.door.asked()
        await here.deliveries(thread, 3)

    (told,) = email.tried
    assert (told.kind, told.text) == ("notice", "It is disabled.")


async def test_operator_is_left_alone_while_somebody_has_the_question() -> None:
    """One of two approvers can't be reached: the other has it."""
    lost = Person(name="lost", email=("lost@x.org",), roles=("otto",))
    found = Person(name="found", slack=("T1:U5",), roles=("otto",))
    email = Notebook(GiveUp("bounced"), name="email")
    async with office(Notebook(name="slack"), email, people=(lost, found, GRACE)) as here:
        thread, _ = await here.door.asked()
        rows = await here.deliveries(thread, 2)

    assert [(row.address, row.status) for row in rows] == [
        (PLACE, "sent"),
        ("email:lost@x.org", "failed"),
    ]


async def test_notice_goes_to_the_operators_next_address_and_no_further() -> None:
    """Nobody is told that nobody could be told."""
    grace = Person(name="grace", slack=("T1:UG",), email=("g@x.org",), roles=("admin",))
    slack, email = (
        Notebook(*[GiveUp("gone")] * 9, name="slack"),
        Notebook(GiveUp("no"), name="email"),
    )
    async with office(slack, email, people=(grace,)) as here:
        thread, _ = await here.door.asked()
        rows = await here.deliveries(thread, 3)

    assert [row.address for row in rows] == [PLACE, "slack:T1:UG", "email:g@x.org"]
    assert {row.status for row in rows} == {"failed"}


async def test_decided_question_is_sent_no_further() -> None:
    """The mail comes back after the decision: nobody else is asked."""
    otto = Person(name="otto", slack=("T1:UOTTO",), email=("otto@x.org",), prefer=("email",))
    slack, email = Notebook(name="slack"), Slow(GiveUp("bounced"), name="email")
    async with office(slack, email, people=(otto, GRACE)) as here:
        thread, (question,) = await here.door.asked(place="slack:T1:D1:1.5")
        await email.on_the_way.wait()
        await here.door.decides(question, YES)
        email.go_on.set()
        rows = await here.deliveries(thread, 5)

    assert "slack:T1:UOTTO" not in {row.address for row in rows}


class Seeing(Notebook):
    """A channel that knows who is not there."""

    async def send(self, message: Outgoing) -> Sent:
        """Say so of everybody who is asked."""
        return replace(await super().send(message), unseen_by=tuple(message.asked))


async def test_who_is_not_in_the_channel_is_asked_in_private() -> None:
    """By the way that they prefer, once; and is told how it ended."""
    otto = Person(name="otto", slack=("T1:UOTTO",), email=("otto@x.org",), prefer=("email",))
    slack, email = Seeing(name="slack"), Notebook(name="email")
    async with office(slack, email, people=(otto,)) as here:
        thread, (question,) = await here.door.asked()
        rows = await here.deliveries(thread, 2)
        await here.door.decides(question, YES)
        await here.deliveries(thread, 4)

    assert [one.asked for one in slack.tried if one.kind == "question.asked"] == [
        ("slack:T1:UOTTO",)
    ]
    assert [row.address for row in rows] == [PLACE, "email:otto@x.org"]
    assert [one.kind for one in email.tried] == ["question.asked"]
    assert (len(slack.settled), len(email.settled)) == (1, 1)


async def test_who_is_not_in_the_channel_is_reminded_in_private() -> None:
    """Those who are there are reminded there."""
    otto = Person(name="otto", slack=("T1:UOTTO",), email=("otto@x.org",), prefer=("email",))
    slack, email = Seeing(name="slack"), Notebook(name="email")
    async with office(slack, email, people=(otto,)) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 2)
        await here.remind(thread, question)
        await here.deliveries(thread, 4)

    assert [one.kind for one in email.tried] == ["question.asked", "question.reminded"]


async def test_nobody_is_reminded_of_what_they_have_yet_to_hear() -> None:
    """The question waits for their hours: then it comes, once."""
    later = (datetime.now(UTC) + timedelta(days=2)).strftime("%a")
    otto = Person(name="otto", slack=("T1:UOTTO",), hours=f"{later} 09:00-10:00")
    async with office(Seeing(name="slack"), people=(otto,)) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)
        await here.remind(thread, question)
        rows = await here.deliveries(thread, 2)

    assert [row.body["kind"] for row in rows if row.address == "slack:T1:UOTTO"] == [
        "question.asked"
    ]


async def test_who_is_not_in_the_channel_is_asked_in_their_hours() -> None:
    """Unless it is urgent."""
    later = (datetime.now(UTC) + timedelta(days=2)).strftime("%a")
    otto = Person(name="otto", slack=("T1:UOTTO",), hours=f"{later} 09:00-10:00")
    slack = Seeing(name="slack")
    async with office(slack, people=(otto,)) as here:
        thread, _ = await here.door.asked()
        await here.deliveries(thread, 1)
        _, waits = await here.door.store.deliveries(thread)

    assert (waits.address, waits.status) == ("slack:T1:UOTTO", "pending")
    assert waits.due_at is not None
    assert waits.due_at > World().now() + 3_600_000
