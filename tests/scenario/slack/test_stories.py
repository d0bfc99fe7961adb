"""Whole stories in Slack: over HTTP and over Socket Mode, with a real server that may die."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from channels.slack.double.records import Message
from tests.doubles.cores import waited_for_cores
from tests.scenario.slack.workplace import Way, Workplace, buttons, workplace

pytestmark = pytest.mark.timeout(120)

BOTH = pytest.mark.parametrize("way", ["http", "socket"])


async def approval(here: Workplace, *, kill_after: str = "") -> None:
    """Ann asks, Otto approves, and everybody sees how it ended."""

    async def passed(step: str) -> None:
        if step == kill_after:
            await here.restart()

    await here.start()
    root = await here.mention()
    await passed("mention")
    card = await here.reply(root)
    assert "1042" in str(card.blocks)
    await passed("card")
    await here.team.clicks("UOTTO", here.replies(root)[0], "parley:approve")
    await passed("click")
    settled = await here.settled(card, "Approved")
    assert (buttons(settled), "UOTTO" in str(settled.blocks)) == (set(), True)
    await passed("settled")
    result = await here.reply(root, 2)
    if "cut off" in result.text:  # it died while the tool ran: only a person knows
        truth = "it_happened" if here.ledger else "run_again"
        await here.team.clicks("UOTTO", result, _button_of(result, truth))
        result = await here.reply(root, 3)
    assert "Done." in result.text
    assert here.ledger == ["1042 59.9"]


def _button_of(card: Message, words: str) -> str:
    """Find the button that says so."""
    return next(
        str(element["action_id"])
        for block in card.blocks
        if block["type"] == "actions"
        for element in block["elements"]
        if words in element["text"]["text"]
    )


@BOTH
async def test_approval_is_asked_answered_and_carried_out(way: Way, tmp_path: Path) -> None:
    """The question in the thread, the buttons, the card that says who, the result."""
    async with workplace(tmp_path / "parley", way) as here:
        await approval(here)


@BOTH
@pytest.mark.parametrize("step", ["mention", "card", "click", "settled"])
async def test_story_survives_a_kill_between_any_two_steps(
    way: Way, step: str, tmp_path: Path
) -> None:
    """One card, one payment, one result, wherever it died."""
    async with workplace(tmp_path / "parley", way) as here:
        await approval(here, kill_after=step)
        root = here.team.messages("C1")[0]
        await here.slack.settled()

        cards = [one for one in here.replies(root) if "May I run" in one.text]
        assert len(cards) == 1
        assert len({one.text for one in here.replies(root)}) == len(here.replies(root))


@BOTH
async def test_mention_while_the_server_is_down_is_taken_when_it_is_back(
    way: Way, tmp_path: Path
) -> None:
    """Slack tries again; nothing is lost that was never acknowledged."""
    async with workplace(tmp_path / "parley", way) as here:
        await here.start()
        here.slack.retries.delays = (0.5, 2.0, 8.0)  # as patient as Slack, in our time
        await here.server.stop()
        saying = asyncio.create_task(here.mention("hello"))
        await asyncio.sleep(0.15)
        await here.start()
        root = await saying
        reply = await here.reply(root)
        await here.slack.settled()

    assert (reply.text, len(here.replies(root))) == ("You said: hello", 1)


async def test_denial_with_a_reason_goes_back_to_the_agent(tmp_path: Path) -> None:
    """By a dialog; nothing is paid, and the card says why."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention()
        card = await here.reply(root)
        await here.team.clicks("UOTTO", card, "parley:deny-reason")
        view = await here.until(lambda: here.team.open_view("UOTTO"))
        assert view is not None
        (field,) = [one for one in view.blocks if one["type"] == "input"]
        await here.team.submits(
            "UOTTO", {field["block_id"]: {field["element"]["action_id"]: "not without a receipt"}}
        )
        settled = await here.settled(card, "Denied")
        result = await here.reply(root, 2)

    assert "not without a receipt" in str(settled.blocks)
    assert "not without a receipt" in result.text
    assert here.ledger == []


async def test_approval_with_edits_runs_what_was_approved(tmp_path: Path) -> None:
    """The card shows the difference, and the tool gets the new arguments."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention()
        card = await here.reply(root)
        await here.team.clicks("UOTTO", card, "parley:edit")
        view = await here.until(lambda: here.team.open_view("UOTTO"))
        assert view is not None
        amount = next(
            one for one in view.blocks if one["type"] == "input" and "amount" in str(one["label"])
        )
        element = amount["element"]["action_id"]
        await here.team.submits("UOTTO", {amount["block_id"]: {element: "20"}})
        settled = await here.settled(card, "Approved with edits")
        await here.reply(root, 2)

    assert "59.9" in str(settled.blocks)
    assert here.ledger == ["1042 20.0"]


async def test_click_of_somebody_else_is_explained_in_private(tmp_path: Path) -> None:
    """Only they see it; the card stays as it was, and nothing is paid."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention()
        card = await here.reply(root)
        await here.team.clicks("UEVE", card, "parley:approve")
        (told,) = await here.until(lambda: here.team.ephemerals("C1", "UEVE") or None)

        assert "for" in told.text
        assert "parley:approve" in buttons(here.team.message("C1", card.ts))
        assert here.ledger == []


