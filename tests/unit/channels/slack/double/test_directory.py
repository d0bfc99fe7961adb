"""Tokens and scopes, and looking at people, channels and history."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.double.test_chat import METADATA, refused


async def test_auth_test_says_whose_token_it_is(team: Workspace, client: AsyncWebClient) -> None:
    """And its header says which scopes were granted, which is how one finds out."""
    answer = await client.auth_test()

    assert (answer["team_id"], answer["user_id"], answer["bot_id"]) == ("T1", "UBOT", "BBOT")
    assert "chat:write" in answer.headers["X-OAuth-Scopes"].split(",")


async def test_tokens_that_are_missing_unknown_or_revoked_are_told_apart(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """Each has its own name."""
    nobody = AsyncWebClient(base_url=slack.api_url)
    wrong = AsyncWebClient(token="xoxb-wrong", base_url=slack.api_url)

    assert await refused(nobody.auth_test()) == "not_authed"
    assert await refused(wrong.auth_test()) == "invalid_auth"
    await client.auth_revoke()
    assert await refused(client.auth_test()) == "token_revoked"


async def test_a_missing_scope_is_named(slack: SlackDouble) -> None:
    """With what was needed and what there is."""
    team = slack.workspace("T1", bot_token="xoxb-few", scopes=["users:read"])
    team.channel("C1", members=["UBOT"])
    team.user("U1", email="ann@example.com")
    client = AsyncWebClient(token="xoxb-few", base_url=slack.api_url)

    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel="C1", text="x")
    answer = caught.value.response
    assert (answer["error"], answer["needed"]) == ("missing_scope", "chat:write")
    assert answer["provided"] == "users:read"
    assert await refused(client.conversations_replies(channel="C1", ts="1")) == "missing_scope"
    info = await client.users_info(user="U1")
    assert "email" not in info["user"]["profile"]


async def test_an_unknown_method_is_said_so(team: Workspace, client: AsyncWebClient) -> None:
    """By the name that Slack has for it."""
    assert await refused(client.api_call("chat.sing")) == "unknown_method"


async def test_people_are_found_by_id_and_by_address(
    team: Workspace, client: AsyncWebClient
) -> None:
    """A guest from elsewhere is a stranger."""
    team.user("U9", team_id="T9")

    info = await client.users_info(user="U1")
    assert info["user"]["profile"]["email"] == "ann@example.com"
    found = await client.users_lookupByEmail(email="ANN@example.com")
    assert found["user"]["id"] == "U1"
    assert (await client.users_info(user="U9"))["user"]["is_stranger"] is True
    assert await refused(client.users_info(user="U404")) == "user_not_found"
    assert await refused(client.users_lookupByEmail(email="x@y.z")) == "users_not_found"


async def test_channels_are_described_and_opened(team: Workspace, client: AsyncWebClient) -> None:
    """Opening the same direct messages twice gives the same channel."""
    info = await client.conversations_info(channel="C1")
    assert (info["channel"]["name"], info["channel"]["is_member"]) == ("general", True)
    assert await refused(client.conversations_info(channel="G1")) == "channel_not_found"
    members = await client.conversations_members(channel="C1")
    assert members["members"] == ["U1", "U2", "UBOT"]

    first = await client.conversations_open(users="U1")
    again = await client.conversations_open(users=["U1"])
    group = await client.conversations_open(users=["U1", "U2"])
    assert first["channel"]["id"] == again["channel"]["id"] == team.dm("U1").id
    assert again["already_open"] is True
    assert group["channel"]["id"] != first["channel"]["id"]


async def test_history_comes_newest_first_in_pages_and_without_replies(
    team: Workspace, client: AsyncWebClient
) -> None:
    """The last page has an empty cursor."""
    roots = [(await client.chat_postMessage(channel="C1", text=f"{n}"))["ts"] for n in range(5)]
    await client.chat_postMessage(channel="C1", text="reply", thread_ts=roots[0])

    texts: list[str] = []
    cursor: str | None = None
    while cursor != "":
        page = await client.conversations_history(channel="C1", limit=2, cursor=cursor)
        texts += [message["text"] for message in page["messages"]]
        cursor = page["response_metadata"]["next_cursor"]
        assert page["has_more"] is bool(cursor)

    assert texts == ["4", "3", "2", "1", "0"]
    bad = client.conversations_history(channel="C1", cursor="zzz")
    assert await refused(bad) == "invalid_cursor"


async def test_a_thread_is_read_from_its_root_on_with_metadata_if_asked(
    team: Workspace, client: AsyncWebClient
) -> None:
    """That is how a message is found again after an unclear failure."""
    root = (await client.chat_postMessage(channel="C1", text="root"))["ts"]
    args: dict[str, Any] = {"channel": "C1", "thread_ts": root}
    reply = (await client.chat_postMessage(**args, text="reply", metadata=METADATA))["ts"]

    plain = await client.conversations_replies(channel="C1", ts=root)
    full = await client.conversations_replies(channel="C1", ts=root, include_all_metadata=True)
    after = await client.conversations_replies(channel="C1", ts=root, oldest=root)

    assert [m["text"] for m in plain["messages"]] == ["root", "reply"]
    assert plain["messages"][0]["reply_count"] == 1
    assert "metadata" not in plain["messages"][1]
    assert full["messages"][1]["metadata"] == METADATA
    assert [m["ts"] for m in after["messages"]] == [reply]
    assert await refused(client.conversations_replies(channel="C1", ts="1.2")) == "thread_not_found"


async def test_reactions_bots_and_team_are_there(team: Workspace, client: AsyncWebClient) -> None:
    """Each in its own shape; the same reaction twice is refused."""
    ts = (await client.chat_postMessage(channel="C1", text="x"))["ts"]
    await client.reactions_add(channel="C1", name="eyes", timestamp=ts)

    assert team.message("C1", ts).reactions == {"eyes": ["UBOT"]}
    again = client.reactions_add(channel="C1", name="eyes", timestamp=ts)
    assert await refused(again) == "already_reacted"
    assert (await client.bots_info(bot="BBOT"))["bot"]["user_id"] == "UBOT"
    assert (await client.team_info())["team"]["name"] == "Acme"


async def test_two_workspaces_don_t_see_each_other(slack: SlackDouble, team: Workspace) -> None:
    """A token is good for its own workspace."""
    other = slack.workspace("T2", name="Other", bot_token="xoxb-2", bot_user="UBOT2")
    other.channel("C7", members=["UBOT2"])
    client = AsyncWebClient(token="xoxb-2", base_url=slack.api_url)

    await client.chat_postMessage(channel="C7", text="x")
    assert await refused(client.chat_postMessage(channel="C1", text="x")) == "channel_not_found"
    assert (await client.auth_test())["team_id"] == "T2"
