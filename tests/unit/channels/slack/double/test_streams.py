"""Streams, statuses, files: what an agent shows while it works, and what it is given."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.double.stage import bolt, heard, served
from tests.unit.channels.slack.double.test_chat import METADATA, refused, section

WHO: dict[str, Any] = {"recipient_team_id": "T1", "recipient_user_id": "U1"}


async def begun(team: Workspace, client: AsyncWebClient) -> tuple[str, str]:
    """Start a stream in a thread; give the thread and the stream's message."""
    root = (await team.says("U1", "C1", "go")).ts
    answer = await client.chat_startStream(channel="C1", thread_ts=root, **WHO)
    return root, str(answer["ts"])


async def test_a_stream_grows_and_ends_with_blocks_and_metadata(
    team: Workspace, client: AsyncWebClient
) -> None:
    """While it grows it can't be updated; afterwards it is a message like others."""
    root, ts = await begun(team, client)
    await client.chat_appendStream(channel="C1", ts=ts, markdown_text="one ")
    await client.chat_appendStream(channel="C1", ts=ts, markdown_text="two")
    stream = team.streams()[0]
    assert (stream.state, stream.message.text) == ("streaming", "one two")
    assert stream.recipient_user == "U1"
    during = client.chat_update(channel="C1", ts=ts, text="x")
    assert await refused(during) == "streaming_state_conflict"

    await client.chat_stopStream(
        channel="C1", ts=ts, markdown_text="!", blocks=[section("below")], metadata=METADATA
    )

    message = team.messages("C1", root)[-1]
    assert (message.text, message.metadata, message.streaming) == ("one two!", METADATA, False)
    assert [block["type"] for block in message.blocks] == ["markdown", "section"]
    assert stream.state == "stopped"
    await client.chat_update(channel="C1", ts=ts, text="afterwards")


async def test_the_sdk_s_own_streamer_works(team: Workspace, client: AsyncWebClient) -> None:
    """It buffers, starts by itself, and stops."""
    root = (await team.says("U1", "C1", "go")).ts
    streamer = await client.chat_stream(channel="C1", thread_ts=root, buffer_size=4, **WHO)
    for word in ("hello ", "wide ", "world"):
        await streamer.append(markdown_text=word)
    await streamer.stop()

    assert team.messages("C1", root)[-1].text == "hello wide world"


async def test_a_stream_ends_by_itself(client: AsyncWebClient) -> None:
    """After a time that can be set; then neither append nor stop is taken."""
    now = [1_700_000_000.0]
    async with SlackDouble(clock=lambda: now[0]) as slack:
        slack.world.stream_seconds = 10
        team = slack.workspace("T1")
        team.user("U1")
        team.channel("C1", members=["U1", "UBOT"])
        client.base_url = slack.api_url
        _, ts = await begun(team, client)
        await client.chat_appendStream(channel="C1", ts=ts, markdown_text="kept")
        now[0] += 10

        late = client.chat_appendStream(channel="C1", ts=ts, markdown_text="lost")
        assert await refused(late) == "message_not_in_streaming_state"
        stop = client.chat_stopStream(channel="C1", ts=ts)
        assert await refused(stop) == "message_not_in_streaming_state"
        assert (team.streams()[0].state, team.streams()[0].message.text) == ("expired", "kept")


async def test_a_person_can_stop_a_stream(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """The event names the streams that Slack has stopped."""
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        root, ts = await begun(team, client)
        await team.stops_session("U1", "C1", root)

    assert bodies[-1]["event"]["streaming_message_ts"] == [ts]
    late = client.chat_appendStream(channel="C1", ts=ts, markdown_text="x")
    assert await refused(late) == "stopped_by_user"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"recipient_team_id": None}, "missing_recipient_team_id"),
        ({"recipient_user_id": None}, "missing_recipient_user_id"),
        ({"recipient_user_id": "U404"}, "user_not_found"),
        ({"thread_ts": "1.2"}, "invalid_thread_ts"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"chunks": [{"type": "song"}]}, "invalid_chunks"),
        ({"channel": "C9"}, "is_archived"),
    ],
)
async def test_a_stream_that_slack_would_not_start_is_refused(
    team: Workspace, client: AsyncWebClient, args: dict[str, Any], error: str
) -> None:
    """No message is left behind."""
    root = (await team.says("U1", "C1", "go")).ts
    good = {"channel": "C1", "thread_ts": root, **WHO}

    assert await refused(client.chat_startStream(**{**good, **args})) == error
    assert team.streams() == []
    assert len(team.messages("C1", root)) == 1


