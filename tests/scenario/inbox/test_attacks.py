"""What strangers and other sites try at the door, by plain HTTP; each gets a clear page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from agent_core.loop.world import World
from agent_core.thread.events import Millis
from gateway.control.memory import SealedMemory
from gateway.http.options import HttpOptions
from gateway.inbox.cookies import BROWSER, SESSION
from gateway.inbox.links import Links
from gateway.inbox.sessions import OWNER
from storage.errors import StoreUnreachable
from storage.memory import MemoryStore
from tests.doubles.inbox_house import PEOPLE, SECRET
from tests.scenario.inbox.visits import Grounds, opened


class Ailing(MemoryStore):
    """A store that can be away."""

    is_away = False

    async def recall(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give what was kept, or say that it can't be had."""
        if self.is_away:
            raise StoreUnreachable("the database is away")
        return await super().recall(owner, key, now=now)


@pytest.fixture
async def grounds() -> AsyncIterator[Grounds]:
    """Open the house for one test."""
    async with opened(store=Ailing()) as made:
        yield made


# --- forged forms ---------------------------------------------------------------------------------


async def test_a_form_without_its_token_does_nothing(grounds: Grounds) -> None:
    """Nor with another's token, nor one from before signing in; the session goes on."""
    visit, other = await grounds.signed_in(), grounds.visit()
    others = (await other.get("/signin")).csrf
    for form in ({}, {"csrf": ""}, {"csrf": others}, {"csrf": "guess"}):
        refused = await visit.post("/signout", form)
        assert (refused.status, "Nothing has changed" in refused.text) == (403, True)

    assert (await visit.get("/")).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_another_site_posts_in_vain_even_with_the_token(
    grounds: Grounds, headers: dict[str, str]
) -> None:
    """The browser says where a form comes from."""
    visit = await grounds.signed_in()
    csrf = (await visit.get("/")).csrf

    assert (await visit.post("/signout", {"csrf": csrf}, headers=headers)).status == 403
    assert (await visit.get("/")).status == 200
    assert (await visit.post("/signout", {"csrf": csrf})).status == 303


async def test_nobody_is_signed_in_by_another_site(grounds: Grounds) -> None:
    """A form for signing in needs the browser's own token: nobody lands in another's session."""
    key, _ = await grounds.key()
    victim, attacker = grounds.visit(), grounds.visit()
    theirs = (await attacker.get("/signin")).csrf
    refused = await victim.post("/signin/key", {"csrf": theirs, "key": key})

    assert refused.status == 403
    assert SESSION not in victim.cookies


# --- sessions -------------------------------------------------------------------------------------


async def test_signing_in_makes_a_new_session_whatever_the_browser_held(grounds: Grounds) -> None:
    """So nobody can be made to use a session that somebody else knows."""
    key, _ = await grounds.key()
    visit = grounds.visit(**{SESSION: "fixed"})
    await visit.sign_in(key)
    first = visit.cookies[SESSION]
    csrf = (await visit.get("/")).csrf
    again = await visit.post("/signin/key", {"csrf": csrf, "key": key})

    assert "fixed" != first != visit.cookies[SESSION]
    assert again.status == 303
    assert (await grounds.visit(**{SESSION: "fixed"}).get("/")).status == 303
    assert (await grounds.visit(**{SESSION: first}).get("/")).status == 303, "the old one is over"


@pytest.mark.parametrize("forged", ["", "guess", "%00", "a" * 3500, '"; x="'])
async def test_a_forged_cookie_leads_to_the_sign_in(grounds: Grounds, forged: str) -> None:
    """Whatever stands in it, and also where the API would have known a key by it."""
    answer = await grounds.visit(**{SESSION: forged, BROWSER: forged}).get("/")

    assert (answer.status, answer.headers["Location"]) == (303, "/signin")


async def test_a_cookie_never_opens_the_api(grounds: Grounds) -> None:
    """Only a key does: so no page of another site can call it in somebody's name."""
    visit = await grounds.signed_in()
    answer = await visit.get("/v1/threads")

    assert (answer.status, answer.headers["Content-Type"]) == (401, "application/problem+json")


