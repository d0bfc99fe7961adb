"""Links by mail and signing in with Slack, by plain HTTP: asked too often, stolen or forged."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from channels.identity import Unidentified
from channels.people import Actor
from gateway.inbox.cookies import SESSION
from gateway.settings.config import Person
from tests.scenario.inbox.visits import Answer, Visit, opened


class Slack:
    """Says who comes back with a code: the code itself is their account."""

    def address(self, *, state: str, nonce: str) -> str:
        """Give a page that is nowhere."""
        return f"https://slack.example/authorize?state={state}&nonce={nonce}"

    async def identify(self, code: str, *, nonce: str) -> Actor:
        """Believe it, unless it is a lie."""
        if code == "lie" or not nonce:
            raise Unidentified("Slack did not confirm who you are. Please try again.")
        return Actor(id=f"slack:{code}", name="somebody")

    async def close(self) -> None:
        """Nothing is open."""


class Mailer:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.mailed: list[str] = []

    async def mail_link(self, email: str, *, subject: str, words: Sequence[str], url: str) -> None:
        """Take a mail."""
        assert subject and words and url.startswith("http://127.0.0.1")  # noqa: PT018 (one mail)
        self.mailed.append(email)


async def left(visit: Visit, path: str = "/signin/slack") -> str:
    """Leave for Slack, and give the state that one leaves with."""
    answer = await visit.get(path)
    assert answer.status == 303
    return parse_qs(urlsplit(answer.headers["Location"]).query)["state"][0]


async def back(visit: Visit, **query: str) -> Answer:
    """Come back from Slack."""
    return await visit.get("/signin/slack/back", params=query)


async def ask(visit: Visit, email: str) -> Answer:
    """Ask for a link."""
    csrf = (await visit.get("/signin")).csrf
    return await visit.post("/signin/email", {"csrf": csrf, "email": email})


async def test_one_comes_back_from_slack_once_and_in_the_same_browser() -> None:
    """A state that was used, guessed, or taken from another browser signs nobody in."""
    async with opened(slack=Slack(), people=people()) as grounds:
        otto, eve = grounds.visit(), grounds.visit()
        state = await left(otto, "/signin/slack?next=/threads")
        await left(eve)
        stolen = await back(eve, state=state, code="T1:U2")
        used_up = await back(otto, state=state, code="T1:U2")
        state = await left(otto, "/signin/slack?next=/threads")
        landed = await back(otto, state=state, code="T1:U2")
        again = await back(grounds.visit(), state=state, code="T1:U2")
        guessed = await back(grounds.visit(), state="guess", code="T1:U2")

        assert (landed.status, landed.headers["Location"]) == (303, "/threads")
        assert (await otto.get("/threads")).status == 200
        for refused in (stolen, used_up, again, guessed):
            assert (refused.status, SESSION in refused.cookies) == (403, False)


async def test_what_slack_does_not_confirm_signs_nobody_in() -> None:
    """A lie, a no, somebody who is not listed; and no other site is led to."""
    async with opened(slack=Slack(), people=people()) as grounds:
        visit = grounds.visit()
        lie = await back(visit, state=await left(visit), code="lie")
        no = await back(visit, state=await left(visit), error="access_denied")
        stranger = await back(visit, state=await left(visit), code="T9:U9")
        state = await left(visit, "/signin/slack?next=//evil.example")
        landed = await back(visit, state=state, code="T1:U2")

        assert [one.status for one in (lie, no, stranger)] == [403, 200, 403]
        assert "T9:U9" in stranger.text
        assert landed.headers["Location"] == "/"


async def test_links_are_mailed_seldom_and_only_to_those_listed() -> None:
    """Whoever is asked for too often gets no more, and nobody hears of it; a flood is refused."""
    mailer = Mailer()
    async with opened(mailer=mailer, people=people()) as grounds:
        visit = grounds.visit()
        answers = [await ask(visit, "otto@example.com") for _ in range(5)]
        answers += [await ask(visit, f"stranger{number}@example.com") for number in range(5)]
        flood = await ask(visit, "ann@example.com")
        odd = [await ask(grounds.visit(), wrong) for wrong in ("", "no address", "x" * 300 + "@y")]

        assert {one.status for one in answers} == {200}
        assert len({one.text.replace(one.csrf, "") for one in answers}) == 1
        assert flood.status == 429
        assert int(flood.headers["Retry-After"]) > 0
        assert [one.status for one in odd] == [422] * 3
    assert mailer.mailed == ["otto@example.com"] * 3


def people() -> tuple[Person, ...]:
    """List one person."""
    return (Person(name="otto", slack=("T1:U2",), email=("otto@example.com",)),)
