"""Sending over real sockets: into the right conversation, once, whole, in order, or not at all."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from channels.channel import GiveUp, NoSuchAddress, TryLater
from channels.outgoing import Outgoing, QuestionCard
from channels.slack.double import Message
from channels.slack.double.trouble import Drop
from channels.slack.finding import metadata
from channels.slack.pacing import Pace
from tests.unit.channels.slack.sending.wires import CARD, Wires, wired

LONG = "\n\n".join(f"paragraph {at} " + "word " * 400 for at in range(15))
"""Three messages' worth."""
SETTLED = replace(CARD, status="answered", answer={"approved": True}, answered_by="slack:T1:U1")


def shown(message: Message) -> str:
    """Give the Markdown of a message."""
    return "\n".join(block["text"] for block in message.blocks if block["type"] == "markdown")


def kinds(message: Message) -> list[str]:
    """Give the kinds of a message's blocks."""
    return [block["type"] for block in message.blocks]


async def test_result_is_posted_into_its_thread(wires: Wires) -> None:
    """With blocks, words for notifications, and metadata to find it by."""
    sent = await wires.sending.send(wires.result("All **done**."))

    (message,) = wires.said
    assert shown(message) == "All **done**."
    assert message.text == "All **done**."
    assert message.thread_ts == wires.root
    assert message.metadata == metadata("th_1", "th_1.9", 0)
    assert sent.receipt == {
        "team": "T1",
        "channel": "C1",
        "ts": message.ts,
        "pieces": [message.ts],
        "root": wires.root,
        "id": "th_1.9",
    }
    assert sent.place == ""


async def test_nothing_is_fetched_for_a_preview(wires: Wires) -> None:
    """A link in an answer may carry what somebody talked the model into giving away."""
    await wires.sending.send(wires.result("see https://example.com/?leak=secret"))

    (call,) = wires.slack.calls("chat.postMessage")
    assert not call.args["unfurl_links"]
    assert not call.args["unfurl_media"]


async def test_long_result_is_posted_in_pieces_in_order(wires: Wires) -> None:
    """Nothing is lost between them."""
    sent = await wires.sending.send(wires.result(LONG))

    assert "\n\n".join(map(shown, wires.said)).split() == LONG.split()
    assert [message.metadata for message in wires.said] == [
        metadata("th_1", "th_1.9", part) for part in range(len(wires.said))
    ]
    assert sent.receipt["pieces"] == [message.ts for message in wires.said]
    assert len(wires.said) > 2


async def test_person_is_reached_by_a_direct_message(wires: Wires) -> None:
    """The conversation that it opens is the place of what they say there."""
    sent = await wires.sending.send(
        wires.message("question.asked", question=CARD, address="slack:T1:U1")
    )

    direct = wires.team.dm("U1")
    (message,) = wires.team.posted(direct.id)
    assert "actions" in kinds(message)
    assert sent.place == f"slack:T1:{direct.id}:{message.ts}"
    assert sent.receipt["root"] == message.ts


@pytest.mark.parametrize("drop", ["before", "after"])
async def test_unclear_outcome_is_looked_into_before_sending_again(
    wires: Wires, drop: Drop
) -> None:
    """Whether the broken call got through or not, the message stands there once."""
    wires.slack.fail("chat.postMessage", drop=drop)
    with pytest.raises(TryLater):
        await wires.sending.send(wires.result("Done."))

    sent = await wires.sending.send(wires.result("Done.", attempt=2))

    assert [message.ts for message in wires.said] == [sent.receipt["ts"]]


@pytest.mark.parametrize("drop", ["before", "after"])
async def test_direct_message_is_looked_for_too(wires: Wires, drop: Drop) -> None:
    """Where there is no thread yet, in the channel's history."""
    asked = wires.message("question.asked", question=CARD, address="slack:T1:U1")
    wires.slack.fail("chat.postMessage", drop=drop)
    with pytest.raises(TryLater):
        await wires.sending.send(asked)

    sent = await wires.sending.send(replace(asked, attempt=2))

    messages = wires.team.posted(wires.team.dm("U1").id)
    assert [message.ts for message in messages] == [sent.receipt["ts"]]


