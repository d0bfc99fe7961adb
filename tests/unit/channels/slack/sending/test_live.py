"""The agent at work: a status, its words as they come, and an answer that stands exactly once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from channels.channel import TryLater
from channels.outgoing import Outgoing
from channels.slack.finding import metadata
from channels.slack.streams import LONGEST
from tests.unit.channels.slack.sending.wires import CARD, QUICK, Wires, wired

PATIENT = replace(QUICK, grace=30.0)
RESTLESS = replace(PATIENT, status_every=0.0)
ANSWER = "The refund of **order 17** is on its way."


async def streamed(wires: Wires, *deltas: str, thread: str = "th_1") -> None:
    """Let the agent work and write, and wait until Slack shows it all."""
    wires.live.working(thread, wires.address)
    whole = ""
    for delta in deltas:
        wires.live.wrote(thread, wires.address, delta)
        whole += delta
        await wires.slack.until(lambda: _shown(wires) == whole)  # noqa: B023 - awaited at once


def _shown(wires: Wires) -> str:
    return "".join(message.text for message in wires.said).replace("\u2060", "")


async def two_rounds(wires: Wires) -> None:
    """Wait until whoever shows the agent at work has looked twice for something to do."""
    before = len(wires.slack.calls("assistant.threads.setStatus"))
    await wires.slack.until(
        lambda: len(wires.slack.calls("assistant.threads.setStatus")) >= before + 3
    )


async def sent(wires: Wires, message: Outgoing) -> None:
    """Send it as the gateway does, again and again until it is out."""
    for attempt in range(1, 6):
        try:
            await wires.sending.send(replace(message, attempt=attempt))
        except TryLater:
            continue
        return
    pytest.fail("never sent")


# --- the status -----------------------------------------------------------------------------------


async def test_status_is_shown_while_the_agent_works_and_taken_back(wires: Wires) -> None:
    """Below the thread, and as the session's state."""
    wires.live.working("th_1", wires.address)
    await wires.slack.until(lambda: len(wires.team.statuses("C1", wires.root)) == 2)
    wires.live.rested("th_1", wires.address)
    await wires.slack.until(lambda: len(wires.team.statuses("C1", wires.root)) == 4)

    shown = [status.status for status in wires.team.statuses("C1", wires.root)]
    assert shown == ["processing", "is thinking…", "active", ""]


async def test_agent_that_is_done_at_once_shows_nothing() -> None:
    """No flicker for a quick answer, and no calls."""
    async with wired(options=replace(QUICK, status_after=30.0)) as wires:
        wires.live.working("th_1", wires.address)
        wires.live.wrote("th_1", wires.address, ANSWER)
        wires.live.rested("th_1", wires.address)
        await sent(wires, wires.result(ANSWER))

        assert wires.team.statuses("C1", wires.root) == []
        assert wires.team.streams() == []
        assert [message.text for message in wires.said] == [ANSWER]


async def test_workspace_without_sessions_is_not_asked_again(wires: Wires) -> None:
    """What it can't do is remembered; what it can is still shown."""
    wires.slack.fail("agents.sessions.setStatus", error="unknown_method")
    wires.live.working("th_1", wires.address)
    await wires.slack.until(lambda: wires.team.statuses("C1", wires.root))
    wires.live.rested("th_1", wires.address)
    await wires.slack.until(lambda: len(wires.team.statuses("C1", wires.root)) == 2)

    shown = [status.status for status in wires.team.statuses("C1", wires.root)]
    assert shown == ["is thinking…", ""]
    assert len(wires.slack.calls("agents.sessions.setStatus")) == 1


@pytest.mark.parametrize("address", ["slack:T1:U1", "slack:T1:C1", "slack:nowhere", "web:th_1"])
async def test_place_without_a_thread_has_no_status(wires: Wires, address: str) -> None:
    """And nothing fails for it."""
    wires.live.working("th_1", address)
    wires.live.wrote("th_1", address, "words")
    wires.live.rested("th_1", address)

    assert wires.live._tasks == set()


# --- streaming ------------------------------------------------------------------------------------


