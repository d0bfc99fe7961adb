"""What people say reaches the app over HTTP, signed, as Slack sends it."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncSay

from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.double.stage import bolt, heard, served


async def test_a_mention_is_told_as_message_and_as_app_mention(
    slack: SlackDouble, team: Workspace
) -> None:
    """Both carry the same ts, and each its own event id; Bolt accepts the signature."""
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        said = await team.says("U1", "C1", "<@UBOT> hi")
        await slack.settled()

    assert [body["event"]["type"] for body in bodies] == ["message", "app_mention"]
    assert {body["event"]["ts"] for body in bodies} == {said.ts}
    assert len({body["event_id"] for body in bodies}) == 2
    assert bodies[0]["authorizations"][0]["team_id"] == "T1"


async def test_what_people_type_comes_with_the_block_that_slack_makes_of_it(
    slack: SlackDouble, team: Workspace
) -> None:
    """In `text` it is escaped; in the block it is not, and mentions and links stand apart."""
    said = await team.says("U1", "C1", "<@UBOT> a &lt; b <https://x.y/?a&amp;b|see> <#C1|general>")

    section = said.blocks[0]["elements"][0]
    assert section["elements"] == [
        {"type": "user", "user_id": "UBOT"},
        {"type": "text", "text": " a < b "},
        {"type": "link", "url": "https://x.y/?a&b", "text": "see"},
        {"type": "text", "text": " "},
        {"type": "channel", "channel_id": "C1"},
    ]


async def test_the_mention_can_come_first(slack: SlackDouble, team: Workspace) -> None:
    """Slack promises no order, so a test can have the other one."""
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        await team.says("U1", "C1", "<@UBOT> hi", first="app_mention")

    assert [body["event"]["type"] for body in bodies] == ["app_mention", "message"]


async def test_a_bolt_app_answers_in_the_thread_and_hears_its_own_words(
    slack: SlackDouble, team: Workspace
) -> None:
    """A bot is told of its own messages, with its bot id; Bolt drops them before any listener."""
    app = bolt(slack)

    @app.event("app_mention")
    async def answer(event: dict[str, Any], say: AsyncSay) -> None:
        await say(text="hello", thread_ts=event["ts"])

    async with served(app, slack):
        said = await team.says("U1", "C1", "<@UBOT> hi")
        await slack.until(lambda: len(team.messages("C1", said.ts)) == 2)
        await slack.until(lambda: len(slack.deliveries) == 3)

    assert [m.text for m in team.messages("C1", said.ts)] == ["<@UBOT> hi", "hello"]
    assert [m.ts for m in team.messages("C1")] == [said.ts]
    echo = slack.deliveries[-1].event
    assert (echo["bot_id"], echo["thread_ts"]) == ("BBOT", said.ts)


async def test_an_app_hears_nothing_where_it_is_not(slack: SlackDouble, team: Workspace) -> None:
    """Events come from channels that the bot is in."""
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        await team.says("U1", "C2", "<@UBOT> hi")

    assert bodies == []


async def test_edits_and_deletions_tell_what_was_there_before(
    slack: SlackDouble, team: Workspace
) -> None:
    """Both are hidden messages of a subtype, with their own ts."""
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        said = await team.says("U1", "C1", "one")
        await team.edits(said, "two")
        await team.unfurls(said, "https://example.com")
        await team.deletes(said)

    edit, unfurl, deletion = (body["event"] for body in bodies[1:])
    assert (edit["previous_message"]["text"], edit["message"]["text"]) == ("one", "two")
    assert edit["message"]["edited"]["user"] == "U1"
    assert unfurl["message"]["attachments"][0]["from_url"] == "https://example.com"
    assert unfurl["message"]["text"] == unfurl["previous_message"]["text"]
    assert (deletion["subtype"], deletion["deleted_ts"]) == ("message_deleted", said.ts)
    assert team.messages("C1") == []


async def test_a_direct_message_is_no_mention(slack: SlackDouble, team: Workspace) -> None:
    """In direct messages Slack sends message.im alone."""
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        await team.says("U1", team.dm("U1"), "<@UBOT> hi")

    assert [body["event"]["channel_type"] for body in bodies] == ["im"]


async def test_a_guest_from_another_organisation_is_told_as_one(
    slack: SlackDouble, team: Workspace
) -> None:
    """The envelope's team is theirs; whose installation it is, authorizations say."""
    team.user("U9", name="zoe", team_id="T9")
    team.channel("C5", name="shared", members=["U9", "UBOT"], is_ext_shared=True)
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        await team.says("U9", "C5", "hi")

    body = bodies[0]
    assert (body["team_id"], body["authorizations"][0]["team_id"]) == ("T9", "T1")
    assert body["is_ext_shared_channel"] is True
    assert body["event"]["user_team"] == "T9"


async def test_other_bots_joins_home_and_stop_are_told(slack: SlackDouble, team: Workspace) -> None:
    """Each in its own shape."""
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        said = await team.bot_says("C1", "beep")
        team.user("U3")
        await team.joins("U3", "C1")
        await team.opens_home("U1")
        await team.stops_session("U1", "C1", said.ts)

    kinds = [(b["event"]["type"], b["event"].get("subtype")) for b in bodies]
    assert kinds == [
        ("message", "bot_message"),
        ("message", "channel_join"),
        ("member_joined_channel", None),
        ("app_home_opened", None),
        ("agent_session_stopped", None),
    ]


async def test_an_uninstalled_app_is_told_and_its_token_is_dead(
    slack: SlackDouble, team: Workspace
) -> None:
    """After that it hears nothing more."""
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        await team.says("U1", "C1", "before")
        await team.uninstalls()
        await team.says("U1", "C1", "after")

    assert [b["event"]["type"] for b in bodies] == ["message", "tokens_revoked", "app_uninstalled"]


async def test_only_subscribed_events_are_told(slack: SlackDouble, team: Workspace) -> None:
    """An app gets what its manifest asks for."""
    slack.world.subscriptions = frozenset({"app_mention", "message.im"})
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        await team.says("U1", "C1", "<@UBOT> hi")
        await team.says("U1", team.dm("U1"), "hi")

    assert [b["event"]["type"] for b in bodies] == ["app_mention", "message"]
