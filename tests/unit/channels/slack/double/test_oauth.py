"""Many workspaces: installing by OAuth with Bolt's own flow, rotation, organisations, leaving."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp, AsyncSay
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_sdk.oauth.installation_store import FileInstallationStore
from slack_sdk.oauth.state_store import FileOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import SlackDouble
from tests.unit.channels.slack.double.stage import SECRET, served
from tests.unit.channels.slack.double.test_chat import refused

# slack_sdk 3.46 still gives aiohttp a BasicAuth for oauth.v2.access.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")

BACK = "http://127.0.0.1:1/back"
CLIENT: dict[str, Any] = {"client_id": "111.222", "client_secret": "client-secret"}


async def allowed(slack: SlackDouble, place: str, scope: str = "chat:write") -> str:
    """Let a person allow the app, and give the code that comes back."""
    query = {"client_id": "111.222", "scope": scope, "redirect_uri": BACK, "state": "s1"}
    async with aiohttp.ClientSession() as http:
        answer = await http.post(
            f"{slack.url}/oauth/v2/authorize",
            data={**query, "place": place},
            allow_redirects=False,
        )
    back = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert back["state"] == ["s1"]
    return back["code"][0]


async def test_bolt_installs_itself_and_answers_in_the_new_workspace(
    slack: SlackDouble, tmp_path: Path
) -> None:
    """From the install page over Slack's consent to a stored token that works."""
    team = slack.workspace("T7", name="Seven", bot_token=None)
    team.user("U1", name="ann")
    team.channel("C1", members=["U1", "UBOT"])
    store = FileInstallationStore(base_dir=str(tmp_path))
    settings = AsyncOAuthSettings(
        client_id="111.222",
        client_secret="client-secret",
        scopes=["chat:write", "app_mentions:read"],
        authorization_url=f"{slack.url}/oauth/v2/authorize",
        installation_store=store,
        state_store=FileOAuthStateStore(expiration_seconds=60, base_dir=str(tmp_path)),
        state_validation_enabled=True,
    )
    client = AsyncWebClient(base_url=slack.api_url)
    flow = AsyncOAuthFlow(client=client, settings=settings)
    app = AsyncApp(signing_secret=SECRET, oauth_flow=flow, client=client)

    @app.event("app_mention")
    async def answer(event: dict[str, Any], say: AsyncSay) -> None:
        await say(text="installed", thread_ts=event["ts"])

    async with served(app, slack):
        assert slack.request_url is not None
        base = slack.request_url.removesuffix("/slack/events")
        slack.redirect_uri = f"{base}/slack/oauth_redirect"
        jar = aiohttp.CookieJar(unsafe=True, treat_as_secure_origin=base)
        async with aiohttp.ClientSession(cookie_jar=jar) as http:
            page = await (await http.get(f"{base}/slack/install")).text()
            start = page.split('<a href="')[1].split('"')[0].replace("&amp;", "&")
            done = await http.get(f"{start}&team=T7")
            assert done.status == 200, await done.text()
        said = await team.says("U1", "C1", "<@UBOT> hi")
        await slack.until(lambda: team.posted("C1", said.ts))

    assert [m.text for m in team.posted("C1", said.ts)] == ["installed"]


async def test_the_page_asks_where_and_a_no_is_told(slack: SlackDouble) -> None:
    """What the app asks for is shown escaped; an unknown client sees no page."""
    slack.workspace("T1", name="<Acme>")
    url = f"{slack.url}/oauth/v2/authorize"
    query = {"client_id": "111.222", "scope": "chat:write", "redirect_uri": BACK, "state": "s"}
    async with aiohttp.ClientSession() as http:
        page = await (await http.get(url, params=query)).text()
        assert "Allow in &lt;Acme&gt;" in page
        no = await http.post(url, data={**query, "deny": "1"}, allow_redirects=False)
        assert "error=access_denied" in no.headers["Location"]
        stranger = await http.get(url, params={**query, "client_id": "x"})
        assert (stranger.status, await stranger.text()) == (400, "invalid_client_id")
        slack.redirect_uri = "https://example.com/back"
        elsewhere = await http.get(url, params=query)
        assert (elsewhere.status, await elsewhere.text()) == (400, "bad_redirect_uri")