async def test_streamed_answer_is_completed_and_not_posted_again() -> None:
    """The stream becomes the message: with the last words, and metadata to find it by."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "The refund of ", "**order 17** is")
        wires.live.rested("th_1", wires.address)

        done = await wires.sending.send(wires.result(ANSWER))

        (message,) = wires.said
        assert message.text == ANSWER
        assert message.metadata == metadata("th_1", "th_1.9", 0)
        assert done.receipt["ts"] == message.ts
        assert [stream.state for stream in wires.team.streams()] == ["stopped"]
        assert wires.slack.calls("chat.postMessage") == []
        assert wires.slack.calls("chat.update") == []
        assert wires.memory.kept == {}


async def test_result_may_come_before_the_agent_is_at_rest() -> None:
    """The outbox is quick: what is sent first wins, and the rest is silent."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "The refund of ")
        await wires.sending.send(wires.result(ANSWER))
        wires.live.wrote("th_1", wires.address, "more")
        wires.live.rested("th_1", wires.address)

        assert [message.text for message in wires.said] == [ANSWER]


async def test_stream_in_a_channel_is_for_who_began_the_conversation() -> None:
    """Slack wants to know."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "Hello")

        (stream,) = wires.team.streams()
        assert (stream.recipient_user, stream.recipient_team) == ("U1", "T1")


async def test_stream_in_direct_messages_needs_no_recipient() -> None:
    """There is only one person it can be for."""
    async with wired(options=PATIENT) as wires:
        direct = wires.team.dm("U1")
        root = (await wires.team.says("U1", direct.id, "pay Ada back")).ts
        address = f"slack:T1:{direct.id}:{root}"
        wires.live.working("th_1", address)
        wires.live.wrote("th_1", address, "The refund")
        await wires.slack.until(wires.team.streams)

        await sent(wires, wires.result(ANSWER, address=address))

        assert [message.text for message in wires.team.posted(direct.id, root)] == [ANSWER]
        assert wires.slack.calls("conversations.replies") == []


async def test_conversation_that_a_bot_began_is_not_streamed_into() -> None:
    """There is nobody whom the stream could be for; the answer is posted."""
    async with wired(options=RESTLESS) as wires:
        posted = await wires.connections.client("xoxb-1").chat_postMessage(channel="C1", text="x")
        wires.team.message("C1", posted["ts"]).user = None
        address = f"slack:T1:C1:{posted['ts']}"
        wires.live.working("th_1", address)
        wires.live.wrote("th_1", address, "The refund")
        await two_rounds(wires)

        await sent(wires, wires.result(ANSWER, address=address))

        assert wires.team.streams() == []
        assert [message.text for message in wires.team.posted("C1", posted["ts"])] == ["x", ANSWER]


async def test_stream_that_somebody_deleted_is_posted_anew() -> None:
    """An answer is not lost with the message that it was to be."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "Let me look. ")
        wires.said[0].deleted = True

        await sent(wires, wires.result(ANSWER))

        assert [message.text for message in wires.said] == [ANSWER]


async def test_stream_that_a_person_stopped_is_not_taken_up_again() -> None:
    """They wanted it to end; what comes of it comes through the outbox."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "The refund of ")
        wires.team.streams()[0].state = "stopped_by_user"
        wires.team.streams()[0].message.streaming = False
        wires.live.wrote("th_1", wires.address, "**order 17**")
        await wires.slack.until(lambda: wires.slack.calls("chat.appendStream"))
        wires.live.rested("th_1", wires.address)
        await sent(wires, wires.message("thread.cancelled", text="by ann"))

        assert len(wires.team.streams()) == 1
        assert [message.text for message in wires.said] == ["The refund of ", "Cancelled. by ann"]


async def test_words_said_on_the_way_are_replaced_by_the_answer() -> None:
    """What the agent said before it used a tool is not part of the result."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "Let me look. ", "The refund")
        wires.live.rested("th_1", wires.address)

        await sent(wires, wires.result(ANSWER))

        (message,) = wires.said
        assert message.text == ANSWER
        assert message.metadata == metadata("th_1", "th_1.9", 0)


