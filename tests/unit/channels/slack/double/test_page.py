"""The page: what people see, escaped; forms that act as a person; no other site's forms."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from slack_bolt.async_app import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import SlackDouble, Workspace
from channels.slack.double.page.markup import markdown, mrkdwn, web_link
from tests.unit.channels.slack.double.stage import bolt, heard, served
from tests.unit.channels.slack.double.test_clicks import CARD, opening, post_card

ANN: dict[str, str] = {"team": "T1", "as": "U1", "channel": "C1"}


async def page_of(slack: SlackDouble, **query: str) -> str:
    """Fetch the page."""
    async with aiohttp.ClientSession() as http:
        answer = await http.get(slack.url, params=query)
        assert answer.status == 200
        return await answer.text()


async def act(slack: SlackDouble, name: str, **fields: str) -> dict[str, list[str]]:
    """Send one of the page's forms; give the query of the page that follows."""
    async with aiohttp.ClientSession() as http:
        url = f"{slack.url}/act/{name}"
        answer = await http.post(url, data={**ANN, **fields}, allow_redirects=False)
        assert answer.status == 303
        return parse_qs(urlsplit(answer.headers["Location"]).query)


HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


async def test_what_anybody_wrote_is_shown_and_never_obeyed(
    slack: SlackDouble, client: AsyncWebClient
) -> None:
    """Names, texts, blocks of every kind, values, errors: all escaped."""
    plain = {"type": "plain_text", "text": HOSTILE}
    marked = {"type": "mrkdwn", "text": HOSTILE}
    button: dict[str, Any] = {"type": "button", "action_id": HOSTILE[:200], "text": plain}
    link = {**button, "action_id": "link", "url": "javascript:alert(1)"}
    option = {"text": plain, "value": HOSTILE}
    select = {"type": "static_select", "action_id": "s", "options": [option]}
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": marked, "accessory": select, "fields": [marked, plain]},
        {"type": "header", "text": plain},
        {"type": "markdown", "text": HOSTILE + " [x](javascript:alert(1))"},
        {"type": "context", "elements": [marked, plain]},
        {"type": "actions", "elements": [button, link]},
        {"type": "image", "alt_text": HOSTILE, "image_url": "http://x"},
    ]
    team = slack.workspace("T1", name=HOSTILE)
    team.user("U1", name=HOSTILE)
    team.channel("C1", name=HOSTILE, members=["U1", "UBOT"])
    await client.chat_postMessage(channel="C1", text="x", blocks=blocks)
    await client.chat_postMessage(channel="C1", text=HOSTILE)
    await client.chat_postEphemeral(channel="C1", user="U1", text=HOSTILE)
    await team.says("U1", "C1", HOSTILE)
    text_input = {"type": "plain_text_input", "action_id": "t", "initial_value": HOSTILE}
    modal = {
        "type": "modal",
        "title": {"type": "plain_text", "text": HOSTILE[:24]},
        "submit": {"type": "plain_text", "text": HOSTILE[:24]},
        "blocks": [{"type": "input", "block_id": "b", "label": plain, "element": text_input}],
    }
    trigger = slack.world.triggers.trigger(team_id="T1", user="U1")
    await client.views_open(trigger_id=trigger, view=modal)
    view = team.open_view("U1")
    assert view is not None
    view.errors = {"b": HOSTILE}
    await client.views_publish(user_id="U1", view={"type": "home", "blocks": blocks})

    for query in ({**ANN, "note": HOSTILE}, {"team": "T1", "home": "1"}):
        text = await page_of(slack, **query)
        assert "&lt;script&gt;" in text
        assert "<script>alert" not in text
        assert "<img" not in text
        assert 'href="javascript' not in text


async def test_saying_something_in_the_page_reaches_the_app(
    slack: SlackDouble, team: Workspace
) -> None:
    """A name after @ becomes a mention; a slash begins a command; replies go to the thread."""
    app = bolt(slack)
    bodies = heard(app)

    @app.command("/parley")
    async def status(ack: AsyncAck) -> None:
        await ack("all &lt;well&gt;")

    async with served(app, slack):
        await act(slack, "say", text="@parley hi <b>", thread_ts="")
        await act(slack, "say", text="/parley status", thread_ts="")
        root = team.messages("C1")[0]
        await act(slack, "say", text="more", thread_ts=root.ts)

    assert root.text == "<@UBOT> hi &lt;b&gt;"
    assert [b["event"]["type"] for b in bodies if "event" in b][:2] == ["message", "app_mention"]
    assert [m.text for m in team.messages("C1", root.ts)][1:] == ["more"]
    text = await page_of(slack, **ANN)
    assert "hi &lt;b&gt;" in text
    assert "all &lt;well&gt;" in text
    assert "Only visible to you" in text
    assert "all &lt;well&gt;" not in await page_of(slack, **{**ANN, "as": "U2"})