async def test_retry_goes_on_after_the_last_piece_that_is_there(wires: Wires) -> None:
    """Cut off between two pieces, the rest follows, and nothing twice."""
    await wires.sending.send(wires.result(LONG))
    whole = [shown(message) for message in wires.said]
    again = replace(wires.result(LONG), id="th_1.11")
    with pytest.raises(TryLater):
        await _first_only(wires, again)

    await wires.sending.send(replace(again, attempt=2))

    assert [shown(message) for message in wires.said] == whole * 2


async def _first_only(wires: Wires, message: Outgoing) -> None:
    """Let the first piece through, and cut off the rest."""
    sending = asyncio.create_task(wires.sending.send(message))
    count = len(wires.said)
    await wires.slack.until(lambda: len(wires.said) > count)
    wires.slack.fail("chat.postMessage", drop="before", times=5)
    try:
        await sending
    finally:
        wires.slack.heal()


async def test_message_of_another_bot_with_our_metadata_is_not_ours(wires: Wires) -> None:
    """Any app may write any metadata: a forged one must not keep our message back."""
    await wires.sending.send(wires.result("Done."))
    forged = wires.said[0]
    forged.bot_id = "BEVIL"

    await wires.sending.send(wires.result("Done.", attempt=2))

    assert len(wires.said) == 1
    assert wires.said[0].ts != forged.ts


async def test_delivery_of_another_thread_is_not_taken_for_this_one(wires: Wires) -> None:
    """Ids are unique within a thread, and two threads may speak in one place."""
    await wires.sending.send(replace(wires.result("Theirs."), thread="th_2"))

    await wires.sending.send(wires.result("Ours.", attempt=2))

    assert [message.text for message in wires.said] == ["Theirs.", "Ours."]


async def test_without_the_scope_to_look_it_is_sent(wires: Wires) -> None:
    """Twice is better than never."""
    wires.slack.fail("conversations.replies", error="missing_scope")

    await wires.sending.send(wires.result("Done.", attempt=2))

    assert len(wires.said) == 1


async def test_long_thread_is_searched_page_by_page(wires: Wires) -> None:
    """The message is found behind hundreds of others."""
    for at in range(230):
        await wires.team.says("U1", "C1", f"talk {at}", thread_ts=wires.root)
    await wires.sending.send(wires.result("Done."))

    await wires.sending.send(wires.result("Done.", attempt=2))

    assert len(wires.said) == 1
    assert len(wires.slack.calls("conversations.replies")) >= 2


# --- settling -------------------------------------------------------------------------------------


async def test_settled_card_says_who_decided_and_has_no_buttons(wires: Wires) -> None:
    """The message itself is changed, and is found by its metadata as before."""
    sent = await wires.sending.send(wires.message("question.asked", question=CARD))
    assert "actions" in kinds(wires.said[0])

    await wires.sending.settle(
        sent.receipt, wires.message("question.settled", question=SETTLED, ident="th_1.12")
    )

    (message,) = wires.said
    assert "actions" not in kinds(message)
    assert "*Approved* by <@U1>" in str(message.blocks)
    assert message.metadata == metadata("th_1", "th_1.9", 0)


@pytest.mark.parametrize("is_direct", [False, True])
async def test_every_copy_of_a_card_is_settled(wires: Wires, *, is_direct: bool) -> None:
    """Two machines may have posted it at once, and only one receipt is known."""
    place = "slack:T1:U1" if is_direct else f"slack:T1:C1:{wires.root}"
    asked = wires.message("question.asked", question=CARD, address=place)
    sent = await wires.sending.send(asked)
    await wires.sending.send(asked)
    other = await wires.sending.send(replace(asked, id="th_1.10"))
    settled = wires.message("question.settled", question=SETTLED, address=place)

    await wires.sending.settle(sent.receipt, replace(settled, tries=2))

    posted = wires.team.posted(wires.team.dm("U1").id) if is_direct else wires.said
    with_buttons = [one.ts for one in posted if "actions" in kinds(one)]
    assert (len(posted), with_buttons) == (3, [other.receipt["ts"]])


async def test_copies_that_can_not_be_looked_for_keep_no_card_from_being_settled() -> None:
    """Without the scope for histories, the one with a receipt is settled all the same."""
    async with wired() as wires:
        sent = await wires.sending.send(wires.message("question.asked", question=CARD))
        wires.slack.fail("conversations.replies", error="missing_scope")
        settled = wires.message("question.settled", question=SETTLED)
        await wires.sending.settle(sent.receipt, replace(settled, tries=2))

        assert "actions" not in kinds(wires.said[0])


