"""What every channel must do, whatever it speaks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from channels.channel import GiveUp
from channels.outgoing import Outgoing, OutgoingKind, QuestionCard
from tests.contract.channels_at_work import CHANNELS, AtWork

CARD = QuestionCard(
    id="q_1",
    thread="th_1",
    kind="approval",
    prompt="Refund order A-123?",
    tool="refund",
    arguments={"order": "A-123", "amount": 49.9},
)
SETTLED = replace(
    CARD, status="answered", answer={"approved": True}, answered_by="ann", settled_at=1
)


@pytest.fixture(params=sorted(CHANNELS))
async def at_work(request: pytest.FixtureRequest) -> AsyncIterator[AtWork]:
    """Run one channel after the other."""
    async with CHANNELS[request.param]() as running:
        yield running


def outgoing(
    address: str, kind: OutgoingKind = "question.asked", card: QuestionCard | None = CARD
) -> Outgoing:
    """Write a message on its way."""
    return Outgoing(
        id=f"th_1.{kind}", thread="th_1", address=address, kind=kind, text="Done.", question=card
    )


async def test_it_is_well_and_says_so_with_no_words(at_work: AtWork) -> None:
    """Words would be for the operator."""
    assert await at_work.channel.health() == ""
    assert at_work.address.startswith(f"{at_work.channel.name}:")


@pytest.mark.parametrize(
    "kind", ["thread.finished", "thread.failed", "thread.cancelled"], ids=lambda kind: kind
)
async def test_what_is_sent_gives_a_receipt_that_can_be_stored(
    at_work: AtWork, kind: OutgoingKind
) -> None:
    """It is how the message is found again, by another process, next year."""
    sent = await at_work.channel.send(outgoing(at_work.address, kind, None))

    assert json.loads(json.dumps(sent.receipt)) == sent.receipt
    assert not sent.place or sent.place.startswith(f"{at_work.channel.name}:")


@pytest.mark.parametrize("kind", ["question.asked", "question.reminded", "question.escalated"])
async def test_a_question_can_be_settled_twice_without_harm(
    at_work: AtWork, kind: OutgoingKind
) -> None:
    """The outbox may repeat itself."""
    sent = await at_work.channel.send(outgoing(at_work.address, kind))
    settled = outgoing(at_work.address, "question.settled", SETTLED)

    await at_work.channel.settle(sent.receipt, settled)
    await at_work.channel.settle(sent.receipt, settled)


async def test_a_question_that_is_settled_already_can_be_sent(at_work: AtWork) -> None:
    """A delivery that waited long shows what is so by then."""
    message = replace(outgoing(at_work.address), question=SETTLED)

    assert (await at_work.channel.send(message)).receipt


async def test_an_address_that_names_nobody_is_given_up(at_work: AtWork) -> None:
    """At once, so that the question goes to the person's next address."""
    for address in at_work.nobody:
        with pytest.raises(GiveUp):
            await at_work.channel.send(outgoing(address))


async def test_it_sends_again_after_it_was_stopped_and_started(at_work: AtWork) -> None:
    """Nothing that it let go of is missed; stopping twice does no harm."""
    await at_work.channel.stop()
    await at_work.channel.stop()
    await at_work.channel.start(at_work.recording.house())

    assert (await at_work.channel.send(outgoing(at_work.address))).receipt


async def test_it_sends_without_receiving(at_work: AtWork) -> None:
    """As a worker's process does."""
    await at_work.channel.stop()
    await at_work.channel.start(at_work.recording.house(), receives=False)

    assert (await at_work.channel.send(outgoing(at_work.address))).receipt


async def test_what_it_serves_has_a_method_and_a_path_of_its_own(at_work: AtWork) -> None:
    """The gateway mounts it beside everything else."""
    for method, path in at_work.channel.routes():
        assert method in {"GET", "HEAD", "POST"}
        assert path.startswith(("/slack/", "/email/", "/a/", "/hooks/", "/r/"))