async def test_a_button_of_the_page_opens_a_modal_that_submits(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """What the app finds wrong is shown in the modal; then it closes."""
    app, seen = bolt(slack), []
    opening(app, client)

    @app.view("reason")
    async def submitted(ack: AsyncAck, view: dict[str, Any]) -> None:
        values = view["state"]["values"]
        seen.append((values["why"]["text"]["value"], values["pick"]["one"]["selected_option"]))
        if len(seen) == 1:
            await ack(response_action="errors", errors={"why": "say more"})
        else:
            await ack()

    async with served(app, slack):
        ts = await post_card(client)
        assert 'value="block=decide&amp;action=approve" class="primary"' in await page_of(
            slack, **ANN
        )
        await act(slack, "click", ts=ts, action="block=decide&action=approve")
        await slack.until(lambda: team.open_view("U1"))
        text = await page_of(slack, **ANN)
        assert 'role="dialog"' in text
        assert 'name="input:why:text"' in text
        missing = await act(slack, "submit", **{"input:why:text": ""})
        assert missing["note"] == ["'Reason' must be filled in"]
        await act(slack, "submit", **{"input:why:text": "no", "input:pick:one": "b"})
        text = await page_of(slack, **ANN)
        assert "say more" in text
        assert 'value="b" selected' in text
        await act(slack, "submit", **{"input:why:text": "because"})

    assert [why for why, _ in seen] == ["no", "because"]
    assert 'role="dialog"' not in await page_of(slack, **ANN)


async def test_an_app_that_does_not_answer_is_said_so(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """In the page, where Slack would show a warning sign."""
    slack.request_url = "http://127.0.0.1:9/"
    slack.world.echoes = False
    ts = await post_card(client)
    query = await act(slack, "click", ts=ts, action="block=decide&action=approve")

    assert query["note"] == ["The app did not answer: connection_failed."]
    gone = await act(slack, "click", ts=ts, action="block=decide&action=nothing")
    assert "shows nothing called nothing" in gone["note"][0]


async def test_statuses_streams_files_and_home_are_shown(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """And the stop button stops."""
    file = team.file("notes.txt", b"hello", user="U1")
    said = await team.says("U1", "C1", "go", files=[file])
    await client.agents_sessions_setStatus(channel_id="C1", thread_ts=said.ts, status="processing")
    await client.chat_startStream(
        channel="C1",
        thread_ts=said.ts,
        markdown_text="**bold**",
        recipient_team_id="T1",
        recipient_user_id="U1",
    )
    await client.views_publish(user_id="U1", view={"type": "home", "blocks": CARD})

    text = await page_of(slack, **ANN)
    for piece in ("notes.txt", "is working…", "is writing…", "<strong>bold</strong>"):
        assert piece in text
    assert "Refund?" in await page_of(slack, team="T1", home="1", **{"as": "U1"})
    await act(slack, "stop", thread_ts=said.ts)
    assert team.streams()[0].state == "stopped_by_user"


async def test_the_page_hears_of_changes_without_asking_again_and_again(
    slack: SlackDouble, team: Workspace
) -> None:
    """The script asks once, and is answered when something is different."""
    seen = str(slack.world.changes.count - 1)
    async with aiohttp.ClientSession() as http:
        answer = await http.get(f"{slack.url}/changes", params={"seen": seen})
        assert await answer.json() == {"changed": True}
        for name, kind in (("page.css", "text/css"), ("page.js", "text/javascript")):
            assert (await http.get(f"{slack.url}/{name}")).content_type == kind


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}]
)
async def test_another_site_can_neither_act_nor_read(
    slack: SlackDouble, team: Workspace, headers: dict[str, str]
) -> None:
    """A page elsewhere could post here, or point its own name at loopback."""
    async with aiohttp.ClientSession() as http:
        form = {**ANN, "text": "hi", "thread_ts": ""}
        answer = await http.post(f"{slack.url}/act/say", data=form, headers=headers)
        assert answer.status == 403
        if "Host" in headers:
            assert (await http.get(slack.url, headers=headers)).status == 403

    assert team.messages("C1") == []


async def test_the_page_runs_no_script_but_its_own(slack: SlackDouble, team: Workspace) -> None:
    """The policy says so, should something slip through after all."""
    async with aiohttp.ClientSession() as http:
        answer = await http.get(slack.url)

    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


def test_mrkdwn_is_written_as_slack_writes_it() -> None:
    """Marks, mentions, links, code; entities are shown as what they stand for."""
    names = {"U1": "ann", "C1": "general"}
    cases = {
        "*bold* _it_ ~no~": "<strong>bold</strong> <em>it</em> <s>no</s>",
        "2*3*4 snake_case_name": "2*3*4 snake_case_name",
        "`*x* &lt;b&gt;`": "<code>*x* &lt;b&gt;</code>",
        "```\na < b\n```": "<pre>a &lt; b</pre>",
        "<@U1> in <#C1|x>": "<b class=mention>@ann</b> in <b class=mention>#general</b>",
        "<!here>": "<b class=mention>@here</b>",
        "<https://a.b/?x&amp;y|see>": '<a href="https://a.b/?x&amp;y" rel="noreferrer">see</a>',
        "<javascript:alert(1)|x>": "x",
        "a\nb": "a<br>b",
    }
    assert {text: str(mrkdwn(text, names)) for text in cases} == cases


def test_markdown_is_rendered_without_html() -> None:
    """Code fences and links live; tags and odd addresses don't."""
    assert str(markdown("**a** <b>")) == "<p><strong>a</strong> &lt;b&gt;</p>\n"
    assert "href" not in str(markdown("[x](javascript:alert(1))"))
    assert web_link("https://x") == "https://x"
    assert web_link("javascript:alert(1)") == "#"
