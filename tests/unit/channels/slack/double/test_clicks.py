"""Buttons, modals, commands and shortcuts, between the double and a real Bolt app."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import AppDidNotAnswer, FormRefused, SlackDouble, Workspace
from tests.unit.channels.slack.double.stage import bolt, served

CARD: list[dict[str, Any]] = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "Refund?"}},
    {
        "type": "actions",
        "block_id": "decide",
        "elements": [
            {
                "type": "button",
                "action_id": "approve",
                "value": "signed-1",
                "style": "primary",
                "text": {"type": "plain_text", "text": "Approve"},
            }
        ],
    },
]
REASON: dict[str, Any] = {
    "type": "modal",
    "callback_id": "reason",
    "private_metadata": "q1",
    "notify_on_close": True,
    "title": {"type": "plain_text", "text": "Why?"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "why",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "text"},
        },
        {
            "type": "input",
            "block_id": "pick",
            "optional": True,
            "label": {"type": "plain_text", "text": "Pick"},
            "element": {
                "type": "static_select",
                "action_id": "one",
                "options": [
                    {"text": {"type": "plain_text", "text": "Red"}, "value": "r"},
                    {"text": {"type": "plain_text", "text": "Blue"}, "value": "b"},
                ],
            },
        },
    ],
}


def opening(app: AsyncApp, client: AsyncWebClient) -> None:
    """Let the button open the modal."""

    @app.action("approve")
    async def clicked(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=REASON)


async def post_card(client: AsyncWebClient) -> str:
    """Post the card, and give its ts."""
    posted = await client.chat_postMessage(channel="C1", text="Refund?", blocks=CARD)
    return str(posted["ts"])


async def test_a_click_tells_who_what_and_where(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """The payload has the person's team, the button's value, the message and its container."""
    app, seen = bolt(slack), []

    @app.action("approve")
    async def clicked(ack: AsyncAck, body: dict[str, Any]) -> None:
        seen.append(body)
        await ack()

    async with served(app, slack):
        ts = await post_card(client)
        delivery = await team.clicks("U1", ts, "approve", channel="C1")

    assert delivery.acked
    body = seen[0]
    assert body["user"] == {"id": "U1", "username": "ann", "name": "ann", "team_id": "T1"}
    assert (body["actions"][0]["value"], body["actions"][0]["block_id"]) == ("signed-1", "decide")
    assert body["container"]["message_ts"] == body["message"]["ts"] == ts


async def test_after_an_update_the_button_is_gone_but_a_stale_screen_still_has_it(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """Late clicks come from screens that are behind; a test must say that it means one."""
    app = bolt(slack)
    opening(app, client)
    async with served(app, slack):
        ts = await post_card(client)
        await client.chat_update(channel="C1", ts=ts, text="Approved by Ann")

        with pytest.raises(LookupError):
            await team.clicks("U1", ts, "approve")
        late = await team.clicks("U1", ts, "approve", stale=True)

    assert late.acked
    assert team.message("C1", ts).blocks == []


async def test_a_modal_is_opened_filled_in_and_closed(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """An empty answer to a submission closes the modal; the state has each kind's own shape."""
    app, seen = bolt(slack), []
    opening(app, client)

    @app.view("reason")
    async def submitted(ack: AsyncAck, view: dict[str, Any]) -> None:
        seen.append(view)
        await ack()

    async with served(app, slack):
        await team.clicks("U1", await post_card(client), "approve")
        view = await slack.until(lambda: team.open_view("U1"))
        answer = await team.submits("U1", {"why": "because", "one": "Blue"})

    assert (view.callback_id, view.private_metadata) == ("reason", "q1")
    assert answer == {}
    assert team.open_view("U1") is None
    values = seen[0]["state"]["values"]
    assert values["why"]["text"] == {"type": "plain_text_input", "value": "because"}
    assert values["pick"]["one"]["selected_option"]["value"] == "b"