async def test_answer_with_a_table_is_replaced_by_its_best_form() -> None:
    """A stream shows Markdown as it is; the message that stays has columns."""
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    async with wired(options=PATIENT) as wires:
        await streamed(wires, table)
        wires.live.rested("th_1", wires.address)

        await sent(wires, wires.result(table))

        (message,) = wires.said
        assert message.blocks[0]["text"] == "```\na  b\n-  -\n1  2\n```"


async def test_answer_longer_than_a_stream_stands_whole_and_once() -> None:
    """The first piece takes the stream's place, and the others follow."""
    answer = "\n\n".join(f"part {at} " + "word " * 400 for at in range(15))
    async with wired(options=PATIENT) as wires:
        wires.live.working("th_1", wires.address)
        wires.live.wrote("th_1", wires.address, answer)
        await wires.slack.until(lambda: len(_shown(wires)) == LONGEST)
        wires.live.rested("th_1", wires.address)

        await sent(wires, wires.result(answer))

        shown = "\n\n".join(message.blocks[0]["text"] for message in wires.said)
        assert shown.split() == answer.split()


async def test_mention_cut_in_two_calls_nobody() -> None:
    """Not even for a moment, wherever the words are cut."""
    async with wired(options=PATIENT) as wires:
        wires.live.working("th_1", wires.address)
        for delta, shown in (
            ("a <", "a "),
            ("!chan", "a <!chan"),
            ("nel> b <", "a <!channel> b "),
            ("@U1", "a <!channel> b <@U1"),
            ("> c", "a <!channel> b <@U1> c"),
        ):
            wires.live.wrote("th_1", wires.address, delta)
            await wires.slack.until(lambda: _shown(wires) == shown)  # noqa: B023 - awaited at once

        calls = wires.slack.calls("chat.startStream") + wires.slack.calls("chat.appendStream")
        texts = [str(call.args["markdown_text"]) for call in calls]
        assert "".join(texts) == "a <\u2060!channel> b <\u2060@U1> c"
        assert not any(text.endswith("<") for text in texts)


async def test_stream_that_slack_ended_goes_on_in_a_new_message() -> None:
    """After some minutes; the answer then stands in two messages, and once."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "The refund of ")
        wires.team.streams()[0].state = "expired"
        wires.team.streams()[0].message.streaming = False
        wires.live.wrote("th_1", wires.address, "**order 17**")
        await wires.slack.until(lambda: _shown(wires) == "The refund of **order 17**")
        wires.live.rested("th_1", wires.address)

        await sent(wires, wires.result(ANSWER))

        assert [message.text for message in wires.said] == [
            "The refund of ",
            "**order 17** is on its way.",
        ]


async def test_stream_that_ended_and_differs_is_replaced_as_a_whole() -> None:
    """Of two messages one stays."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "Let me look. ")
        wires.team.streams()[0].state = "expired"
        wires.team.streams()[0].message.streaming = False
        wires.live.wrote("th_1", wires.address, "The refund")
        await wires.slack.until(lambda: len(wires.team.streams()) == 2)
        wires.live.rested("th_1", wires.address)

        await sent(wires, wires.result(ANSWER))

        assert [message.text for message in wires.said] == [ANSWER]


@pytest.mark.parametrize("error", ["unknown_method", "missing_scope", "feature_not_enabled"])
async def test_workspace_that_cannot_stream_gets_the_answer_at_once(error: str) -> None:
    """It is remembered: the next thread doesn't ask again."""
    async with wired(options=RESTLESS) as wires:
        wires.slack.fail("chat.startStream", error=error)
        for thread in ("th_1", "th_2"):
            wires.live.working(thread, wires.address)
            wires.live.wrote(thread, wires.address, ANSWER)
            await two_rounds(wires)
            wires.live.rested(thread, wires.address)
        await sent(wires, wires.result(ANSWER))

        assert [message.text for message in wires.said] == [ANSWER]
        assert len(wires.slack.calls("chat.startStream")) == 1


