"""What people say in Slack comes in once, with who said it; what bots say does not."""

from __future__ import annotations

import asyncio

import pytest

from agent_core.errors import ParleyError
from channels.inbound import Edit, Message, Stop
from channels.intake import Received
from channels.people import Actor
from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.premises import on_duty

ANN = Actor(id="slack:T1:U1", name="ann", email="ann@example.com", how="slack")


@pytest.mark.parametrize("first", ["message", "app_mention", "together"])
async def test_a_mention_is_taken_once_in_whichever_order_it_is_told(
    channel: SlackChannel,
    team: Workspace,
    recording: Recording,
    slack: SlackDouble,
    first: str,
) -> None:
    """A mention comes as `message` and as `app_mention`: one message, with one key."""
    said = await team.says("U1", "C1", "<@UBOT> hi &lt;there&gt;", first=first)  # type: ignore[arg-type]
    await slack.settled()

    assert recording.intake.taken == [
        Message(
            key=f"slack:T1:C1:{said.ts}",
            place=f"slack:T1:C1:{said.ts}",
            actor=ANN,
            text="hi <there>",
            is_addressed=True,
            said_at=int(said.ts.replace(".", "")) // 1000,
        )
    ]
    assert len(recording.intake.tried) == 2


async def test_a_direct_message_is_addressed_to_us(
    channel: SlackChannel, team: Workspace, recording: Recording
) -> None:
    """Between us and one person nobody needs to be mentioned."""
    room = team.dm("U1")
    said = await team.says("U1", room.id, "hello")

    [message] = recording.intake.taken
    assert isinstance(message, Message)
    assert message.is_addressed
    assert message.place == f"slack:T1:{room.id}:{said.ts}"


async def test_a_reply_in_a_thread_is_told_without_being_addressed(
    channel: SlackChannel, team: Workspace, recording: Recording
) -> None:
    """Whether the agent is in that thread, the intake knows; what begins one names us."""
    root = await team.says("U1", "C1", "anyone?")
    await team.says("U2", "C1", "me", thread_ts=root.ts)

    [reply] = recording.intake.taken
    assert isinstance(reply, Message)
    assert (reply.place, reply.is_addressed) == (f"slack:T1:C1:{root.ts}", False)


async def test_an_operator_can_require_a_mention(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """Then words in a channel without one never reach the intake; direct messages still do."""
    async with on_duty(slack, recording, require_mention=True):
        root = await team.says("U1", "C1", "<@UBOT> hi")
        await team.says("U1", "C1", "more", thread_ts=root.ts)
        await team.says("U1", team.dm("U1").id, "psst")

    assert [one.text for one in recording.intake.taken if isinstance(one, Message)] == [
        "hi",
        "psst",
    ]


async def test_bots_joins_unfurls_and_deletions_bring_nothing(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Only people launch agents: two bots can't keep each other talking."""
    team.user("U5", name="robot", is_bot=True)
    await team.joins("U5", "C1")
    await team.says("U5", "C1", "<@UBOT> I am a robot")
    await team.bot_says("C1", "<@UBOT> I am an old bot")
    await team.bot_says("C1", "<@UBOT> so am I", user="U7", subtype=None)
    said = await team.says("U1", "C1", "<@UBOT> see https://example.com")
    await team.unfurls(said, "https://example.com")
    await team.deletes(said)
    await slack.settled()

    assert {one.key for one in recording.intake.tried} == {f"slack:T1:C1:{said.ts}"}
    assert all(delivery.acked for delivery in slack.deliveries)


async def test_what_we_say_ourselves_brings_nothing(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Slack tells an app of its own posts too."""
    recording.intake.script.append(Received(effect="refused", words="Not here."))
    said = await team.says("U1", team.dm("U1").id, "hello")
    await slack.until(lambda: team.posted(team.dm("U1").id, said.ts))
    await slack.settled()

    assert len(recording.intake.tried) == 1


async def test_an_edit_names_the_message_as_it_first_came(
    channel: SlackChannel, team: Workspace, recording: Recording
) -> None:
    """A person's change of the words is a correction."""
    said = await team.says("U1", "C1", "<@UBOT> pay 100")
    await team.edits(said, "<@UBOT> pay 10")

    edit = recording.intake.taken[-1]
    assert isinstance(edit, Edit)
    assert edit.original == f"slack:T1:C1:{said.ts}"
    assert edit.key.startswith(f"{edit.original}:edit:")
    assert edit.text == "pay 10"
    assert edit.actor == ANN


async def test_slacks_own_stop_button_is_a_stop(
    channel: SlackChannel, team: Workspace, recording: Recording
) -> None:
    """It names the thread that the agent works in."""
    root = await team.says("U1", "C1", "<@UBOT> work")
    await team.stops_session("U1", "C1", root.ts)

    stop = recording.intake.taken[-1]
    assert isinstance(stop, Stop)
    assert stop.place == f"slack:T1:C1:{root.ts}"
    assert stop.actor == ANN


async def test_people_of_another_organisation_are_external_and_named_by_it(
    channel: SlackChannel, team: Workspace, recording: Recording
) -> None:
    """Over Slack Connect the workspace stays ours; the person is theirs, without their email."""
    said = await team.says("U9", "C3", "<@UBOT> hello")

    [message] = recording.intake.taken
    assert message.place == f"slack:T1:C3:{said.ts}"
    assert message.actor == Actor(id="slack:T9:U9", name="eve", is_external=True, how="slack")


async def test_nothing_is_acknowledged_before_it_is_taken(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Persist, then acknowledge: while the intake works, Slack waits."""
    may_go_on = asyncio.Event()
    recording.intake.hold = may_go_on.wait
    saying = asyncio.create_task(team.says("U1", team.dm("U1").id, "hello"))
    await recording.intake.until(1)

    assert not slack.deliveries[-1].attempts
    may_go_on.set()
    await saying
    assert slack.deliveries[-1].acked


@pytest.mark.parametrize("trouble", [ParleyError("the disk is full"), RuntimeError("a bug")])
async def test_what_could_not_be_taken_comes_again_and_is_taken_then(
    channel: SlackChannel,
    team: Workspace,
    recording: Recording,
    slack: SlackDouble,
    trouble: Exception,
) -> None:
    """Slack tries again what isn't acknowledged; a retry is not dropped for being one."""
    slack.retries.timeout = 1.0
    recording.intake.script.append(trouble)
    said = await team.says("U1", team.dm("U1").id, "hello")
    await slack.settled()

    assert [one.key.rpartition(":")[2] for one in recording.intake.taken] == [said.ts]
    assert len(slack.deliveries[-1].attempts) == 2


async def test_a_copy_of_what_was_taken_is_acknowledged_and_does_nothing(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """When Slack missed our answer, it sends the same again."""
    slack.retries.duplicates = 2
    await team.says("U1", team.dm("U1").id, "hello")
    await slack.settled()

    assert len(recording.intake.taken) == 1
    assert len(recording.intake.tried) == 3


async def test_a_refusal_is_told_to_the_writer_alone(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Everyone who writes gets an answer; the channel is not bothered with it."""
    no = Received(effect="refused", words="Ask <!channel> & others first.")
    recording.intake.script += [no, no]
    said = await team.says("U1", "C1", "<@UBOT> hi")

    [told, *_] = await slack.until(lambda: team.ephemerals("C1", "U1"))
    assert told.text == "Ask &lt;!channel&gt; &amp; others first."
    assert told.thread_ts == said.ts
    assert not team.posted("C1", said.ts)