async def test_form_opens_only_for_those_who_may_answer(tmp_path: Path) -> None:
    """Others are told at once, and not after they have filled it in."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention()
        card = await here.reply(root)
        await here.team.clicks("UEVE", card, "parley:edit")
        (told,) = await here.until(lambda: here.team.ephemerals("C1", "UEVE") or None)
        [(noted,)] = here.server.rows(
            "SELECT count(*) FROM events WHERE body LIKE '%AnswerRefused%'"
        )

    assert "may not answer" in told.text
    assert (here.team.open_view("UEVE"), noted) == (None, 1)


async def test_late_click_is_told_who_was_first(tmp_path: Path) -> None:
    """Two click at the same moment: one decides, the other is told."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention()
        card = await here.reply(root)
        await here.team.clicks("UOTTO", card, "parley:deny")
        await here.settled(card, "Denied")
        await here.team.clicks("UOTTO", card, "parley:approve", stale=True)
        (told,) = await here.until(lambda: here.team.ephemerals("C1", "UOTTO") or None)

    assert "answered by" in told.text
    assert here.ledger == []


async def test_choice_and_form_are_answered_where_they_are_asked(tmp_path: Path) -> None:
    """A button for each option; a dialog for the form, with mistakes told in it."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        first = await here.mention("which one?")
        card = await here.reply(first)
        blue = next(one for one in sorted(buttons(card)) if one.endswith("1"))
        await here.team.clicks("UANN", card, blue)
        chosen = await here.reply(first, 2)

        second = await here.mention("a form please")
        card = await here.reply(second)
        await here.team.clicks("UANN", card, "parley:fill")
        view = await here.until(lambda: here.team.open_view("UANN"))
        assert view is not None
        inputs = {
            str(one["label"]["text"]): (one["block_id"], one["element"]["action_id"])
            for one in view.blocks
            if one["type"] == "input"
        }
        (size, s), (count, n), (code, c) = (inputs[one] for one in ("Size", "How many", "Code"))
        wrong = await here.team.submits("UANN", {size: {s: "L"}, count: {n: "3"}, code: {c: "x"}})
        await here.team.submits("UANN", {size: {s: "L"}, count: {n: "3"}, code: {c: "ABC"}})
        filled = await here.reply(second, 2)

    assert "blue" in chosen.text
    assert wrong["response_action"] == "errors"
    assert '"count":3' in filled.text.replace(" ", "")


async def test_words_in_the_thread_go_on_without_a_mention(tmp_path: Path) -> None:
    """A reply is part of the conversation; a plain yes of an approver decides."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention("hello")
        await here.reply(root)
        await here.team.says("UEVE", "C1", "and hello again", thread_ts=root.ts)
        more = await here.reply(root, 2)

        ask = await here.mention("refund order 7")
        card = await here.reply(ask)
        await here.team.says("UOTTO", "C1", "yes", thread_ts=ask.ts)
        await here.settled(card, "Approved")
        await here.reply(ask, 2)

    assert "and hello again" in more.text
    assert here.ledger == ["7 59.9"]


async def test_direct_message_command_and_home(tmp_path: Path) -> None:
    """What people do elsewhere than in a channel."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        dm = here.team.dm("UANN")
        said = await here.team.says("UANN", dm, "refund order 9")
        card = await here.until(lambda: here.team.posted(dm, said.ts) or None)
        status = await here.team.command("UANN", "C1", "/parley", "status")
        told = await here.until(lambda: here.team.ephemerals("C1", "UANN") or None)
        await here.team.opens_home("UOTTO")
        home = await here.until(lambda: here.team.home("UOTTO"))

    assert card
    assert status.acked
    assert told
    assert "waits for an answer" in told[-1].text
    assert home is not None
    assert "9" in str(home.blocks)


async def test_slack_down_in_the_middle_delays_and_repeats_nothing(tmp_path: Path) -> None:
    """Everything arrives afterwards, once, in order."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention()
        card = await here.reply(root)
        here.slack.fail("chat.update", status=500, times=1)
        here.slack.fail("chat.postMessage", status=500, times=1)
        await here.team.clicks("UOTTO", card, "parley:approve")
        result = await here.reply(root, 2)
        settled = here.team.message("C1", card.ts)
        await here.slack.settled()

    assert "Refunded" in result.text
    assert "Approved" in str(settled.blocks), "first the decision, then the result"
    assert len(here.replies(root)) == 2