async def test_settling_a_message_that_is_gone_is_fine(wires: Wires) -> None:
    """Somebody deleted it: there is nothing left to click."""
    sent = await wires.sending.send(wires.message("question.asked", question=CARD))
    wires.said[0].deleted = True

    await wires.sending.settle(sent.receipt, wires.message("question.settled", question=SETTLED))

    assert wires.said == []


async def test_settled_card_that_slack_does_not_take_loses_its_buttons_all_the_same(
    wires: Wires,
) -> None:
    """In plain words, rather than with buttons that decide nothing any more."""
    sent = await wires.sending.send(wires.message("question.asked", question=CARD))
    wires.slack.fail("chat.update", error="invalid_blocks")

    await wires.sending.settle(sent.receipt, wires.message("question.settled", question=SETTLED))

    assert kinds(wires.said[0]) == []
    assert wires.said[0].text.startswith("Answered: Pay?")


@pytest.mark.parametrize("trouble", [{"status": 500}, {"drop": "after"}])
async def test_settling_is_tried_again(wires: Wires, trouble: dict[str, Any]) -> None:
    """An update can be repeated without harm."""
    sent = await wires.sending.send(wires.message("question.asked", question=CARD))
    settled = wires.message("question.settled", question=SETTLED)
    wires.slack.fail("chat.update", **trouble)

    with pytest.raises(TryLater):
        await wires.sending.settle(sent.receipt, settled)
    await wires.sending.settle(sent.receipt, settled)

    assert "actions" not in kinds(wires.said[0])


# --- errors, by who must act ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "channel_not_found",
        "is_archived",
        "not_in_channel",
        "token_revoked",
        "account_inactive",
        "invalid_auth",
        "restricted_action",
        "user_not_found",
        "cannot_dm_bot",
        "no_permission",
    ],
)
async def test_final_errors_are_given_up(wires: Wires, name: str) -> None:
    """No try will ever succeed: the question goes to the person's next address."""
    wires.slack.fail("chat.postMessage", error=name)

    with pytest.raises(GiveUp, match=name):
        await wires.sending.send(wires.result("Done."))


@pytest.mark.parametrize("address", ["slack:T1:C9:1.2", "slack:T1:C8:1.2", "slack:T1:C404:1.2"])
async def test_places_that_cannot_be_posted_in_are_given_up(wires: Wires, address: str) -> None:
    """Archived, not a member, not there; as Slack itself says it."""
    with pytest.raises(GiveUp):
        await wires.sending.send(wires.result("Done.", address=address))


@pytest.mark.parametrize("address", ["slack:T1", "slack:", "slack:T1:C1:yesterday", "email:a@b.c"])
async def test_address_that_names_nobody_is_given_up(wires: Wires, address: str) -> None:
    """And says so, by its own error."""
    with pytest.raises(NoSuchAddress):
        await wires.sending.send(wires.result("Done.", address=address))


async def test_workspace_without_the_app_is_given_up(wires: Wires) -> None:
    """Nobody is there who could speak."""
    with pytest.raises(GiveUp):
        await wires.sending.send(wires.result("Done.", address="slack:T404:C1:1.2"))


async def test_missing_scope_is_named() -> None:
    """An operator must know what to add."""
    async with wired(scopes=["chat:write"]) as wires:
        with pytest.raises(GiveUp, match=r"conversations\.open needs the scope im:write"):
            await wires.sending.send(wires.result("Done.", address="slack:T1:U1"))


@pytest.mark.parametrize(
    "trouble",
    [
        {"status": 500},
        {"status": 503},
        {"error": "internal_error"},
        {"error": "a_name_of_tomorrow"},
        {"drop": "before"},
        {"hang": 30.0},
    ],
)
async def test_troubles_that_pass_are_tried_later(wires: Wires, trouble: dict[str, Any]) -> None:
    """Slack's own trouble, the network's, and what we have never heard of."""
    wires.connections.session()._timeout = aiohttp.ClientTimeout(total=1)
    wires.slack.fail("chat.postMessage", **trouble)

    with pytest.raises(TryLater):
        await wires.sending.send(wires.result("Done."))