async def test_a_revoked_key_ends_its_sessions(grounds: Grounds) -> None:
    """With the next page, and for good."""
    key, row = await grounds.key()
    visit = grounds.visit()
    await visit.sign_in(key)
    assert (await visit.get("/")).status == 200
    await grounds.house.store.revoke_key(row.id, now=World().now())

    async with opened(store=grounds.house.store) as restarted:  # nothing is believed there yet
        again = restarted.visit(**{SESSION: visit.cookies[SESSION]})
        assert (await again.get("/")).status == 303


async def test_a_person_who_is_no_more_listed_is_signed_out(grounds: Grounds) -> None:
    """Nor does somebody stay whose address is another's now, or who has another one."""
    moved = (PEOPLE[1].model_copy(update={"email": ("new@example.com",)}),)
    given = (PEOPLE[2].model_copy(update={"email": ("otto@example.com",)}),)
    for people in (PEOPLE[:1], moved, given):
        cookies = await grounds.house.sign_in("otto")
        assert (await grounds.visit(**cookies).get("/")).status == 200
        async with opened(store=grounds.house.store, people=people) as later:
            assert (await later.visit(**cookies).get("/")).status == 303


async def test_a_key_sees_only_what_its_scopes_show(grounds: Grounds) -> None:
    """The page says what is missing, in words."""
    visit = grounds.visit()
    await visit.sign_in((await grounds.key("launch"))[0])
    refused = await visit.get("/")

    assert refused.status == 403
    assert "read" in refused.text
    assert refused.headers["Content-Type"].startswith("text/html")


async def test_a_key_that_may_answer_may_look_at_what_waits(grounds: Grounds) -> None:
    """As over the API: at questions, and at nothing else."""
    visit = grounds.visit()
    await visit.sign_in((await grounds.key("answer"))[0])

    assert (await visit.get("/")).status == 200
    assert (await visit.get("/threads")).status == 403


# --- guessing -------------------------------------------------------------------------------------


async def test_guessing_keys_is_slowed_down(grounds: Grounds) -> None:
    """A right one still gets in."""
    async with opened(options=HttpOptions(failures_burst=3, shutdown_grace=0.2)) as strict:
        key, _ = await strict.key()
        visit = strict.visit()
        statuses = [(await visit.sign_in(f"pk_{number}")).status for number in range(5)]

        assert statuses == [401, 401, 401, 429, 429]
        assert (await visit.sign_in(key)).status == 303


async def test_a_link_is_used_once_however_many_try(grounds: Grounds) -> None:
    """A look changes nothing, HEAD neither; a form without the page's token does not use it up."""
    links = Links(SealedMemory(grounds.house.store, OWNER, SECRET))
    visit = grounds.visit()
    await visit.get("/signin")
    path = await links.make(
        "email", identity="email:otto@example.com", name="otto", browser=visit.cookies[BROWSER]
    )
    assert (await visit.ask("HEAD", path)).status == 200
    assert (await visit.post(path, {})).status == 403
    stranger = grounds.visit()
    theirs = (await stranger.get("/signin")).csrf
    assert (await stranger.get(path)).status == 403
    assert (await stranger.post(path, {"csrf": theirs})).status == 403
    csrf = (await visit.get(path)).csrf
    assert (await visit.post(path, {"csrf": csrf})).status == 303
    assert (await visit.get("/")).status == 200

    again = grounds.visit(**{BROWSER: "x"})
    assert (await again.get(path)).status == 410
    assert (await again.get("/signin/link/guess")).status == 410


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example", "/\\evil.example", "/signout"]
)
async def test_signing_in_never_leads_to_another_site(grounds: Grounds, elsewhere: str) -> None:
    """Wherever the address asks to go next."""
    visit = grounds.visit()
    key, _ = await grounds.key()
    shown = await visit.get("/signin", params={"next": elsewhere})
    answer = await visit.sign_in(key, next=elsewhere)
    led_on = await visit.get("/signin", params={"next": elsewhere})

    assert "evil.example" not in shown.text
    assert answer.headers["Location"] == led_on.headers["Location"] == "/"


async def test_ways_that_are_not_offered_are_not_there(grounds: Grounds) -> None:
    """Without mail and Slack, neither can be used by its address."""
    visit = grounds.visit()
    csrf = (await visit.get("/signin")).csrf

    assert (await visit.post("/signin/email", {"csrf": csrf, "email": "a@b.c"})).status == 404
    assert (await visit.get("/signin/slack")).status == 404


