"""`chat.*` as the SDK calls it: what is kept, and what Slack refuses."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import SlackDouble, Workspace

METADATA = {"event_type": "parley", "event_payload": {"delivery": "d1"}}


def button(action_id: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (Block Kit's fields)
    """Write a button."""
    text = {"type": "plain_text", "text": more.pop("label", "OK")}
    return {"type": "button", "action_id": action_id, "text": text, **more}


def section(text: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (Block Kit's fields)
    """Write a section."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


async def refused(awaitable: Any) -> str:  # noqa: ANN401 (an SDK's coroutine)
    """Give the error that a call meets."""
    with pytest.raises(SlackApiError) as caught:
        await awaitable
    return str(caught.value.response["error"])


async def test_a_posted_message_is_kept_with_all_it_came_with(
    team: Workspace, client: AsyncWebClient
) -> None:
    """Blocks get ids; metadata and unfurl flags are kept; the answer shows the message."""
    root = await client.chat_postMessage(channel="C1", text="root", unfurl_links=False)
    reply = await client.chat_postMessage(
        channel="C1",
        thread_ts=root["ts"],
        text="fallback",
        blocks=[section("hi")],
        metadata=METADATA,
    )

    kept = team.message("C1", reply["ts"])
    assert (kept.text, kept.thread_ts, kept.metadata) == ("fallback", root["ts"], METADATA)
    assert kept.blocks[0]["block_id"]
    assert (kept.user, kept.bot_id, kept.app_id) == ("UBOT", "BBOT", "A1")
    assert team.message("C1", root["ts"]).arguments == {"unfurl_links": False}
    assert reply["message"]["metadata"] == METADATA
    assert [m.ts for m in team.messages("C1", root["ts"])] == [root["ts"], reply["ts"]]


async def test_a_timestamp_has_slack_s_form_and_none_comes_twice(client: AsyncWebClient) -> None:
    """Also on a clock that stands still."""
    async with SlackDouble(clock=lambda: 1_700_000_000.0) as slack:
        slack.workspace("T1").channel("C1", members=["UBOT"])
        client.base_url = slack.api_url
        stamps = [
            (await client.chat_postMessage(channel="C1", text=str(n)))["ts"] for n in range(3)
        ]

    assert stamps == ["1700000000.000000", "1700000000.000100", "1700000000.000200"]


async def test_markdown_text_is_shown_as_a_block(team: Workspace, client: AsyncWebClient) -> None:
    """And it goes with no other text."""
    posted = await client.chat_postMessage(channel="C1", markdown_text="**bold**")

    kept = team.message("C1", posted["ts"])
    assert kept.markdown_text == "**bold**"
    assert [block["type"] for block in kept.blocks] == ["markdown"]
    both = client.chat_postMessage(channel="C1", markdown_text="a", text="b")
    assert await refused(both) == "markdown_text_conflict"


async def test_a_message_to_a_person_goes_to_their_direct_messages(
    team: Workspace, client: AsyncWebClient
) -> None:
    """The answer names the channel, which is where updates must go."""
    posted = await client.chat_postMessage(channel="U1", text="hi")

    assert posted["channel"] == team.dm("U1").id
    assert [m.text for m in team.messages(team.dm("U1"))] == ["hi"]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"channel": "C404", "text": "x"}, "channel_not_found"),
        ({"channel": "G1", "text": "x"}, "channel_not_found"),
        ({"channel": "C2", "text": "x"}, "not_in_channel"),
        ({"channel": "C9", "text": "x"}, "is_archived"),
        ({"channel": "C1", "text": ""}, "no_text"),
        ({"channel": "C1", "text": "x" * 40_001}, "msg_too_long"),
        ({"channel": "C1", "markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"channel": "C1", "text": "x", "thread_ts": "1.2"}, "invalid_thread_ts"),
        (
            {"channel": "C1", "text": "x", "metadata": {"event_type": "a"}},
            "invalid_metadata_format",
        ),
        ({"channel": "C1", "text": "x", "blocks": "{"}, "invalid_blocks_format"),
    ],
)
async def test_what_slack_would_not_post_is_refused_by_name(
    team: Workspace, client: AsyncWebClient, args: dict[str, Any], error: str
) -> None:
    """Nothing is kept then."""
    assert await refused(client.api_call("chat.postMessage", json=args)) == error
    assert team.messages("C1") == []


@pytest.mark.parametrize(
    "blocks",
    [
        [section("x")] * 51,
        [section("x" * 3001)],
        [section("")],
        [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}],
        [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
        [{"type": "markdown", "text": "x" * 12_001}],
        [{"type": "actions", "elements": [button("a", label="x" * 76)]}],
        [{"type": "actions", "elements": [button("a", value="x" * 2001)]}],
        [{"type": "actions", "elements": [button("a", style="blue")]}],
        [{"type": "actions", "elements": [button("a"), button("a")]}],
        [{"type": "actions", "elements": [button(str(n)) for n in range(26)]}],
        [{"type": "actions", "elements": []}],
        [section("x", block_id="b"), section("y", block_id="b")],
        [{"type": "nonsense"}],
        [{"type": "section"}],
    ],
)
async def test_blocks_over_the_limits_are_refused_with_a_reason(
    team: Workspace, client: AsyncWebClient, blocks: list[dict[str, Any]]
) -> None:
    """`response_metadata` says which rule, and where."""
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel="C1", text="x", blocks=blocks)

    assert caught.value.response["error"] == "invalid_blocks"
    assert "[json-pointer:/blocks" in caught.value.response["response_metadata"]["messages"][0]


