"""Leftovers: what was sent after its delivery had been taken over keeps no buttons."""

from __future__ import annotations

from msgspec.structs import replace

from agent_core.json_values import JsonObject
from agent_core.thread.events import Millis
from channels.channel import TryLater
from channels.notebook import Notebook
from channels.outgoing import Outgoing
from gateway.outbox.posting import Posting
from gateway.people.directory import Directory
from gateway.settings.config import Person
from storage.store import Store
from storage.values import DeliveryEnd
from tests.unit.gateway.front_door import PEOPLE, front_door
from tests.unit.gateway.office import YES, Slow, office
from tests.unit.gateway.workshop import until


async def taken_over(store: Store) -> None:
    """Let another sender, whose clock runs ahead, send and record what is on its way here."""
    far = Millis(4_000_000_000_000)
    (delivery,) = await store.claim_deliveries(now=far, lease_ms=1, limit=1)
    sent = DeliveryEnd(delivery=delivery, status="sent", receipt={"ts": "theirs"})
    assert await store.end_deliveries([sent]) == [True]


class Reluctant(Slow):
    """A channel in which a card can't be changed the first time."""

    failures = 1

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Fail over our own card once."""
        if receipt == {"ts": "ours"} and self.failures:
            self.failures -= 1
            raise TryLater("not just now")
        await super().settle(receipt, message)


async def test_card_that_came_after_the_end_is_settled_by_its_sender() -> None:
    """Nobody else has its receipt. What fails is tried again."""
    slack = Reluctant({"ts": "ours"}, name="slack")
    async with office(slack) as here:
        thread, (question,) = await here.door.asked()
        await slack.on_the_way.wait()
        await taken_over(here.door.store)
        await here.door.decides(question, YES)
        await until(lambda: bool(slack.settled))
        slack.go_on.set()
        await until(lambda: len(slack.settled) > 1)
        rows = await here.deliveries(thread, 3)

    (theirs, _), (ours, settled) = slack.settled
    assert (theirs, ours) == ({"ts": "theirs"}, {"ts": "ours"})
    assert settled.question is not None
    assert (settled.kind, settled.question.status) == ("question.settled", "answered")
    assert rows[0].receipt == {"ts": "theirs"}
    assert slack.failures == 0


async def test_who_settles_is_told_that_there_may_be_more_than_one() -> None:
    """Both cards can be answered, and only one receipt is known."""
    slack = Slow({"ts": "ours"}, name="slack")
    async with office(slack) as here:
        thread, (question,) = await here.door.asked()
        await slack.on_the_way.wait()
        await taken_over(here.door.store)
        slack.go_on.set()
        await until(lambda: bool(slack.sent))
        await here.door.decides(question, YES)
        await here.deliveries(thread, 3)

    assert ({"ts": "theirs"}, 2) in [(receipt, one.tries) for receipt, one in slack.settled]


async def test_old_view_of_the_votes_does_not_stand_over_the_end() -> None:
    """It was on its way when another sender had the rest: the end is shown again."""
    slack = Notebook({"ts": "1"}, name="slack")
    async with office(slack) as here:
        thread, (question,) = await here.door.asked()
        (asked,) = await here.deliveries(thread, 1)
        voted = replace(asked, body={"kind": "question.voted", "question": question})
        posting = Posting(here.door.store, here.named, Directory())
        await posting.settle_uncounted(voted, {"copies": 1})
        assert slack.settled == []
        await here.door.decides(question, YES)
        await here.deliveries(thread, 3)
        await posting.settle_uncounted(voted, {"copies": 1})

    assert [receipt for receipt, _ in slack.settled] == [{"ts": "1"}, {"ts": "1"}]
    assert [one.kind for _, one in slack.settled] == ["question.settled"] * 2


async def test_card_at_the_old_place_of_a_conversation_that_moved_is_settled() -> None:
    """It waited for another try there while it was decided elsewhere: nothing comes after it."""
    slack, ways = Notebook({"ts": "1"}, name="slack"), ("slack", "email")
    ann = Person(name="ann", slack=("T1:UANN",), email=("ann@x.org",))
    async with front_door(people=(ann, *PEOPLE), channels=ways) as door:
        thread, (question,) = await door.asked()
        (asked, *_) = await door.store.deliveries(thread)
        await door.here.gateway.move(thread, "email", by="cli")
        await door.decides(question, YES)
        posting = Posting(door.store, {"slack": slack}, Directory((ann, *PEOPLE)))
        posted = await posting.send(replace(asked, attempts=2))

    assert posted.is_settled
    assert [(receipt, one.tries) for receipt, one in slack.settled] == [({"ts": "1"}, 2)]


async def test_card_that_was_sent_once_is_not_looked_for() -> None:
    """Looking costs a call: only where there may be another."""
    slack = Notebook({"ts": "1"}, name="slack")
    async with office(slack) as here:
        thread, (question,) = await here.door.asked()
        await here.deliveries(thread, 1)
        await here.door.decides(question, YES)
        await here.deliveries(thread, 3)

    assert [one.tries for _, one in slack.settled] == [1]