async def test_an_ordinary_message_is_no_stream(team: Workspace, client: AsyncWebClient) -> None:
    """Nor is someone else's; and nothing is not a text."""
    _, ts = await begun(team, client)
    own = (await client.chat_postMessage(channel="C1", text="x"))["ts"]
    theirs = (await team.says("U1", "C1", "x")).ts

    def append(ts: str, text: str = "x") -> Any:  # noqa: ANN401 (an SDK's coroutine)
        return client.chat_appendStream(channel="C1", ts=ts, markdown_text=text)

    assert await refused(append(own)) == "message_not_in_streaming_state"
    assert await refused(append(theirs)) == "message_not_owned_by_app"
    assert await refused(append(ts, "")) == "no_text"


async def test_a_status_stands_below_the_thread(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """By the old method and by the new one; who didn't subscribe to stops is warned."""
    root = (await team.says("U1", "C1", "go")).ts
    where: dict[str, Any] = {"channel_id": "C1", "thread_ts": root}
    await client.assistant_threads_setStatus(**where, status="is thinking…")
    told = await client.agents_sessions_setStatus(**where, status="processing", title="Refund")

    assert [s.status for s in team.statuses("C1", root)] == ["is thinking…", "processing"]
    assert (told["status"], told.get("warning")) == ("processing", None)
    slack.world.subscriptions = frozenset({"app_mention"})
    warned = await client.agents_sessions_setStatus(**where, status="active")
    assert warned["warning"] == "missing_agent_session_stopped_event_subscription"
    odd = client.agents_sessions_setStatus(**where, status="dancing")
    assert await refused(odd) == "invalid_arguments"
    nowhere = client.assistant_threads_setStatus(channel_id="C1", thread_ts="1.2", status="x")
    assert await refused(nowhere) == "invalid_thread_ts"


async def test_a_shared_file_is_named_and_fetched_with_the_token(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """Without the token Slack answers with a redirect to its login page, not with a 401."""
    app = bolt(slack)
    bodies = heard(app)
    file = team.file("notes.txt", b"hello", user="U1")
    async with served(app, slack):
        await team.says("U1", "C1", "see this", files=[file])
    event = bodies[0]["event"]
    assert (event["subtype"], event["files"][0]["name"]) == ("file_share", "notes.txt")

    url = (await client.files_info(file=event["files"][0]["id"]))["file"]["url_private"]
    async with aiohttp.ClientSession() as http:
        good = await http.get(url, headers={"Authorization": "Bearer xoxb-1"})
        assert (good.status, await good.read()) == (200, b"hello")
        login = await http.get(url)
        assert (login.status, login.content_type) == (200, "text/html")
        slack.fail("files", status=500)
        assert (await http.get(url)).status == 500
    assert await refused(client.files_info(file="F404")) == "file_not_found"


async def test_a_file_of_another_organisation_must_be_asked_for(
    team: Workspace, client: AsyncWebClient
) -> None:
    """The event tells its id alone; files.info tells the rest."""
    file = team.file("plan.pdf", b"%PDF", user="U1", access="check_file_info")
    said = await team.says("U1", "C1", "see this", files=[file])
    thread = await client.conversations_replies(channel="C1", ts=said.ts)

    assert set(thread["messages"][0]["files"][0]) == {"id", "mode", "file_access"}
    assert (await client.files_info(file=file.id))["file"]["name"] == "plan.pdf"
