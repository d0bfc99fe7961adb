"""Installing by OAuth: the pages, the tokens, and every way in which it can go wrong."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

import pytest
from slack_sdk.errors import SlackApiError, SlackTokenRotationError
from slack_sdk.oauth.installation_store import Installation

from channels.channel import GiveUp
from channels.recording import DictMemory
from channels.slack.connections import Connections
from channels.slack.double import SlackDouble
from channels.slack.double.consents import Consent
from channels.slack.double.trouble import Fault
from channels.slack.installations import Installations
from channels.slack.manifest import BOT_SCOPES
from channels.slack.oauth import REDIRECT_PATH, Installing
from channels.slack.parsing.events import parse_loss
from channels.slack.workspaces import InstalledWorkspaces
from channels.web_routes import WebRequest, WebResponse

PUBLIC = "https://parley.example.com"
APP = {"client_id": "111.222", "client_secret": "client-secret"}


class Office:
    """An app that people install, and Slack's part in it."""

    def __init__(self, slack: SlackDouble, connections: Connections) -> None:
        """Put the pages and the workspaces on one memory."""
        self.slack = slack
        self.memory = DictMemory()
        self.pages = Installing(connections, public_url=PUBLIC, **APP)
        self.pages.begin(self.memory)
        self.workspaces = InstalledWorkspaces(connections, **APP)
        self.workspaces.begin(self.memory)

    async def begin(self) -> tuple[str, str]:
        """Open the install page; gives the state and the browser's cookie."""
        page = await self.pages.install(WebRequest(method="GET", path="/slack/install"))
        cookies = SimpleCookie(page.headers["set-cookie"])
        (cookie,) = cookies.values()
        assert page.status == 200
        return cookie.value, f"{cookie.key}={cookie.value}"

    def consent(self, team: str | None = "T1", enterprise: str | None = None) -> str:
        """Say yes on Slack's page; gives the code."""
        return self.slack.world.consents.add(
            Consent(
                scopes=tuple(BOT_SCOPES),
                redirect_uri=f"{PUBLIC}{REDIRECT_PATH}",
                user="U1",
                made=time.time(),
                team_id=team,
                enterprise_id=enterprise,
            )
        )

    async def come_back(self, query: str, cookie: str = "") -> WebResponse:
        """Be sent back by Slack."""
        return await self.pages.come_back(
            WebRequest(method="GET", path=REDIRECT_PATH, query=query, headers={"cookie": cookie})
        )

    async def install(self, team: str | None = "T1", enterprise: str | None = None) -> WebResponse:
        """Do all of it."""
        state, cookie = await self.begin()
        return await self.come_back(f"code={self.consent(team, enterprise)}&state={state}", cookie)


@asynccontextmanager
async def office(*, rotates: bool = False, **workspace: str | None) -> AsyncIterator[Office]:
    """Open Slack with a workspace that has not installed the app."""
    async with SlackDouble(signing_secret="shhh", app_token="xapp-1") as slack:
        slack.world.rotates_tokens = rotates
        slack.workspace("T1", bot_token=None, **workspace)  # type: ignore[arg-type]
        connections = Connections(slack.api_url)
        try:
            yield Office(slack, connections)
        finally:
            await connections.close()


async def test_installing_gives_the_workspace_a_client() -> None:
    """Before it there is none."""
    async with office() as here:
        with pytest.raises(GiveUp, match="not installed in T1"):
            await here.workspaces.client("T1")
        page = await here.install()
        said = await (await here.workspaces.client("T1")).auth_test()
        bot = await here.workspaces.bot("T1")

    assert (page.status, b"Installed in Acme" in page.body) == (200, True)
    assert (said["team_id"], bot.user_id, bot.bot_id) == ("T1", "UBOT", "BBOT")


async def test_page_leads_to_slack_with_our_scopes() -> None:
    """To the double's page where the double stands in for Slack."""
    async with office() as here:
        page = await here.pages.install(WebRequest(method="GET", path="/slack/install"))
        url = page.body.decode().partition('href="')[2].partition('"')[0].replace("&amp;", "&")
        asked = parse_qs(urlsplit(url).query)

    assert url.startswith(f"{here.slack.url}/oauth/v2/authorize")
    assert set(asked["scope"][0].split(",")) == set(BOT_SCOPES)
    assert asked["redirect_uri"] == [f"{PUBLIC}{REDIRECT_PATH}"]


async def test_state_counts_once_and_in_its_own_browser() -> None:
    """A link that somebody else made installs nothing."""
    async with office() as here:
        state, cookie = await here.begin()
        code = here.consent()
        stranger = await here.come_back(f"code={code}&state={state}")
        forged = await here.come_back(f"code={code}&state=x", "slack-app-oauth-state=x")
        good = await here.come_back(f"code={code}&state={state}", cookie)
        again = await here.come_back(f"code={here.consent()}&state={state}", cookie)

    assert [one.status for one in (stranger, forged, good, again)] == [400, 401, 200, 401]
    assert b"Begin again" in again.body


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("error=access_denied", 200, b"cancelled"),
        ("state={state}", 401, b"no code"),
        ("code=made-up&state={state}", 401, b"did not take the code"),
    ],
)
async def test_what_goes_wrong_is_said_in_words(query: str, status: int, words: bytes) -> None:
    """Nothing is kept, and nothing of what was sent is shown."""
    async with office() as here:
        state, cookie = await here.begin()
        page = await here.come_back(query.format(state=state), cookie)
        kept = await here.memory.keys("installation:")

    assert (page.status, words in page.body, kept) == (status, True, [])


