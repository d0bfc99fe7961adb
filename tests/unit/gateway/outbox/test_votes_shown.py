"""Everybody sees how far a decision is: in the copies that can change, and in the cards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_core import Policy
from agent_core.thread.events import ThreadId
from channels.channel import Capabilities, GiveUp
from channels.notebook import Notebook
from gateway.outbox.sender import Sender, SenderOptions
from gateway.people.directory import Directory
from storage.values import Delivery
from tests.unit.gateway.council import ANN, COUNCIL, KIM, LEA, LESS, OTTO, YES, council
from tests.unit.gateway.front_door import PLACE, FrontDoor
from tests.unit.gateway.workshop import stop

QUICK = SenderOptions(poll_seconds=0.005, linger_seconds=0.001)


@asynccontextmanager
async def hall(policy: Policy, *channels: Notebook) -> AsyncIterator[FrontDoor]:
    """Open a gateway that shows its questions in these channels."""
    named = {channel.name: channel for channel in channels}
    async with council(policy, channels=named) as door:
        sender = Sender(
            door.store, named, door.here.hints, people=Directory(COUNCIL), options=QUICK
        )
        task = asyncio.create_task(sender.run())
        try:
            yield door
        finally:
            await stop(task)


async def ended(door: FrontDoor, thread: ThreadId, wanted: int) -> list[Delivery]:
    """Wait until so many deliveries of a thread have been sent or settled."""
    async with asyncio.timeout(10):
        while True:
            rows = await door.store.deliveries(thread)
            if sum(row.status != "pending" for row in rows) >= wanted:
                return rows
            await asyncio.sleep(0.002)


async def test_copies_show_each_vote_while_the_question_is_open() -> None:
    """With what was changed; nothing new is sent."""
    slack = Notebook({"ts": "1"}, name="slack")
    async with hall(Policy(quorum=2), slack) as door:
        thread, (question,) = await door.asked()
        await ended(door, thread, 1)
        await door.decides(question, LESS, OTTO, comment="less")
        await ended(door, thread, 2)

    ((receipt, voted),) = slack.settled
    card = voted.question
    assert card is not None
    assert (receipt, voted.kind, card.status) == ({"ts": "1"}, "question.voted", "open")
    (vote,) = card.votes
    assert (vote.by, vote.approved, vote.comment) == (OTTO.id, True, "less")
    assert [one.words() for one in vote.changes] == ["amount: 49 → 20"]
    assert (card.quorum, card.not_requester) == (2, False)
    assert len(slack.tried) == 1


async def test_vote_shows_in_copies_that_were_sent_on() -> None:
    """The place was gone: each has the question in a message of their own."""
    slack = Notebook(GiveUp("is_archived"), name="slack")
    async with hall(Policy(quorum=2), slack) as door:
        thread, (question,) = await door.asked()
        await ended(door, thread, 5)
        await door.decides(question, LESS, OTTO)
        await ended(door, thread, 6)

    addresses = {one.address for _, one in slack.settled if one.kind == "question.voted"}
    assert addresses == {ANN.id, OTTO.id, LEA.id, KIM.id}


async def test_settled_copies_show_what_was_changed() -> None:
    """To everybody, also to those who did not decide."""
    slack = Notebook({"ts": "1"}, name="slack")
    async with hall(Policy(quorum=2), slack) as door:
        thread, (question,) = await door.asked()
        await ended(door, thread, 1)
        await door.decides(question, LESS, OTTO)
        await door.decides(question, LESS, KIM)
        await ended(door, thread, 4)

    card = slack.settled[-1][1].question
    assert card is not None
    assert card.status == "answered"
    assert [one.words() for one in card.changes] == ["amount: 49 → 20"]
    assert [vote.by for vote in card.votes] == [OTTO.id, KIM.id]


async def test_vote_is_not_told_where_nothing_can_be_changed() -> None:
    """Nobody gets a mail for each vote of somebody else."""
    slack = Notebook({"ts": "1"}, name="slack")
    slack.capabilities = Capabilities(edits=False)
    async with hall(Policy(quorum=2), slack) as door:
        thread, (question,) = await door.asked()
        await ended(door, thread, 1)
        await door.decides(question, YES, OTTO)
        rows = await ended(door, thread, 2)

    assert (slack.settled, len(slack.tried)) == ([], 1)
    assert [row.status for row in rows] == ["sent", "sent"]


async def test_vote_that_is_shown_too_late_shows_nothing() -> None:
    """It was decided meanwhile: that is shown by what comes after."""
    slack = Notebook({"ts": "1"}, name="slack")
    async with council(Policy(quorum=2), channels={"slack"}) as door:
        thread, (question,) = await door.asked()
        await door.decides(question, YES, OTTO)
        await door.decides(question, YES, LEA)
        await door.here.rested(thread)
        people = Directory(COUNCIL)
        sender = Sender(door.store, {"slack": slack}, door.here.hints, people=people, options=QUICK)
        task = asyncio.create_task(sender.run())
        await ended(door, thread, 4)
        await stop(task)

    assert "question.voted" not in [message.kind for _, message in slack.settled]


async def test_card_of_an_approval_that_was_taken_back_says_so() -> None:
    """It had been settled before: it is settled again, and the new question is asked."""
    slack = Notebook({"ts": "1"}, {"ts": "2"}, name="slack")
    async with hall(Policy(), slack) as door:
        thread, (question,) = await door.asked()
        await ended(door, thread, 1)
        await door.here.gateway.pause(thread, by="ann")
        await door.decides(question, YES, OTTO)
        await ended(door, thread, 2)
        await door.here.gateway.take_back(question, by="otto")
        await ended(door, thread, 4)

    last = slack.settled[-1]
    assert last[0] == {"ts": "1"}
    assert last[1].question is not None
    assert (last[1].question.taken_back, last[1].question.answered_by) == (True, OTTO.id)
    assert [one.kind for one in slack.tried] == ["question.asked", "question.asked"]
    assert {one.address for one in slack.tried} == {PLACE}
