"""Posting: the question as it is when it goes out, every copy settled, and the next address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from agent_core.json_values import JsonObject
from agent_core.loop.world import World
from agent_core.thread.events import QuestionReminded, ThreadId
from agent_core.thread.questions import QuestionId
from channels.channel import GiveUp, Sent, TryLater
from channels.notebook import Notebook
from channels.outgoing import Outgoing
from gateway.config import Person
from gateway.people import Directory
from gateway.sender import Sender, SenderOptions
from storage.errors import StoreBusy
from storage.memory import MemoryStore
from storage.values import Commit, Delivery, DeliveryId, NewDelivery, QuestionRow
from tests.unit.gateway.front_door import ANN, OTTO, PLACE, FrontDoor, front_door
from tests.unit.gateway.workshop import stop, until

YES = {"approved": True}
QUICK = SenderOptions(poll_seconds=0.005, linger_seconds=0.001)


class Office:
    """A gateway whose channels are notebooks, with a sender."""

    def __init__(self, door: FrontDoor, channels: tuple[Notebook, ...]) -> None:
        """Know the door and the channels."""
        self.door = door
        self.channels = channels

    async def deliveries(self, thread: ThreadId, wanted: int) -> list[Delivery]:
        """Wait until so many deliveries of a thread are at their end."""
        async with asyncio.timeout(10):
            while True:
                rows = await self.door.store.deliveries(thread)
                if sum(row.status != "pending" for row in rows) >= wanted:
                    return rows
                await asyncio.sleep(0.002)

    async def also_says(self, thread: ThreadId, kind: str, question: str) -> None:
        """Put one more message about a question into the outbox."""
        now = World().now()
        more = NewDelivery(
            id=DeliveryId(f"{thread}.{kind}.more"),
            address=PLACE,
            body={"kind": kind, "question": question},
            due_at=now,
            question=QuestionId(question),
        )
        await self.door.store.commit(Commit(thread=thread, deliveries=[more], now=now))


@asynccontextmanager
async def office(
    *channels: Notebook,
    people: tuple[Person, ...] = (),
    options: SenderOptions = QUICK,
    store: MemoryStore | None = None,
) -> AsyncIterator[Office]:
    """Open a gateway that sends by these channels."""
    async with front_door(store=store) as door:
        named = {channel.name: channel for channel in channels}
        sender = Sender(
            door.store, named, door.here.hints, people=Directory(people), options=options
        )
        task = asyncio.create_task(sender.run())
        try:
            yield Office(door, channels)
        finally:
            await stop(task)


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


class Slow(Notebook):
    """A channel whose second message is decided about while it is on its way."""

    def __init__(self, *script: Exception | JsonObject, name: str) -> None:
        """Wait for a decision."""
        super().__init__(*script, name=name)
        self.on_the_way = asyncio.Event()
        self.go_on = asyncio.Event()

    async def send(self, message: Outgoing) -> Sent:
        """Take long over a direct message."""
        if message.address == OTTO.id:
            self.on_the_way.set()
            await self.go_on.wait()
        return await super().send(message)


async def test_copy_on_its_way_elsewhere_is_settled_when_it_arrives() -> None:
    """Decided while the direct message was being posted: no buttons stay behind there."""
    otto = Person(name="otto", slack=("T1:UOTTO",))
    slack = Slow(GiveUp("is_archived"), name="slack")
    async with office(slack, people=(otto,)) as here:
        thread, (question,) = await here.door.asked()
        await slack.on_the_way.wait()
        await here.door.decides(question, YES)
        slack.go_on.set()
        await here.deliveries(thread, 4)

    assert {one.address for _, one in slack.settled} == {OTTO.id}


class Whispering(Notebook):
    """A channel in which only one person sees what is said."""

    async def send(self, message: Outgoing) -> Sent:
        """Say so."""
        return replace(await super().send(message), is_private=True)


async def test_question_in_private_goes_to_those_who_are_asked_too() -> None:
    """Each once, by the way that they prefer; who began it can only watch."""
    otto = Person(name="otto", slack=("T1:UOTTO",), email=("otto@x.org",), prefer=("email",))
    slack, email = Whispering(name="slack"), Notebook(name="email")
    async with office(slack, email, people=(otto,)) as here:
        thread, (question,) = await here.door.asked()
        rows = await here.deliveries(thread, 2)
        await here.door.decides(question, YES)
        await here.deliveries(thread, 4)

    assert [row.address for row in rows] == [PLACE, "email:otto@x.org"]
    assert [one.kind for one in email.tried] == ["question.asked"]
    assert (len(slack.settled), len(email.settled)) == (1, 1)


async def test_question_in_private_for_who_began_it_stays_there() -> None:
    """They see it, and may answer."""
    ann = Person(name="otto", slack=("T1:UANN", "T1:UOTTO"))
    slack = Whispering(name="slack")
    async with office(slack, people=(ann,)) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)
        await here.door.decides(question, YES)
        rows = await here.deliveries(thread, 3)

    assert {row.address for row in rows} == {PLACE}