async def test_rate_limited_stream_waits_and_goes_on() -> None:
    """Retry-After is obeyed; what was written meanwhile follows."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "The refund of ")
        wires.slack.fail("chat.appendStream", status=429, retry_after=1)
        wires.live.wrote("th_1", wires.address, "**order 17**")
        await wires.slack.until(lambda: _shown(wires) == "The refund of **order 17**")

        assert len(wires.slack.calls("chat.appendStream")) == 2


async def test_endless_words_are_not_kept_in_memory() -> None:
    """Beyond what a stream can show they are only counted on to come with the result."""
    async with wired(options=replace(PATIENT, stream_after=30.0)) as wires:
        wires.live.working("th_1", wires.address)
        for _ in range(1_000):
            wires.live.wrote("th_1", wires.address, "word " * 100)

        assert len(wires.live._shows["th_1"].text) == LONGEST


# --- crashes and lost answers ---------------------------------------------------------------------


async def test_after_a_crash_the_result_takes_the_streams_place() -> None:
    """Another process finishes what this one began."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "The refund of ")
        await wires.live.close()
        wires.restart()

        await sent(wires, wires.result(ANSWER))

        (message,) = wires.said
        assert message.text == ANSWER
        assert message.metadata == metadata("th_1", "th_1.9", 0)
        assert wires.memory.kept == {}


async def test_after_a_crash_no_second_stream_is_begun() -> None:
    """The model is asked again by another worker; its words wait for the result."""
    async with wired(options=RESTLESS) as wires:
        await streamed(wires, "The refund of ")
        await wires.live.close()
        wires.restart()
        wires.live.working("th_1", wires.address)
        wires.live.wrote("th_1", wires.address, ANSWER)
        await two_rounds(wires)
        wires.live.rested("th_1", wires.address)

        await sent(wires, wires.result(ANSWER))

        assert [message.text for message in wires.said] == [ANSWER]
        assert len(wires.team.streams()) == 1


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
@pytest.mark.parametrize("drop", ["before", "after"])
@pytest.mark.parametrize("crashes", [False, True])
async def test_call_without_an_answer_leaves_the_result_once(
    method: str, drop: str, *, crashes: bool
) -> None:
    """Whichever call of a stream is cut off, and whether it got through or not."""
    async with wired(options=PATIENT) as wires:
        wires.slack.fail(method, drop=drop)  # type: ignore[arg-type]
        wires.live.working("th_1", wires.address)
        wires.live.wrote("th_1", wires.address, "The refund of ")
        await wires.slack.until(lambda: wires.slack.calls("chat.startStream"))
        if method == "chat.appendStream":
            await wires.slack.until(lambda: _shown(wires) == "The refund of ")
            wires.live.wrote("th_1", wires.address, "**order")
            await wires.slack.until(lambda: wires.slack.calls("chat.appendStream"))
        wires.live.rested("th_1", wires.address)
        if crashes:
            await wires.live.close()
            wires.restart()

        await sent(wires, wires.result(ANSWER))

        assert [message.text for message in wires.said] == [ANSWER]


async def test_stream_of_another_process_is_stopped_before_the_result() -> None:
    """Who streams notices, and begins no new message."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "The refund of ")
        streaming = wires.live
        wires.restart()
        await sent(wires, wires.result(ANSWER))
        streaming.wrote("th_1", wires.address, "**order")
        await wires.slack.until(lambda: wires.slack.calls("chat.appendStream"))
        streaming.rested("th_1", wires.address)
        await wires.slack.until(lambda: wires.team.statuses("C1", wires.root)[-1].status == "")
        await streaming.close()

        assert [message.text for message in wires.said] == [ANSWER]


async def test_stream_is_not_taken_up_again_while_another_process_completes_it() -> None:
    """Half-way through, the stream has ended and the answer is not there yet."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "Let me look. ")
        streaming = wires.live
        wires.restart()
        wires.slack.fail("chat.update", status=500)
        with pytest.raises(TryLater):
            await wires.sending.send(wires.result(ANSWER))
        streaming.wrote("th_1", wires.address, "**order")
        await wires.slack.until(lambda: wires.slack.calls("chat.appendStream"))
        streaming.rested("th_1", wires.address)
        await wires.slack.until(lambda: wires.team.statuses("C1", wires.root)[-1].status == "")
        await streaming.close()

        await sent(wires, wires.result(ANSWER))

        assert [message.text for message in wires.said] == [ANSWER]
        assert len(wires.team.streams()) == 1