# --- what pages say to browsers -------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/signin", "/threads/nothing/here", "/signin/link/guess"])
async def test_every_page_is_guarded_by_its_headers(grounds: Grounds, path: str) -> None:
    """No script but ours, no frame, no guessing of types, nothing kept; also where it fails."""
    answer = await grounds.visit().get(path)
    policy = answer.headers["Content-Security-Policy"]

    for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert part in policy
    assert "trusted-types 'none'; report-uri /reports/csp" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer.headers["Referrer-Policy"] == "same-origin"


async def test_cookies_are_for_us_alone(grounds: Grounds) -> None:
    """No script reads them, no other site's form sends them."""
    visit = grounds.visit()
    key, _ = await grounds.key()
    answer = await visit.sign_in(key)
    session = next(
        one for one in answer.headers.getall("Set-Cookie") if one.startswith(f"{SESSION}=")
    )

    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(session.split("; "))
    assert "Domain" not in session


async def test_styles_and_scripts_are_kept_by_their_digest(grounds: Grounds) -> None:
    """For ever where it fits, and not at all elsewhere."""
    visit = grounds.visit()
    page = await visit.get("/signin")
    found = re.search(r'href="(/static/style\.[0-9a-f]{16}\.css)"', page.text)
    assert found is not None
    style = await visit.get(found[1])

    assert style.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert style.headers["Content-Type"] == "text/css; charset=utf-8"
    for wrong in ("/static/style.css", "/static/..%2fapp.py", "/static/../app.py"):
        assert (await visit.get(wrong)).status == 404


async def test_a_report_of_a_browser_is_counted(grounds: Grounds) -> None:
    """An operator sees in the metrics that a page was attacked, or is broken."""
    visit = grounds.visit()
    before = (await visit.get("/metrics")).text
    await visit.ask("POST", "/reports/csp", json={"csp-report": {}})

    assert "parley_policy_reports_total 0.0" in before
    assert "parley_policy_reports_total 1.0" in (await visit.get("/metrics")).text


async def test_what_can_not_be_done_is_told_as_a_page(grounds: Grounds) -> None:
    """Methods, sizes and shapes that no form of ours sends."""
    visit = grounds.visit()
    csrf = (await visit.get("/signin")).csrf
    put = await visit.ask("PUT", "/signin")
    large = await visit.post("/signin/key", {"csrf": csrf, "key": "x" * 20_000})
    json_ = await visit.ask("POST", "/signin/key", json={"csrf": csrf})
    nul = await visit.post("/signin/key", {"csrf": csrf, "key": "a\0b"})
    bad = await visit.ask("POST", "/signin/key", data=b"csrf=%ff", headers=_FORM)
    deep = await visit.get("/signin?" + "&".join(f"a{number}=1" for number in range(600)))

    told = [one.status for one in (put, large, json_, nul, bad, deep)]
    assert told == [405, 413, 415, 400, 400, 400]
    assert put.headers["Allow"] == "GET, HEAD"
    for one in (put, large, json_, nul, bad, deep):
        assert one.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "<h1>" in one.text


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def test_a_store_that_is_away_is_told_as_a_page(grounds: Grounds) -> None:
    """Also to somebody who has signed in: whatever can't be asked for is left out."""
    visit = await grounds.signed_in()
    store = grounds.house.store
    assert isinstance(store, Ailing)
    store.is_away = True
    answer = await visit.get("/threads")
    store.is_away = False

    assert answer.status == 503
    assert "<h1>Not just now</h1>" in answer.text
    assert (await visit.get("/threads")).status == 200


async def test_whoever_is_lost_gets_a_page_and_a_program_gets_json(grounds: Grounds) -> None:
    """By what they say that they read; the API speaks JSON to everybody."""
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    page = await grounds.visit().get("/thread/th_1", headers=browser)
    program = await grounds.visit().get("/thread/th_1")
    api = await grounds.visit().get("/v1/nothing", headers=browser)
    posted = await grounds.visit().ask("POST", "/thread/th_1", headers=browser)

    assert (page.status, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "There is nothing at this address." in page.text
    for one in (program, api, posted):
        assert (one.status, one.headers["Content-Type"]) == (404, "application/problem+json")


async def test_head_gives_what_get_would_without_the_page(grounds: Grounds) -> None:
    """RFC 9110, section 9.3.2."""
    answer = await grounds.visit().ask("HEAD", "/signin")

    assert (answer.status, answer.text) == (200, "")
    assert "Content-Security-Policy" in answer.headers
