"""Signing in with Slack: who comes back with a code, and what we don't believe."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest

from channels.identity import Unidentified
from channels.slack.double import SlackDouble
from channels.slack.openid import SlackOpenId

BACK = "http://127.0.0.1:1/signin/slack/back"


@pytest.fixture
async def slack() -> AsyncIterator[SlackDouble]:
    """Give a workspace with one person."""
    async with SlackDouble() as double:
        double.workspace("T1", name="Acme", bot_token="xoxb-1").user("UOTTO", name="otto")
        yield double


@pytest.fixture
async def openid(slack: SlackDouble) -> AsyncIterator[SlackOpenId]:
    """Give who asks it."""
    own = slack.world.credentials
    made = SlackOpenId(
        client_id=own.client_id,
        client_secret=own.client_secret,
        redirect_uri=BACK,
        api_url=f"{slack.world.url}/api",
    )
    yield made
    await made.close()


async def code(openid: SlackOpenId, nonce: str = "n1") -> str:
    """Say at Slack's page that it is otto, and give the code that one comes back with."""
    address = f"{openid.address(state='s1', nonce=nonce)}&team=T1&user=UOTTO"
    async with (
        aiohttp.ClientSession() as session,
        session.get(address, allow_redirects=False) as answer,
    ):
        back = urlsplit(answer.headers["Location"])
    query = parse_qs(back.query)
    assert (f"{back.scheme}://{back.netloc}{back.path}", query["state"]) == (BACK, ["s1"])
    return query["code"][0]


async def test_slack_says_who_it_is(openid: SlackOpenId) -> None:
    """As the directory lists people: by team and user."""
    actor = await openid.identify(await code(openid), nonce="n1")

    assert (actor.id, actor.name, actor.how) == ("slack:T1:UOTTO", "otto", "slack")


@pytest.mark.parametrize(
    "false",
    [
        {"iss": "https://evil.example"},
        {"aud": "another app"},
        {"aud": ["111.222", "another app"]},
        {"exp": 1},
        {"exp": None},
        {"nonce": "of another sign-in"},
        {"https://slack.com/user_id": "UEVE"},
        {"https://slack.com/team_id": "T2"},
        {"https://slack.com/user_id": None},
    ],
)
async def test_a_token_whose_claims_do_not_fit_is_not_believed(
    slack: SlackDouble, openid: SlackOpenId, false: dict[str, object]
) -> None:
    """Each claim is checked, and who it is must be the same by both ways of asking."""
    slack.world.trouble.false_claims = false

    with pytest.raises(Unidentified, match="did not confirm"):
        await openid.identify(await code(openid), nonce="n1")


async def test_a_code_counts_once_and_for_its_own_sign_in(openid: SlackOpenId) -> None:
    """A code that was used, guessed, or got for another nonce gives nobody."""
    first = await code(openid)
    await openid.identify(first, nonce="n1")
    for wrong, nonce in ((first, "n1"), ("guess", "n1"), (await code(openid, "n2"), "n1")):
        with pytest.raises(Unidentified):
            await openid.identify(wrong, nonce=nonce)


async def test_slack_that_is_away_is_told(slack: SlackDouble, openid: SlackOpenId) -> None:
    """So that people try again later."""
    came_back = await code(openid)
    slack.world.trouble.is_down = True

    with pytest.raises(Unidentified, match="can't be reached"):
        await openid.identify(came_back, nonce="n1")


async def test_the_page_is_slacks_own_unless_a_double_stands_in() -> None:
    """With everything that OpenID Connect asks for, each as one value."""
    made = SlackOpenId(client_id="1&2", client_secret="s", redirect_uri=BACK)
    address = urlsplit(made.address(state="a b", nonce="n"))
    await made.close()

    assert (address.netloc, address.path) == ("slack.com", "/openid/connect/authorize")
    assert parse_qs(address.query) == {
        "response_type": ["code"],
        "client_id": ["1&2"],
        "scope": ["openid profile"],
        "state": ["a b"],
        "nonce": ["n"],
        "redirect_uri": [BACK],
    }
