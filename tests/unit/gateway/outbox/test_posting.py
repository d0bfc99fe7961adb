"""Posting: the question as it is when it goes out, every copy settled, and the next address."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from agent_core.json_values import JsonObject
from agent_core.thread.events import QuestionReminded
from agent_core.thread.questions import QuestionId
from channels.channel import GiveUp, TryLater
from channels.notebook import Notebook
from channels.outgoing import Outgoing
from gateway.outbox.sender import Sender
from gateway.people.directory import Directory
from gateway.settings.config import Person
from storage.errors import StoreBusy
from storage.memory import MemoryStore
from storage.values import QuestionRow
from tests.unit.gateway.front_door import OTTO, PLACE, front_door
from tests.unit.gateway.office import MAILED, QUICK, YES, Office, Slow, office
from tests.unit.gateway.workshop import stop, until


async def test_question_goes_out_whole() -> None:
    """A channel needs nothing but what it is handed, with people as it knows them."""
    slack = Notebook(name="slack")
    otto = Person(name="otto", slack=("T1:UOTTO",))
    async with office(slack, people=(otto,)) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)

    (asked,) = slack.tried
    assert asked.question is not None
    assert (asked.kind, asked.address, asked.question.id) == ("question.asked", PLACE, question)
    assert (asked.question.tool, asked.question.arguments) == ("pay", {"amount": 1})
    assert (asked.question.audience, asked.question.status) == (["slack:T1:UOTTO"], "open")


async def test_answer_settles_the_copy_that_was_sent() -> None:
    """By its receipt, with who decided what; then the result follows."""
    slack = Notebook({"ts": "1"}, name="slack")
    async with office(slack) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)
        await here.door.decides(question, YES)
        rows = await here.deliveries(thread, 3)

    ((receipt, settled),) = slack.settled
    assert settled.question is not None
    assert (receipt, settled.kind) == ({"ts": "1"}, "question.settled")
    assert (settled.question.answered_by, settled.question.answer) == (OTTO.id, YES)
    assert settled.question.settled_at is not None
    assert [(one.kind, one.text) for one in slack.tried[1:]] == [("thread.finished", "done")]
    assert [row.status for row in rows] == ["settled", "sent", "sent"]


async def test_question_that_was_answered_before_it_went_out_is_shown_settled() -> None:
    """Slack was down: nobody sees buttons for what is decided."""
    slack = Notebook(TryLater("down"), name="slack")
    async with office(slack) as here:
        thread, (question,) = await here.door.asked()
        await until(lambda: bool(slack.tried))
        await here.door.decides(question, YES)
        rows = await here.deliveries(thread, 3)

    asked = slack.tried[1]
    assert asked.question is not None
    assert (asked.kind, asked.attempt, asked.question.status) == ("question.asked", 2, "answered")
    assert [row.status for row in rows] == ["settled", "sent", "sent"]


async def test_reminder_is_settled_as_well() -> None:
    """No copy keeps its buttons."""
    slack = Notebook({"ts": "1"}, {"ts": "2"}, name="slack")
    async with office(slack) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)
        key = QuestionId(question)
        await here.door.here.gateway.decide(
            thread, lambda _state, now: [QuestionReminded(at=now, question=key)]
        )
        await here.deliveries(thread, 2)
        await here.door.decides(question, YES)
        await here.deliveries(thread, 4)

    assert [receipt for receipt, _ in slack.settled] == [{"ts": "1"}, {"ts": "2"}]


class ShyStore(MemoryStore):
    """A store that can't be asked for a question, the first times."""

    failures = 3

    async def question(self, question: QuestionId) -> QuestionRow | None:
        """Fail, or answer."""
        if self.failures > 0:
            self.failures -= 1
            raise StoreBusy("busy", retry_after=0)
        return await super().question(question)


async def test_store_that_fails_while_posting_loses_nothing() -> None:
    """The lease runs out, and the message is sent then."""
    slack = Notebook(name="slack")
    options = replace(QUICK, lease_ms=500)
    async with office(slack, options=options, store=ShyStore()) as here:
        thread, _ = await here.door.asked()
        (row,) = await here.deliveries(thread, 1)

    assert (row.status, len(slack.sent)) == ("sent", 1)