async def test_blocks_that_slack_refuses_become_plain_words(
    wires: Wires, caplog: pytest.LogCaptureFixture
) -> None:
    """Our own mistake: people get the words, and the operator a line in the log."""
    wires.slack.fail("chat.postMessage", error="invalid_blocks")

    await wires.sending.send(wires.message("question.asked", question=CARD))

    (message,) = wires.said
    assert kinds(message) == []
    assert message.text.startswith("Pay?\npay\n```\nn: 1")
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_words_that_slack_refuses_too_are_given_up(wires: Wires) -> None:
    """Once is enough."""
    wires.slack.fail("chat.postMessage", error="msg_too_long", times=2)

    with pytest.raises(GiveUp, match="msg_too_long"):
        await wires.sending.send(wires.result("Done."))
    assert len(wires.slack.calls("chat.postMessage")) == 2


# --- pacing ---------------------------------------------------------------------------------------


async def test_rate_limit_is_obeyed_in_its_channel_alone(wires: Wires) -> None:
    """Until Retry-After is over nothing is even tried there; other channels go on."""
    wires.slack.fail("chat.postMessage", status=429, retry_after=30)
    with pytest.raises(TryLater) as first:
        await wires.sending.send(wires.result("Done."))
    calls = len(wires.slack.calls("chat.postMessage"))
    with pytest.raises(TryLater) as second:
        await wires.sending.send(wires.result("Done."))

    assert first.value.retry_after == 30
    assert second.value.retry_after == pytest.approx(30, abs=5)
    assert len(wires.slack.calls("chat.postMessage")) == calls
    await wires.sending.send(wires.result("Done.", address="slack:T1:C2"))
    assert len(wires.team.posted("C2")) == 1


async def test_rate_limit_of_one_method_does_not_hold_another(wires: Wires) -> None:
    """A card can be settled while posting has to wait."""
    sent = await wires.sending.send(wires.message("question.asked", question=CARD))
    wires.slack.fail("chat.postMessage", status=429, retry_after=30)
    with pytest.raises(TryLater):
        await wires.sending.send(wires.result("Done."))

    await wires.sending.settle(sent.receipt, wires.message("question.settled", question=SETTLED))

    assert "actions" not in kinds(wires.said[0])


async def test_posts_keep_their_distance_within_slacks_rate() -> None:
    """A second apart in one channel: Slack, that counts, never has to say no."""
    async with wired(pace=Pace(seconds=1.05)) as wires:
        wires.slack.rate_limit(per_channel_per_second=1)

        await wires.sending.send(wires.result(LONG))

        assert all(call.ok for call in wires.slack.calls("chat.postMessage"))


async def test_crowd_in_one_channel_is_sent_away_with_a_time() -> None:
    """Who would wait too long comes back later, instead of holding up the others."""
    async with wired(pace=Pace(seconds=100.0)) as wires:
        await wires.sending.send(wires.result("first"))

        with pytest.raises(TryLater) as caught:
            await wires.sending.send(wires.result("second"))

        assert caught.value.retry_after == pytest.approx(100, abs=5)
        await wires.sending.send(wires.result("elsewhere", address="slack:T1:C2"))


async def test_order_is_kept_within_a_thread(wires: Wires) -> None:
    """Sent at once, they stand in the order in which they were given."""
    messages = [replace(wires.result(f"word {at} " * 2_400), id=f"th_1.{at}") for at in range(5)]

    await asyncio.gather(*(wires.sending.send(message) for message in messages))

    order = [shown(message).replace("word", "").split()[0] for message in wires.said]
    assert order == sorted(order)
    assert len(order) > 5


async def test_slack_down_and_up_again_loses_nothing(wires: Wires) -> None:
    """Everything arrives afterwards, once."""
    cards: list[QuestionCard] = [replace(CARD, id=f"q_{at}") for at in range(3)]
    messages = [
        wires.message("question.asked", question=card, ident=f"th_1.{at}")
        for at, card in enumerate(cards)
    ]
    await wires.sending.send(messages[0])
    wires.slack.down()
    for message in messages:
        with pytest.raises(TryLater):
            await wires.sending.send(replace(message, attempt=2))
    wires.slack.up()

    for message in messages:
        await wires.sending.send(replace(message, attempt=3))

    assert [message.metadata for message in wires.said] == [
        metadata("th_1", f"th_1.{at}", 0) for at in range(3)
    ]
