"""Modals and the home tab: what Slack refuses, what updates do, how forms are filled in."""

from __future__ import annotations

from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import FormRefused, SlackDouble, Workspace
from tests.unit.channels.slack.double.stage import bolt, served
from tests.unit.channels.slack.double.test_chat import button, refused, section
from tests.unit.channels.slack.double.test_clicks import CARD, REASON

TITLE = {"type": "plain_text", "text": "T"}


def modal(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401 (a view's fields)
    """Write a modal that can be submitted."""
    return {"type": "modal", "title": TITLE, "submit": TITLE, "blocks": list(blocks), **more}


def asking(kind: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (an element's fields)
    """Write an input block called as its kind."""
    element = {"type": kind, "action_id": "a", **more}
    return {"type": "input", "block_id": kind, "label": TITLE, "element": element}


def choices(*values: str) -> list[dict[str, Any]]:
    """Write options."""
    return [{"text": {"type": "plain_text", "text": v.upper()}, "value": v} for v in values]


def fresh(slack: SlackDouble) -> str:
    """Make a trigger as a click would."""
    return slack.world.triggers.trigger(team_id="T1", user="U1")


@pytest.mark.parametrize(
    "view",
    [
        modal(title={"type": "plain_text", "text": "x" * 25}),
        modal(submit={"type": "plain_text", "text": "x" * 25}),
        modal(private_metadata="x" * 3001),
        modal(callback_id="x" * 256),
        modal(asking("plain_text_input"), submit=None),
        modal(asking("plain_text_input"), asking("plain_text_input")),
        modal(*[section("x")] * 101),
        modal({"type": "input", "label": TITLE}),
        modal(asking("static_select", options=choices("x" * 151))),
        modal(blocks="x"),
        {"type": "modal", "blocks": []},
        {"type": "home", "blocks": []},
        {"type": "song", "blocks": []},
    ],
)
async def test_a_view_over_the_limits_is_refused_and_opens_nothing(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient, view: dict[str, Any]
) -> None:
    """As `invalid_arguments`, with the reason beside it."""
    assert await refused(client.views_open(trigger_id=fresh(slack), view=view)) == (
        "invalid_arguments"
    )
    assert team.open_view("U1") is None


async def test_a_view_at_the_limits_is_taken(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """A limit is what is still allowed; a view may also come as text with JSON in it."""
    most = {"type": "plain_text", "text": "x" * 24}
    view = modal(*[section("x")] * 100, title=most, private_metadata="x" * 3000)
    await client.views_open(trigger_id=fresh(slack), view=view)
    opened = team.open_view("U1")
    assert opened is not None
    assert len(opened.blocks) == 100


async def test_an_update_goes_by_id_and_hash_and_keeps_what_was_typed(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """An old hash is a conflict: the view is another by now."""
    opened = await client.views_open(trigger_id=fresh(slack), view={**REASON, "external_id": "e1"})
    view = team.open_view("U1")
    assert view is not None
    view.values["why"]["text"]["value"] = "typed"

    args: dict[str, Any] = {"view_id": view.id, "hash": opened["view"]["hash"]}
    await client.views_update(view={**REASON, "callback_id": "new", "external_id": "e1"}, **args)
    assert (view.callback_id, view.values["why"]["text"]["value"]) == ("new", "typed")
    assert await refused(client.views_update(view=REASON, **args)) == "hash_conflict"
    await client.views_update(view=REASON, external_id="e1")
    assert await refused(client.views_update(view=REASON, view_id="V404")) == "not_found"


async def test_three_modals_stand_on_each_other_and_no_more(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """The first is the root of all; closing takes the topmost."""
    nothing_open = client.views_push(trigger_id=fresh(slack), view=modal())
    assert await refused(nothing_open) == "invalid_arguments"
    await client.views_open(trigger_id=fresh(slack), view=modal(callback_id="1"))
    first = team.open_view("U1")
    assert first is not None
    for name in ("2", "3"):
        await client.views_push(trigger_id=fresh(slack), view=modal(callback_id=name))
    fourth = client.views_push(trigger_id=fresh(slack), view=modal())
    assert await refused(fourth) == "push_limit_reached"

    top = team.open_view("U1")
    assert top is not None
    assert (top.callback_id, top.root_view_id) == ("3", first.id)
    assert await team.closes_view("U1") is None
    assert team.open_view("U1") is not top
    await team.closes_view("U1", all_of_them=True)
    assert team.open_view("U1") is None


async def test_home_is_replaced_and_its_hash_is_checked(
    team: Workspace, client: AsyncWebClient
) -> None:
    """Each person has their own."""
    home = {"type": "home", "blocks": [section("one")]}
    first = await client.views_publish(user_id="U1", view=home)
    args: dict[str, Any] = {"user_id": "U1", "hash": first["view"]["hash"]}
    await client.views_publish(view={"type": "home", "blocks": [section("two")]}, **args)
    assert await refused(client.views_publish(view=home, **args)) == "hash_conflict"

    shown = team.home("U1")
    assert shown is not None
    assert shown.blocks[0]["text"]["text"] == "two"
    assert team.home("U2") is None
    assert await refused(client.views_publish(user_id="U404", view=home)) == "user_not_found"


@pytest.mark.parametrize(
    "case",
    [
        (asking("number_input", is_decimal_allowed=True), "1.5", {"value": "1.5"}),
        (asking("datepicker"), "2026-11-16", {"selected_date": "2026-11-16"}),
        (asking("timepicker"), "09:30", {"selected_time": "09:30"}),
        (asking("users_select"), "U2", {"selected_user": "U2"}),
        (
            asking("radio_buttons", options=choices("r", "b")),
            "b",
            {"selected_option": choices("b")[0]},
        ),
        (
            asking("checkboxes", options=choices("r", "g", "b")),
            ["r", "b"],
            {"selected_options": choices("r", "b")},
        ),
        (
            asking("multi_static_select", option_groups=[{"options": choices("x")}]),
            "x",
            {"selected_options": choices("x")},
        ),
    ],
)
async def test_each_kind_of_input_says_its_value_in_its_own_way(
    slack: SlackDouble,
    team: Workspace,
    client: AsyncWebClient,
    case: tuple[dict[str, Any], object, dict[str, Any]],
) -> None:
    """As Slack's reference has it."""
    block, given, state = case
    app, seen = bolt(slack), []

    @app.view("f")
    async def submitted(ack: AsyncAck, view: dict[str, Any]) -> None:
        seen.append(view["state"]["values"])
        await ack()

    async with served(app, slack):
        await client.views_open(trigger_id=fresh(slack), view=modal(block, callback_id="f"))
        await team.submits("U1", {block["block_id"]: {"a": given}})

    kind = block["block_id"]
    assert seen == [{kind: {"a": {"type": kind, **state}}}]


@pytest.mark.parametrize(
    ("block", "given"),
    [
        (asking("plain_text_input", min_length=3), "ab"),
        (asking("plain_text_input", max_length=1), "ab"),
        (asking("number_input"), "many"),
        (asking("number_input"), "1.5"),
        (asking("number_input", min_value="2"), "1"),
        (asking("number_input", max_value="2"), "3"),
        (asking("checkboxes", options=choices("r")), []),
    ],
)
async def test_what_slack_s_own_client_would_not_send_is_refused(
    slack: SlackDouble,
    team: Workspace,
    client: AsyncWebClient,
    block: dict[str, Any],
    given: object,
) -> None:
    """So no test can hand an app what it would never see."""
    await client.views_open(trigger_id=fresh(slack), view=modal(block))
    with pytest.raises(FormRefused):
        await team.submits("U1", {block["block_id"]: given})
    assert slack.deliveries == []


async def test_an_answer_that_slack_would_not_take_is_the_app_s_mistake(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """Errors for a block that is no input, or an action that there isn't."""
    app = bolt(slack)
    answers: list[dict[str, Any]] = [
        {"response_action": "errors", "errors": {"nowhere": "x"}},
        {"response_action": "dance"},
    ]

    @app.view("reason")
    async def submitted(ack: AsyncAck) -> None:
        await ack(**answers.pop(0))

    async with served(app, slack):
        await client.views_open(trigger_id=fresh(slack), view=REASON)
        for problem in ("nowhere", "dance"):
            with pytest.raises(ValueError, match=problem):
                await team.submits("U1", {"why": "x"})


async def test_a_pushed_answer_opens_on_top(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """And a click inside the modal has it as its container."""
    app, seen = bolt(slack), []

    @app.view("reason")
    async def submitted(ack: AsyncAck) -> None:
        inside = {"type": "actions", "elements": [button("more")]}
        await ack(response_action="push", view=modal(inside, callback_id="second"))

    @app.action("more")
    async def clicked(ack: AsyncAck, body: dict[str, Any]) -> None:
        seen.append(body["view"]["callback_id"])
        await ack()

    async with served(app, slack):
        await client.views_open(trigger_id=fresh(slack), view=REASON)
        await team.submits("U1", {"why": "x"})
        await team.clicks_view("U1", "more")
        with pytest.raises(LookupError):
            await team.clicks_view("U1", "less")

    assert seen == ["second"]


async def test_the_same_name_in_two_blocks_needs_the_block(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """Names are unique within a block alone, in messages and in modals."""
    app, seen = bolt(slack), []

    @app.action("go")
    async def clicked(ack: AsyncAck, action: dict[str, Any]) -> None:
        seen.append(action["value"])
        await ack()

    rows = [
        {"type": "actions", "block_id": name, "elements": [button("go", value=name)]}
        for name in ("one", "two")
    ]
    async with served(app, slack):
        ts = (await client.chat_postMessage(channel="C1", text="?", blocks=rows))["ts"]
        await team.clicks("U1", ts, "go", block_id="two")
        await team.clicks("U1", ts, "go")
    assert seen == ["two", "one"]

    inputs = modal(asking("plain_text_input"), asking("number_input"))
    await client.views_open(trigger_id=fresh(slack), view=inputs)
    with pytest.raises(FormRefused, match="several blocks"):
        await team.submits("U1", {"a": "x"})


async def test_a_menu_in_a_message_brings_the_chosen_option(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """With the state of all inputs of the message; a global shortcut has no message at all."""
    app, seen = bolt(slack), []
    menu = {"type": "static_select", "action_id": "pick", "options": choices("r", "b")}

    @app.action("pick")
    async def picked(ack: AsyncAck, action: dict[str, Any]) -> None:
        seen.append(action["selected_option"]["value"])
        await ack()

    @app.global_shortcut("new")
    async def begun(ack: AsyncAck, shortcut: dict[str, Any]) -> None:
        seen.append(shortcut["callback_id"])
        await ack()

    async with served(app, slack):
        blocks = [*CARD, {"type": "actions", "elements": [menu]}]
        ts = (await client.chat_postMessage(channel="C1", text="?", blocks=blocks))["ts"]
        await team.clicks("U1", ts, "pick", value="b")
        await team.shortcut("U1", None, "new")

    assert seen == ["b", "new"]