async def test_unclear_answer_from_slack_posts_no_second_card(tmp_path: Path) -> None:
    """The connection broke after Slack had posted it: look first."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        here.slack.fail("chat.postMessage", drop="after", times=1)
        root = await here.mention()
        card = await here.reply(root)
        await here.until(lambda: len(here.slack.calls("conversations.replies")) or None)
        await here.team.clicks("UOTTO", card, "parley:approve")
        await here.reply(root, 2)
        await here.slack.settled()

    assert len(here.replies(root)) == 2


async def test_archived_channel_sends_the_question_to_the_person(tmp_path: Path) -> None:
    """To the approver's direct messages, where it can be answered."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        here.slack.fail("chat.postMessage", error="is_archived", times=1)
        await here.mention()
        dm = here.team.dm("UOTTO")
        cards = await here.until(lambda: here.team.posted(dm) or None)
        assert cards
        await here.team.clicks("UOTTO", cards[0], "parley:approve")
        await here.until(lambda: here.ledger or None)

    assert here.ledger == ["1042 59.9"]


def _says_approved(card: Message) -> bool | None:
    return "Approved" in str(card.blocks) or None


async def test_question_for_somebody_else_leaves_the_direct_messages(tmp_path: Path) -> None:
    """Who is asked could never see it there; every copy says how it ended."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        ann, otto = here.team.dm("UANN"), here.team.dm("UOTTO")
        root = await here.team.says("UANN", ann.id, "refund order 7")
        (copy,) = await here.until(lambda: here.team.posted(otto) or None)
        await here.team.clicks("UOTTO", copy, "parley:approve")
        await here.until(lambda: _says_approved(here.team.posted(otto)[0]))
        await here.until(lambda: _says_approved(here.team.posted(ann, root.ts)[0]))
        await here.until(lambda: here.ledger or None)

    assert here.ledger == ["7 59.9"]
    assert len(here.team.posted(otto)) == 1


@BOTH
async def test_two_hundred_mentions_at_once_are_each_taken_in_time(
    way: Way, tmp_path: Path
) -> None:
    """Acked after they are durable, before Slack would send again; each is one thread."""
    async with workplace(tmp_path / "parley", way) as here:
        await here.start()
        slack_waits, here.slack.retries.timeout = here.slack.retries.timeout, 30.0
        before = waited_for_cores(os.getpid(), here.server.pid)
        await asyncio.gather(*(here.mention(f"number {n}") for n in range(200)))
        held_up = waited_for_cores(os.getpid(), here.server.pid) - before
        events = [one for one in here.slack.deliveries if one.attempts]
        [(threads,)] = here.server.rows("SELECT count(*) FROM threads")

    slowest = max(one.attempts[0].took for one in events)
    print(f"the slowest of {len(events)} was acked after {slowest:.2f} s")  # noqa: T201
    assert threads == 200
    assert {len(one.attempts) for one in events} == {1}
    assert slowest - held_up < slack_waits, "or Slack would have sent it again"


async def test_two_of_the_leads_must_approve_the_same(tmp_path: Path) -> None:
    """Not whoever asked; an edit is shown as a difference, and agreed to by a button of its own."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention("pay a bonus")
        card = await here.reply(root)
        await here.team.clicks("UANN", card, "parley:approve")
        (refused,) = await here.until(lambda: here.team.ephemerals("C1", "UANN") or None)
        await here.team.clicks("UEVE", card, "parley:approve")
        once = await here.settled(card, "<@UEVE> :white_check_mark: approved")
        await here.team.clicks("UOTTO", once, "parley:edit")
        view = await here.until(lambda: here.team.open_view("UOTTO"))
        assert view is not None
        amount = next(one for one in view.blocks if one["type"] == "input")
        element = amount["element"]["action_id"]
        await here.team.submits("UOTTO", {amount["block_id"]: {element: "300"}})
        edited = await here.settled(card, "+ amount: 300")
        offered = buttons(edited)  # now: it changes with the card
        await here.restart()
        await here.team.clicks("UEVE", edited, "parley:agree-1")
        settled = await here.settled(card, "Approved with edits")
        result = await here.reply(root, 2)

    assert "somebody else must approve it" in refused.text
    assert {"parley:approve", "parley:deny", "parley:agree-1"} <= offered
    assert buttons(settled) == set()
    assert "Paid 300 EUR." in result.text
    assert here.ledger == ["bonus 300"]


async def test_never_mind_withdraws_the_question(tmp_path: Path) -> None:
    """Said in the thread by whoever asked; the card says so, and nothing is paid."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention("pay a bonus")
        card = await here.reply(root)
        await here.team.says("UANN", "C1", "Never mind!", thread_ts=root.ts)
        settled = await here.settled(card, "Withdrawn")
        await here.reply(root, 2)

    assert (buttons(settled), here.ledger) == (set(), [])