async def test_errors_stay_in_the_modal_and_an_update_changes_it(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """What the app answers to a submission is done to the modal."""
    app = bolt(slack)
    opening(app, client)

    @app.view("reason")
    async def submitted(ack: AsyncAck, view: dict[str, Any]) -> None:
        text = view["state"]["values"]["why"]["text"]["value"]
        if text == "no":
            await ack(response_action="errors", errors={"why": "say more"})
        elif text == "next":
            await ack(response_action="update", view={**REASON, "callback_id": "second"})
        else:
            await ack(response_action="clear")

    async with served(app, slack):
        await team.clicks("U1", await post_card(client), "approve")
        view = await slack.until(lambda: team.open_view("U1"))
        await team.submits("U1", {"why": "no"})
        assert view.errors == {"why": "say more"}
        await team.submits("U1", {"why": "next"})
        assert view.callback_id == "second"
        view.callback_id = "reason"
        await team.submits("U1", {"why": "done"})

    assert team.open_view("U1") is None


async def test_slack_itself_refuses_an_empty_required_input(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """The app never sees such a form; nor one with inputs that the modal doesn't have."""
    app = bolt(slack)
    opening(app, client)
    async with served(app, slack):
        await team.clicks("U1", await post_card(client), "approve")
        await slack.until(lambda: team.open_view("U1"))
        for values in ({}, {"why": "x", "nowhere": "y"}, {"why": "x", "one": "Green"}):
            with pytest.raises(FormRefused):
                await team.submits("U1", values)


async def test_a_trigger_is_good_once_and_for_three_seconds(client: AsyncWebClient) -> None:
    """Later it is expired, and the second time exchanged."""
    now = [1_700_000_000.0]
    async with SlackDouble(clock=lambda: now[0]) as slack:
        team = slack.workspace("T1")
        team.user("U1")
        client.base_url = slack.api_url
        triggers = slack.world.triggers
        fresh = triggers.trigger(team_id="T1", user="U1")
        await client.views_open(trigger_id=fresh, view=REASON)
        with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
            await client.views_open(trigger_id=fresh, view=REASON)
        late = triggers.trigger(team_id="T1", user="U1")
        now[0] += 3.1
        with pytest.raises(SlackApiError, match="expired_trigger_id"):
            await client.views_open(trigger_id=late, view=REASON)
        with pytest.raises(SlackApiError, match="invalid_trigger_id"):
            await client.views_open(trigger_id="made-up", view=REASON)


async def test_closing_a_modal_is_told_when_the_app_asked_for_it(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """`notify_on_close` brings a view_closed."""
    app, seen = bolt(slack), []
    opening(app, client)

    @app.view_closed("reason")
    async def closed(ack: AsyncAck, body: dict[str, Any]) -> None:
        seen.append(body["type"])
        await ack()

    async with served(app, slack):
        await team.clicks("U1", await post_card(client), "approve")
        await slack.until(lambda: team.open_view("U1"))
        await team.closes_view("U1")

    assert seen == ["view_closed"]
    assert team.open_view("U1") is None


async def test_a_command_is_answered_to_its_person_alone(
    slack: SlackDouble, team: Workspace
) -> None:
    """The text of the ack is shown as an ephemeral message."""
    app = bolt(slack)

    @app.command("/parley")
    async def status(ack: AsyncAck, command: dict[str, Any]) -> None:
        await ack(f"{command['text']} for {command['user_name']}")

    async with served(app, slack):
        await team.command("U1", "C1", "/parley", "status")

    assert [m.text for m in team.ephemerals("C1", "U1")] == ["status for ann"]
    assert team.ephemerals("C1", "U2") == []


async def test_a_message_shortcut_brings_the_message(slack: SlackDouble, team: Workspace) -> None:
    """With its callback id and the channel it stands in."""
    app, seen = bolt(slack), []

    @app.message_shortcut("ask")
    async def asked(ack: AsyncAck, shortcut: dict[str, Any]) -> None:
        seen.append((shortcut["message"]["text"], shortcut["channel"]["id"]))
        await ack()

    async with served(app, slack):
        said = await team.says("U2", "C1", "what is this?")
        await team.shortcut("U1", said, "ask")

    assert seen == [("what is this?", "C1")]


async def test_a_response_url_answers_replaces_and_runs_out(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """Five uses; ephemeral unless it says in_channel."""
    app, done = bolt(slack), asyncio.Event()
    statuses: list[int] = []

    @app.action("approve")
    async def clicked(ack: AsyncAck, respond: AsyncRespond) -> None:
        await ack()
        answers: list[dict[str, Any]] = [
            {"text": "only you"},
            {"text": "everyone", "response_type": "in_channel"},
            {"text": "replaced", "replace_original": True},
            {"delete_original": True},
            {"text": "fifth"},
            {"text": "sixth"},
        ]
        statuses.extend([(await respond(**answer)).status_code for answer in answers])
        done.set()

    async with served(app, slack):
        ts = await post_card(client)
        await team.clicks("U1", ts, "approve")
        await done.wait()

    assert statuses == [200, 200, 200, 200, 200, 404]
    assert [m.text for m in team.ephemerals("C1", "U1")] == ["only you", "fifth"]
    assert [m.text for m in team.messages("C1")] == ["everyone"]
    card = team.message("C1", ts)
    assert (card.text, card.blocks, card.deleted) == ("replaced", [], True)


async def test_home_is_published_and_its_buttons_click(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """A click there has a view as its container."""
    app, seen = bolt(slack), []

    @app.action("approve")
    async def clicked(ack: AsyncAck, body: dict[str, Any]) -> None:
        seen.append(body["container"]["type"])
        await ack()

    async with served(app, slack):
        await client.views_publish(user_id="U1", view={"type": "home", "blocks": CARD})
        await team.clicks_view("U1", "approve", view=team.home("U1"))

    assert seen == ["view"]


async def test_a_form_that_the_app_does_not_take_is_said_so(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """The modal stays open, and nothing is sent again."""
    app = bolt(slack)
    opening(app, client)
    async with served(app, slack):
        await team.clicks("U1", await post_card(client), "approve")
        await slack.until(lambda: team.open_view("U1"))
        with pytest.raises(AppDidNotAnswer) as caught:
            await team.submits("U1", {"why": "x"})

    assert len(caught.value.delivery.attempts) == 1
    assert team.open_view("U1") is not None