async def test_message_of_somebody_else_with_our_app_is_left_alone() -> None:
    """Only what begins as the answer does can be a stream that was cut off."""
    async with wired(options=PATIENT) as wires:
        client = wires.connections.client("xoxb-1")
        await client.chat_postMessage(channel="C1", thread_ts=wires.root, text="from a script")
        wires.slack.fail("chat.startStream", drop="before")
        wires.live.working("th_1", wires.address)
        wires.live.wrote("th_1", wires.address, "The refund of ")
        await wires.slack.until(lambda: wires.slack.calls("chat.startStream"))

        await sent(wires, wires.result(ANSWER))

        assert [message.text for message in wires.said] == ["from a script", ANSWER]


# --- questions on the way -------------------------------------------------------------------------


async def test_question_leaves_the_words_before_it_as_they_are() -> None:
    """They explain why it is asked; the result comes later, for itself."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "I must ask first. ")
        wires.live.rested("th_1", wires.address)
        await sent(wires, wires.message("question.asked", question=CARD, ident="th_1.5"))
        await sent(wires, wires.result(ANSWER))

        assert [message.text for message in wires.said] == ["I must ask first. ", "Pay?", ANSWER]
        assert wires.team.streams()[0].state == "stopped"


async def test_failure_leaves_the_words_and_follows_them() -> None:
    """What was said stands; that it failed is told below."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "Let me look. ")
        wires.live.rested("th_1", wires.address)
        await sent(wires, wires.message("thread.failed", text="no money"))

        assert [message.text for message in wires.said] == [
            "Let me look. ",
            "The agent could not go on. no money",
        ]


async def test_stream_without_a_result_is_ended(wires: Wires) -> None:
    """The agent came to rest with nothing to send here: the words stand."""
    await streamed(wires, "Let me look. ")
    wires.live.rested("th_1", wires.address)
    await wires.slack.until(lambda: wires.team.streams()[0].state == "stopped")

    await sent(wires, wires.result(ANSWER))

    assert [message.text for message in wires.said] == ["Let me look. ", ANSWER]


async def test_result_that_comes_late_still_takes_its_streams_place(wires: Wires) -> None:
    """Slack was away for a while: what stands there is the answer's beginning."""
    await streamed(wires, "The refund of ")
    wires.live.rested("th_1", wires.address)
    await wires.slack.until(lambda: wires.team.streams()[0].state == "stopped")

    await sent(wires, wires.result(ANSWER))

    assert [message.text for message in wires.said] == [ANSWER]


async def test_words_of_the_last_turn_are_not_taken_for_this_ones(wires: Wires) -> None:
    """When the agent works again, what it said before stands for good."""
    await streamed(wires, "The refund of ")
    wires.live.rested("th_1", wires.address)
    await wires.slack.until(lambda: wires.team.streams()[0].state == "stopped")
    await asyncio.gather(*wires.live._tasks)
    wires.live.working("th_1", wires.address)
    await wires.slack.until(lambda: len(wires.slack.calls("assistant.threads.setStatus")) == 3)
    wires.live.rested("th_1", wires.address)

    await sent(wires, wires.result(ANSWER))

    assert [message.text for message in wires.said] == ["The refund of ", ANSWER]


async def test_trouble_never_reaches_the_agent(
    wires: Wires, caplog: pytest.LogCaptureFixture
) -> None:
    """Slack is away: what the engine calls returns, and nothing is logged as our fault."""
    wires.slack.fail("*", status=500, times=100)
    wires.live.working("th_1", wires.address)
    wires.live.wrote("th_1", wires.address, ANSWER)
    await wires.slack.until(wires.slack.calls)
    wires.live.rested("th_1", wires.address)
    await wires.live.close()

    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_closing_leaves_nothing_running() -> None:
    """Not even a show that waits for its result."""
    async with wired(options=PATIENT) as wires:
        await streamed(wires, "The refund of ")
        wires.live.rested("th_1", wires.address)

        await wires.live.close()

        assert wires.live._tasks == set()
        wires.live.working("th_2", wires.address)
        assert wires.live._tasks == set()
        wires.live.begin(wires.memory)
        wires.live.working("th_2", wires.address)
        assert len(wires.live._tasks) == 1
