"""Returns: what came back is marked once, and goes to the person's next address once."""

from __future__ import annotations

import pytest

from agent_core.loop.world import World
from agent_core.thread.events import MessageReceived, Millis, ThreadId
from channels.inbound import Undelivered
from channels.intake import Received
from channels.notebook import Notebook
from channels.people import Actor
from gateway.control.service import TooBusy
from gateway.intake.returns import Returns
from gateway.people.directory import Directory
from gateway.settings.config import Person
from storage.memory import MemoryStore
from storage.values import Commit, Delivery, DeliveryEnd, DeliveryId, NewDelivery, NewThread

OTTO = Person(name="otto", slack=("T1:UOTTO",), email=("otto@example.com",), prefer=("email",))
MAIL = "email:otto@example.com:0123456789abcdef"
THREAD = ThreadId("th_1")
NOW = Millis(1_000)


async def a_store() -> MemoryStore:
    """Open a store."""
    store = MemoryStore()
    await store.open()
    return store


async def a_mail(store: MemoryStore, *, status: str = "sent", address: str = MAIL) -> Delivery:
    """Put one mail into the outbox, and bring it so far."""
    new = NewDelivery(
        id=DeliveryId("th_1.2"),
        address=address,
        body={"kind": "thread.finished", "text": "done"},
        due_at=NOW,
    )
    said = MessageReceived(at=NOW, text="hello")
    thread = NewThread(agent="a", origin=address, requester="email:otto@example.com")
    await store.commit(
        Commit(thread=THREAD, create=thread, events=[said], deliveries=[new], now=NOW)
    )
    [leased] = await store.claim_deliveries(now=NOW, lease_ms=1_000, limit=9)
    if status != "pending":
        await store.end_deliveries([DeliveryEnd(delivery=leased, status="sent")])
    if status == "settled":
        await store.end_deliveries([DeliveryEnd(delivery=leased, status="settled")])
    return leased


async def comes_back(store: MemoryStore, delivery: str = "TH_1.2") -> Received:
    """Bring a bounce; letters change their case on the way."""
    channels = {name: Notebook(name=name) for name in ("email", "slack")}
    returns = Returns(store, channels, Directory([OTTO]), World())
    came = Undelivered(
        key="bounce",
        place="email:otto@example.com",
        actor=Actor(id="email:mailer-daemon"),
        delivery=delivery.lower(),
        reason="5.1.1 user unknown",
    )
    return await returns.take_back(came)


async def test_what_came_back_is_marked_and_goes_to_the_next_address() -> None:
    """Not to the same mailbox by its other name."""
    store = await a_store()
    await a_mail(store)

    received = await comes_back(store)

    first, second = await store.deliveries(THREAD)
    assert (received.effect, received.thread) == ("taken", THREAD)
    assert (first.status, first.error) == ("failed", "came back: 5.1.1 user unknown")
    assert (second.address, second.status) == ("slack:T1:UOTTO", "pending")


async def test_second_report_of_the_same_mail_has_no_second_effect() -> None:
    """Some servers send one for each try."""
    store = await a_store()
    await a_mail(store)

    effects = [(await comes_back(store)).effect for _ in range(3)]

    assert effects == ["taken", "copy", "copy"]
    assert len(await store.deliveries(THREAD)) == 2


async def test_report_that_was_followed_half_way_is_followed_to_its_end() -> None:
    """The next address was written down, and then the power went: nothing is sent twice."""
    store = await a_store()
    leased = await a_mail(store)
    await comes_back(store)
    # as if it had stopped between the two: the first is sent still
    store._tables.deliveries[THREAD, leased.id] = leased

    with pytest.raises(TooBusy):
        await comes_back(store)
    await store.end_deliveries([DeliveryEnd(delivery=leased, status="sent")])
    received = await comes_back(store)

    assert received.effect == "taken"
    assert [one.status for one in await store.deliveries(THREAD)] == ["failed", "pending"]


async def test_what_is_still_being_sent_is_not_judged_yet() -> None:
    """A server on the same machine is faster than our own record: its report must come again."""
    store = await a_store()
    await a_mail(store, status="pending")

    with pytest.raises(TooBusy):
        await comes_back(store)


@pytest.mark.parametrize("delivery", ["th_1.3", "th_9.2", "", "nonsense"])
async def test_report_about_nothing_of_ours_is_ignored(delivery: str) -> None:
    """Whatever it names."""
    store = await a_store()
    await a_mail(store)

    received = await comes_back(store, delivery)

    assert received.effect == "ignored"


async def test_report_about_another_channels_message_is_ignored() -> None:
    """A mail can't say that a Slack message came back."""
    store = await a_store()
    await a_mail(store, address="slack:T1:C1:1.1")

    received = await comes_back(store)

    assert received.effect == "ignored"
    assert [one.status for one in await store.deliveries(THREAD)] == ["sent"]


async def test_settled_question_needs_no_other_way() -> None:
    """It was answered meanwhile."""
    store = await a_store()
    await a_mail(store, status="settled")

    received = await comes_back(store)

    assert received.effect == "ignored"
    assert len(await store.deliveries(THREAD)) == 1