async def test_whole_organisation_serves_the_workspaces_that_write() -> None:
    """Enterprise Grid: one installation, and each workspace is learned from its own events."""
    async with office(enterprise_id="E1") as here:
        await here.install(team=None, enterprise="E1")
        with pytest.raises(GiveUp):
            await here.workspaces.client("T1")
        await here.workspaces.meet("T1", "E1")
        said = await (await here.workspaces.client("T1")).auth_test()

    assert said["ok"]


async def test_workspace_of_an_unknown_organisation_is_not_learned() -> None:
    """An event from elsewhere makes us nobody's guest."""
    async with office() as here:
        await here.workspaces.meet("T1", "E9")

        assert await here.memory.keys() == []


async def test_token_is_renewed_before_it_ends() -> None:
    """Once, also when many need it; the new one is kept for other processes."""
    async with office(rotates=True) as here:
        await here.install()
        installations = Installations(here.memory)
        old = await installations.find("T1")
        assert old is not None
        old.bot_token_expires_at = int(time.time()) + 60
        await installations.async_save(old)
        clients = await asyncio.gather(*(here.workspaces.client("T1") for _ in range(5)))
        kept = await installations.find("T1")
        refreshed = [
            call
            for call in here.slack.calls("oauth.v2.access")
            if call.args.get("grant_type") == "refresh_token"
        ]

    assert kept is not None
    assert {client.token for client in clients} == {kept.bot_token}
    assert (kept.bot_token != old.bot_token, len(refreshed)) == (True, 1)


async def test_token_that_another_process_renewed_is_read_again() -> None:
    """Slack takes a refresh token once: whoever loses uses what the other has kept."""
    async with office(rotates=True) as here:
        await here.install()
        installations = Installations(here.memory)
        stale = await installations.find("T1")
        assert stale is not None
        stale.bot_token_expires_at = int(time.time()) - 5
        await installations.async_save(stale)
        await here.workspaces.client("T1")  # renews it
        fresh = await installations.find("T1")
        late = InstalledWorkspaces(Connections(here.slack.api_url), **APP)
        late.begin(here.memory)
        answer = await late._rotated_elsewhere("T1", stale, _refused())

    assert fresh is not None
    assert answer.bot_token == fresh.bot_token


async def test_token_that_ended_for_good_is_given_up() -> None:
    """The operator must install the app again."""
    async with office(rotates=True) as here:
        await here.install()
        installations = Installations(here.memory)
        dead = await installations.find("T1")
        assert dead is not None
        dead.bot_token_expires_at = int(time.time()) - 5
        dead.bot_refresh_token = "xoxe-1-used"
        await installations.async_save(dead)

        with pytest.raises(GiveUp, match="can't be renewed"):
            await here.workspaces.client("T1")


async def test_uninstalled_app_forgets_its_token() -> None:
    """And can be installed again."""
    async with office() as here:
        await here.install()
        await here.workspaces.client("T1")
        await here.workspaces.forget("T1", "")
        with pytest.raises(GiveUp):
            await here.workspaces.client("T1")
        await here.install()

        assert (await here.workspaces.client("T1")).token


@pytest.mark.parametrize(("is_whole", "left"), [(False, ["E1"]), (True, [])])
async def test_workspace_that_leaves_twice_takes_nothing_from_its_organisation(
    *, is_whole: bool, left: list[str]
) -> None:
    """Slack tells of one uninstalling by two events: the second is not about the organisation."""
    async with office(enterprise_id="E1") as here:
        installations = Installations(here.memory)
        await here.install(team=None, enterprise="E1")
        if not is_whole:
            await installations.async_save(Installation(team_id="T1", user_id="U1"))
        given = {"team_id": "T1", "enterprise_id": "E1", "is_enterprise_install": is_whole}
        for kind in ("app_uninstalled", "tokens_revoked"):
            event = {"type": kind, "tokens": {"bot": ["UBOT"]}}
            loss = parse_loss({"type": "event_callback", "event": event, "authorizations": [given]})
            assert loss is not None
            await here.workspaces.forget(loss.team, loss.enterprise)

        assert await installations.owners() == left


async def test_slack_that_is_away_while_somebody_installs_is_said_in_words() -> None:
    """The code may be good: they can begin again."""
    async with office() as here:
        state, cookie = await here.begin()
        code = here.consent()
        here.slack.world.trouble.order(Fault(method="oauth.v2.access", times=1, drop="before"))
        page = await here.come_back(f"code={code}&state={state}", cookie)

    assert (page.status, b"Begin again" in page.body) == (503, True)


def _refused() -> SlackTokenRotationError:
    return SlackTokenRotationError(
        SlackApiError("invalid_refresh_token", {})  # type: ignore[no-untyped-call]
    )


async def test_before_the_start_people_are_asked_to_wait() -> None:
    """Neither page can do anything yet."""
    pages = Installing(Connections("http://127.0.0.1:1/api/"), public_url=PUBLIC, **APP)
    asked = [await page(WebRequest(method="GET", path="/")) for page in pages.routes().values()]

    assert [one.status for one in asked] == [503, 503]


async def test_late_word_of_an_uninstall_leaves_a_newer_installation_alone() -> None:
    """Slack repeats it for minutes; somebody may have installed the app again meanwhile."""
    async with office() as here:
        await here.install()
        await here.workspaces.forget("T1", "", time.time() - 60)
        kept = await here.memory.keys("installation:")
        await here.workspaces.forget("T1", "", time.time())

        assert kept == ["installation:T1"]
        assert await here.memory.keys("installation:") == []