class Stubborn(Notebook):
    """A channel in which the first copy can't be changed any more."""

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Refuse the first one."""
        await super().settle(receipt, message)
        if receipt == {"ts": "1"}:
            raise GiveUp("token_revoked")


async def test_copy_that_can_not_be_changed_keeps_no_other_from_it() -> None:
    """One workspace has revoked its token: the buttons elsewhere are gone all the same."""
    slack = Stubborn({"ts": "1"}, {"ts": "2"}, name="slack")
    async with office(slack) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)
        await here.also_says(thread, "question.asked", question)
        await here.deliveries(thread, 2)
        await here.door.decides(question, YES)
        await here.deliveries(thread, 4)

    assert [receipt for receipt, _ in slack.settled] == [{"ts": "1"}, {"ts": "2"}]


async def test_copy_on_its_way_elsewhere_is_settled_when_it_arrives() -> None:
    """Decided while the direct message was being posted: no buttons stay behind there."""
    otto = Person(name="otto", slack=("T1:UOTTO",))
    slack = Slow(GiveUp("is_archived"), name="slack", slow_at=OTTO.id)
    async with office(slack, people=(otto,)) as here:
        thread, (question,) = await here.door.asked()
        await slack.on_the_way.wait()
        await here.door.decides(question, YES)
        slack.go_on.set()
        await here.deliveries(thread, 4)

    assert {one.address for _, one in slack.settled} == {OTTO.id}


DIRECT = "slack:T1:D1:1700.1"


async def test_question_in_private_goes_to_those_who_are_asked_too() -> None:
    """Each once, by the way that they prefer; who began it can only watch."""
    otto = Person(name="otto", slack=("T1:UOTTO",), email=("otto@x.org",), prefer=("email",))
    slack, email = Notebook(name="slack"), Notebook(name="email")
    async with office(slack, email, people=(otto,)) as here:
        thread, (question,) = await here.door.asked(place=DIRECT)
        rows = await here.deliveries(thread, 2)
        await here.door.decides(question, YES)
        await here.deliveries(thread, 5)

    assert [row.address for row in rows] == [DIRECT, "email:otto@x.org"]
    assert [one.kind for one in email.tried] == ["question.asked"]
    assert (len(slack.settled), len(email.settled)) == (1, 1)


async def test_question_in_private_for_who_began_it_stays_there() -> None:
    """They see it, and may answer."""
    ann = Person(name="otto", slack=("T1:UANN", "T1:UOTTO"))
    slack = Notebook(name="slack")
    async with office(slack, people=(ann,)) as here:
        thread, (question,) = await here.door.asked(place=DIRECT)
        await here.deliveries(thread, 1)
        await here.door.decides(question, YES)
        rows = await here.deliveries(thread, 3)

    assert {row.address for row in rows} == {DIRECT}


class Down(Notebook):
    """A channel that sends, and then can't be reached."""

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Fail, for now."""
        await super().settle(receipt, message)
        raise TryLater("down")


async def test_channel_that_is_down_keeps_no_other_copy_from_being_settled() -> None:
    """Slack is away for a day: whoever was asked by mail hears at once who decided."""
    otto = Person(name="otto", email=("otto@x.org",))
    slack, email = Down(name="slack"), Notebook(name="email")
    async with office(slack, email, people=(otto,)) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 2)
        await here.door.decides(question, YES, actor=MAILED)
        await until(lambda: bool(slack.settled))
        rows = await here.deliveries(thread, 3)

    assert len(email.settled) == 1
    assert {row.status for row in rows if row.address != PLACE} == {"sent", "settled"}


async def test_place_that_never_took_the_question_keeps_nobody_uninformed() -> None:
    """The conversation's own copy is still on its way there, and behind it the news."""
    two = (Person(name="otto", email=("otto@x.org",)), Person(name="max", email=("max@x.org",)))
    slack, email = Notebook(*[TryLater("down")] * 50, name="slack"), Notebook(name="email")
    async with office(slack, email, people=two) as here:
        _, (question,) = await here.door.asked()
        await until(lambda: bool(email.sent))
        await here.door.decides(question, YES, actor=MAILED)
        await until(lambda: bool(email.settled))

    ((_, settled),) = email.settled
    assert settled.question is not None
    assert settled.question.status == "answered"


async def test_nobody_is_asked_elsewhere_what_is_decided_by_then() -> None:
    """The mail had to wait; by its turn there is nothing left to ask."""
    otto = Person(name="otto", email=("otto@x.org",))
    slack, email = Notebook(name="slack"), Notebook(name="email")
    async with front_door(people=(otto,), channels={"slack", "email"}) as door:
        thread, (question,) = await door.asked()
        await door.decides(question, YES, actor=MAILED)
        named = {"slack": slack, "email": email}
        people = Directory((otto,))
        sender = Sender(door.store, named, door.here.hints, people=people, options=QUICK)
        task = asyncio.create_task(sender.run())
        here = Office(door, named)
        await here.deliveries(thread, 5)
        for address in (PLACE, "email:otto@x.org"):  # the approval is taken back
            await here.also_says(thread, "question.settled", question, address=address, again=True)
        rows = await here.deliveries(thread, 7)
        await stop(task)

    assert (email.tried, email.settled) == ([], [])
    assert len(slack.settled) == 2
    assert {row.status for row in rows if row.address == "email:otto@x.org"} == {"settled", "sent"}


async def test_rerouted_copies_are_settled_although_the_place_is_down_or_a_channel_gone() -> None:
    """Nobody else tells them; a channel that the operator has turned off holds up nobody."""
    slack, email, fax = Down(name="slack"), Notebook(name="email"), Notebook(name="fax")
    async with office(slack, email, fax) as here:
        thread, (question,) = await here.door.asked()
        await here.also_says(thread, "question.asked", question, address="fax:1")
        await here.also_says(thread, "question.asked", question, address="email:a@x.org")
        await here.deliveries(thread, 3)
        here.turn_off("fax")
        await here.door.decides(question, YES)
        await until(lambda: bool(email.settled and slack.settled))

    assert [one.address for _, one in email.settled] == ["email:a@x.org"]
    assert fax.settled == []


async def test_of_several_reminders_that_had_to_wait_the_last_is_enough() -> None:
    """Nobody comes to work and finds ten."""
    otto = Person(name="otto", email=("otto@x.org",), hours="Mon-Sun 00:00-24:00")
    slack, email = Notebook(name="slack"), Notebook(name="email")
    async with front_door(people=(otto,), channels={"slack", "email"}) as door:
        thread, (question,) = await door.asked()
        key = QuestionId(question)
        for _ in range(3):
            await door.here.gateway.decide(
                thread, lambda _state, now: [QuestionReminded(at=now, question=key)]
            )
        named = {"slack": slack, "email": email}
        people = Directory((otto,))
        sender = Sender(door.store, named, door.here.hints, people=people, options=QUICK)
        task = asyncio.create_task(sender.run())
        await Office(door, named).deliveries(thread, 8)
        await stop(task)

    assert [one.kind for one in email.tried] == ["question.asked", "question.reminded"]
    assert [one.kind for one in slack.tried].count("question.reminded") == 3