async def test_blocks_at_the_limits_are_taken(team: Workspace, client: AsyncWebClient) -> None:
    """A limit is what is still allowed."""
    most: list[list[dict[str, Any]]] = [
        [section("x")] * 50,
        [section("x" * 3000)],
        [{"type": "header", "text": {"type": "plain_text", "text": "x" * 150}}],
        [{"type": "markdown", "text": "x" * 12_000}],
        [{"type": "actions", "elements": [button("a", label="x" * 75, value="x" * 2000)]}],
    ]
    for blocks in most:
        await client.chat_postMessage(channel="C1", text="x", blocks=blocks)

    assert len(team.messages("C1")) == 5


async def test_an_update_with_text_alone_takes_the_blocks_away(
    team: Workspace, client: AsyncWebClient
) -> None:
    """As Slack says; blocks alone leave the text, and are no edit that people see."""
    ts = (await client.chat_postMessage(channel="C1", text="a", blocks=[section("a")]))["ts"]
    blocks_alone = {"channel": "C1", "ts": ts, "blocks": [section("b")]}
    await client.api_call("chat.update", json=blocks_alone)
    assert (team.message("C1", ts).text, team.message("C1", ts).edited) == ("a", None)

    await client.chat_update(channel="C1", ts=ts, text="c")

    message = team.message("C1", ts)
    assert (message.text, message.blocks) == ("c", [])
    assert message.edited is not None


async def test_what_may_not_be_changed_is_refused(team: Workspace, client: AsyncWebClient) -> None:
    """Others' messages, messages that are gone, too long texts."""
    theirs = await team.says("U1", "C1", "mine")
    own = (await client.chat_postMessage(channel="C1", text="a"))["ts"]

    def update(ts: str, text: str = "x") -> Any:  # noqa: ANN401 (an SDK's coroutine)
        return client.chat_update(channel="C1", ts=ts, text=text)

    assert await refused(update(theirs.ts)) == "cant_update_message"
    assert await refused(update("1.2")) == "message_not_found"
    assert await refused(update(own, "x" * 4001)) == "msg_too_long"
    assert await refused(client.chat_delete(channel="C1", ts=theirs.ts)) == "cant_delete_message"
    await client.chat_delete(channel="C1", ts=own)
    assert await refused(update(own)) == "message_not_found"


async def test_an_ephemeral_message_is_for_one_member_alone(
    team: Workspace, client: AsyncWebClient
) -> None:
    """It stands in no history."""
    posted = await client.chat_postEphemeral(channel="C1", user="U1", text="psst")

    assert [m.ts for m in team.ephemerals("C1", "U1")] == [posted["message_ts"]]
    assert team.messages("C1") == []
    assert (await client.conversations_history(channel="C1"))["messages"] == []
    team.user("U3")
    stranger = client.chat_postEphemeral(channel="C1", user="U3", text="psst")
    assert await refused(stranger) == "user_not_in_channel"


async def test_a_permalink_leads_to_the_message(team: Workspace, client: AsyncWebClient) -> None:
    """A reply's says which thread."""
    root = (await client.chat_postMessage(channel="C1", text="a"))["ts"]
    ts = (await client.chat_postMessage(channel="C1", text="b", thread_ts=root))["ts"]

    link = (await client.chat_getPermalink(channel="C1", message_ts=ts))["permalink"]
    assert link.startswith(f"https://acme.slack.com/archives/C1/p{ts.replace('.', '')}?thread_ts=")


async def test_query_form_and_json_say_the_same(slack: SlackDouble, team: Workspace) -> None:
    """The token may stand in the header or among the arguments; JSON may be inside a form."""
    url = slack.api_url + "chat.postMessage"
    bearer = {"Authorization": "Bearer xoxb-1"}
    flat = {"channel": "C1", "text": "x", "metadata": json.dumps(METADATA)}
    async with aiohttp.ClientSession() as http:
        answers = [
            await http.post(url, json={**flat, "metadata": METADATA}, headers=bearer),
            await http.post(url, data=flat, headers=bearer),
            await http.post(url, data={**flat, "token": "xoxb-1"}),
            await http.get(url, params={**flat, "token": "xoxb-1"}),
        ]
        assert [(await answer.json())["ok"] for answer in answers] == [True] * 4
        bad = await http.post(url, data="{", headers={**bearer, "Content-Type": "application/json"})
        assert (await bad.json())["error"] == "invalid_json"

    assert [m.metadata for m in team.messages("C1")] == [METADATA] * 4
    assert all("token" not in call.args for call in slack.calls("chat.postMessage"))
