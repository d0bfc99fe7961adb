"""Commands, the shortcut, the Home page, and files: what else people bring."""

from __future__ import annotations

import pytest

from agent_core.errors import ParleyError
from agent_core.thread.events import Attachment
from channels.inbound import Command, Message
from channels.intake import Received
from channels.people import Actor
from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.premises import approval

ANN = Actor(id="slack:T1:U1", name="ann", email="ann@example.com", how="slack")


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("status", ("status", "")),
        ("Pause th_1", ("pause", "th_1")),
        ("resume th_1 but &lt; 10", ("resume", "th_1 but < 10")),
        ("cancel", ("cancel", "")),
        ("", ("help", "")),
        ("make me a sandwich", ("help", "")),
    ],
)
async def test_a_command_is_answered_where_it_was_given(
    channel: SlackChannel,
    team: Workspace,
    recording: Recording,
    typed: str,
    understood: tuple[str, str],
) -> None:
    """Only who gave it sees the answer; what we don't know gets help."""
    recording.intake.script.append(Received(effect="taken", words="Nothing is under way."))
    given = await team.command("U1", "C1", "/parley", typed)

    [command] = recording.intake.tried
    assert isinstance(command, Command)
    assert (command.name, command.argument) == understood
    assert (command.place, command.actor) == ("slack:T1:C1", ANN)
    assert given.response == {"response_type": "ephemeral", "text": "Nothing is under way."}


async def test_two_commands_are_two(
    channel: SlackChannel, team: Workspace, recording: Recording
) -> None:
    """The same words again are another wish, not a copy."""
    await team.command("U1", "C1", "/parley", "status")
    await team.command("U1", "C1", "/parley", "status")

    assert len(recording.intake.taken) == 2


async def test_a_command_that_could_not_be_taken_is_told_so(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Slack sends no command twice."""
    slack.retries.timeout = 1.0
    recording.intake.script.append(ParleyError("the disk is full"))
    given = await team.command("U1", "C1", "/parley", "status")

    assert not given.acked
    [told] = await slack.until(lambda: team.ephemerals("C1", "U1"))
    assert "try again" in told.text


# The shortcut


async def test_the_shortcut_asks_the_agent_about_a_message_in_its_thread(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """A form first; what is typed and what was said go together, addressed to the agent."""
    said = await team.says("U2", "C1", "The parcel came late.\nAnd wet.")
    await team.shortcut("U1", said, "parley_ask")
    await slack.until(lambda: team.open_view("U1"))
    await team.submits("U1", {"words": {"words": "Refund this?"}})

    asked = recording.intake.taken[-1]
    assert isinstance(asked, Message)
    assert asked.text == "Refund this?\n\n@bob wrote:\n> The parcel came late.\n> And wet."
    assert asked.place == f"slack:T1:C1:{said.ts}"
    assert asked.is_addressed
    assert asked.actor == ANN


async def test_the_shortcut_needs_no_words_of_its_own(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """The message itself may be all there is to say, and a bot may have said it."""
    root = await team.says("U2", "C1", "Look:")
    said = await team.bot_says("C1", "Build 7 is red.", user="U8", thread_ts=root.ts)
    await team.shortcut("U1", said, "parley_ask")
    await team.submits("U1")

    asked = recording.intake.taken[-1]
    assert isinstance(asked, Message)
    assert asked.text == "@otherbot wrote:\n> Build 7 is red."
    assert asked.place == f"slack:T1:C1:{root.ts}"


async def test_another_apps_shortcut_is_not_ours(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """It is acknowledged, and that is all."""
    said = await team.says("U2", "C1", "hello")
    await team.shortcut("U1", said, "something_else")
    await slack.settled()

    assert team.open_view("U1") is None
    assert all(delivery.acked for delivery in slack.deliveries)


# The Home page


async def test_the_home_page_shows_what_waits(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """It is made when somebody looks, for exactly that person."""
    recording.desk.cards["q_1"] = approval()
    await team.opens_home("U1")

    home = await slack.until(lambda: team.home("U1"))
    assert "Refund order A-123?" in str(home.blocks)
    assert recording.desk.asked_for == [ANN]


async def test_the_messages_tab_of_the_app_is_not_its_home(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Opening the direct messages publishes nothing."""
    await team.opens_home("U1", tab="messages")
    await slack.settled()

    assert not recording.desk.asked_for


async def test_a_decision_on_the_home_page_is_taken_and_the_page_is_made_anew(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Its place is the person: nobody else sees it."""
    recording.desk.cards["q_1"] = approval()
    await team.opens_home("U1")
    home = await slack.until(lambda: team.home("U1"))
    await team.clicks_view("U1", "parley:approve", view=home)

    [decision] = recording.intake.taken
    assert decision.place == "slack:T1:U1"
    await slack.until(lambda: len(slack.calls("views.publish")) == 2)


# Files


async def test_a_text_file_is_given_with_its_text(
    channel: SlackChannel, team: Workspace, recording: Recording
) -> None:
    """Named always; what is small and text is read before it is acknowledged."""
    content = "order;amount\nA-123;49,90 €"
    table = team.file("orders.csv", content.encode(), user="U1", mimetype="text/csv")
    picture = team.file("cat.png", b"\x89PNG...", user="U1", mimetype="image/png")
    await team.says("U1", "C1", "<@UBOT> see these", files=[table, picture])

    message = recording.intake.taken[0]
    assert isinstance(message, Message)
    assert message.attachments == (
        Attachment(name="orders.csv", media_type="text/csv", size=28, text=content),
        Attachment(name="cat.png", media_type="image/png", size=7, note="named only: not text"),
    )


async def test_a_file_without_words_is_a_message(
    channel: SlackChannel, team: Workspace, recording: Recording
) -> None:
    """Somebody drops a file into our direct messages, and says nothing."""
    note = team.file("note.txt", b"pay me", user="U1")
    await team.says("U1", team.dm("U1").id, "", files=[note])

    [message] = recording.intake.taken
    assert isinstance(message, Message)
    assert (message.text, message.attachments[0].text) == ("", "pay me")


async def test_a_file_of_another_organisation_is_asked_for(
    channel: SlackChannel, team: Workspace, recording: Recording
) -> None:
    """Over Slack Connect a message tells only the id of a file."""
    note = team.file("note.txt", b"pay me", user="U9", access="check_file_info")
    await team.says("U9", "C3", "<@UBOT> this", files=[note])

    message = recording.intake.taken[0]
    assert isinstance(message, Message)
    assert (message.attachments[0].name, message.attachments[0].text) == ("note.txt", "pay me")