async def test_a_code_is_good_once_and_for_the_right_secret(slack: SlackDouble) -> None:
    """Each mistake has its name."""
    slack.workspace("T1")
    client = AsyncWebClient(base_url=slack.api_url)
    code = await allowed(slack, "T1")

    def access(**more: Any) -> Any:  # noqa: ANN401 (an SDK's coroutine)
        return client.oauth_v2_access(**{**CLIENT, "code": code, **more})

    assert await refused(access(client_secret="wrong")) == "bad_client_secret"
    assert await refused(access(client_id="wrong")) == "invalid_client_id"
    assert await refused(access(code="wrong")) == "invalid_code"
    assert await refused(access(redirect_uri="http://elsewhere")) == "bad_redirect_uri"
    token = (await access(redirect_uri=BACK))["access_token"]
    assert await refused(access()) == "code_already_used"
    fresh = AsyncWebClient(token=token, base_url=slack.api_url)
    assert (await fresh.auth_test())["team_id"] == "T1"


async def test_a_rotating_token_expires_and_is_renewed() -> None:
    """A refresh token is good once; the old token works until its time is over."""
    now = [1_700_000_000.0]
    async with SlackDouble(clock=lambda: now[0]) as slack:
        slack.world.rotates_tokens = True
        slack.workspace("T1")
        client = AsyncWebClient(base_url=slack.api_url)
        first = await client.oauth_v2_access(**CLIENT, code=await allowed(slack, "T1"))
        assert (first["expires_in"], first["token_type"]) == (43_200, "bot")

        def refresh(token: str) -> Any:  # noqa: ANN401 (an SDK's coroutine)
            return client.oauth_v2_access(**CLIENT, grant_type="refresh_token", refresh_token=token)

        second = await refresh(first["refresh_token"])
        assert second["access_token"] != first["access_token"]
        assert await refused(refresh(first["refresh_token"])) == "invalid_refresh_token"
        await client.auth_test(token=first["access_token"])
        now[0] += 43_200
        assert await refused(client.auth_test(token=second["access_token"])) == "token_expired"
        third = await refresh(second["refresh_token"])
        await client.auth_test(token=third["access_token"])


async def test_an_organisation_s_token_is_good_in_each_of_its_workspaces(
    slack: SlackDouble,
) -> None:
    """It has no team, and events say so too."""
    for number in (1, 2):
        team = slack.workspace(f"T{number}", bot_token=None, enterprise_id="E1")
        team.user(f"U{number}")
        team.channel(f"C{number}", members=[f"U{number}", "UBOT"])
    client = AsyncWebClient(base_url=slack.api_url)
    scope = "chat:write,users:read,team:read"
    told = await client.oauth_v2_access(**CLIENT, code=await allowed(slack, "E1", scope))
    assert (told["team"], told["enterprise"]["id"]) == (None, "E1")
    assert told["is_enterprise_install"] is True

    client.token = told["access_token"]
    for number in (1, 2):
        await client.chat_postMessage(channel=f"C{number}", text="hi")
        assert (await client.users_info(user=f"U{number}"))["user"]["team_id"] == f"T{number}"
    assert (await client.auth_test())["is_enterprise_install"] is True
    assert (await client.team_info(team="T2"))["team"]["id"] == "T2"
    assert await refused(client.api_call("team.info")) == "missing_argument"
    slack.request_url = "http://127.0.0.1:9/"
    await slack.workspaces["T2"].says("U2", "C2", "hi")
    authorization = slack.deliveries[-1].payload["authorizations"][0]
    assert (authorization["team_id"], authorization["is_enterprise_install"]) == (None, True)
    told_of = await slack.workspaces["T2"].shortcut("U2", None, "new")
    assert (told_of.payload["team"], told_of.payload["user"]["team_id"]) == (None, "T2")
    command = await slack.workspaces["T2"].command("U2", "C2", "/parley")
    assert command.payload["team_id"] == "T2"


async def test_an_app_can_leave_by_itself(slack: SlackDouble) -> None:
    """Its token is dead afterwards, under another name than a revoked one."""
    slack.workspace("T1", bot_token="xoxb-1")
    client = AsyncWebClient(token="xoxb-1", base_url=slack.api_url)

    assert await refused(client.apps_uninstall(client_id="x", client_secret="y")) == (
        "invalid_client_id"
    )
    await client.apps_uninstall(**CLIENT)
    await slack.until(lambda: not slack.world.teams["T1"].is_installed)
    assert await refused(client.auth_test()) == "account_inactive"
