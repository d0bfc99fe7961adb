"""Signing in, in a real browser: by a key, by a link in a mail, with Slack; and out again."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page

from tests.doubles.browser import PHONE, Chromium, allow, check_accessible
from tests.scenario.inbox.porch import Porch, porch

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Porch]:
    """Open a house with every way in."""
    async with porch(tmp_path_factory.mktemp("porch") / "server") as opened:
        yield opened


async def press(page: Page, name: str) -> None:
    """Press a button."""
    await page.get_by_role("button", name=name).click()


async def who(page: Page) -> str:
    """Give who is signed in, once the page has it."""
    await page.get_by_role("button", name="Sign out").wait_for()
    return await page.inner_text(".who")


async def test_a_key_opens_the_inbox_until_one_signs_out(browser: Chromium, house: Porch) -> None:
    """Whoever asks for a page is led to the sign-in and back to that page; signing out ends it."""
    async with browser.visit(house.url) as page:
        await page.goto("/threads?status=waiting")
        await page.get_by_label("API key").fill(house.key)
        await press(page, "Sign in with the key")
        await page.wait_for_url(re.compile(r"/threads\?status=waiting$"))
        assert await who(page)
        await press(page, "Sign out")
        await page.get_by_text("You are signed out.").wait_for()

        await page.goto("/")
        assert "/signin" in page.url


async def test_a_wrong_key_is_told_and_costs_nothing(browser: Chromium, house: Porch) -> None:
    """The page says so, and the right one still works; no script is needed for any of it."""
    async with browser.visit(house.url, scripts=False) as page:
        allow(page, status=[401])
        await page.goto("/signin")
        await page.get_by_label("API key").fill("pk_wrong")
        await press(page, "Sign in with the key")
        assert "unknown or was revoked" in await page.inner_text("[role=alert]")
        await page.get_by_label("API key").fill(house.key)
        await press(page, "Sign in with the key")

        assert await who(page)


async def test_a_mailed_link_signs_in_once_in_the_browser_that_asked(
    browser: Chromium, house: Porch
) -> None:
    """Another browser is told to ask for its own, and a link that was used is used up."""
    async with browser.visit(house.url, scripts=False) as page:
        allow(page, status=[410])
        await page.goto("/threads")
        await page.get_by_label("Your mail address").fill("Otto@Example.com")
        await press(page, "Mail me a link")
        assert "is on its way" in await page.inner_text("[role=status]")
        link = await house.mailed_link("otto@example.com")

        async with browser.visit(house.url) as other:
            allow(other, status=[403])
            await other.goto(link)
            assert "in the browser where you asked for it" in await other.inner_text("main")
        await page.goto(link)
        await press(page, "Sign in")
        await page.wait_for_url("**/threads")
        assert await who(page) == "otto"
        await page.goto(link)
        assert "was used before" in await page.inner_text("main")


async def test_an_address_that_is_not_listed_gets_the_same_words_and_no_mail(
    browser: Chromium, house: Porch
) -> None:
    """Nobody finds out by asking who is listed."""
    async with browser.visit(house.url, viewport=PHONE) as page:
        await page.goto("/signin")
        await page.get_by_label("Your mail address").fill("stranger@example.com")
        await press(page, "Mail me a link")
        told = await page.inner_text("[role=status]")
        await page.get_by_label("Your mail address").fill("ann@example.com")
        await press(page, "Mail me a link")
        await house.mailed_link("ann@example.com")

        assert told == await page.inner_text("[role=status]")
        assert not house.office.letters("stranger@example.com")


async def test_slack_tells_who_somebody_is(browser: Chromium, house: Porch) -> None:
    """Whoever is listed with that account is signed in, and lands where they wanted to be."""
    async with browser.visit(house.url, scripts=False) as page:
        await page.goto("/threads")
        await page.get_by_role("link", name="Sign in with Slack").click()
        await press(page, "otto in Acme")
        await page.wait_for_url("**/threads")

        assert await who(page) == "otto"


async def test_somebody_of_slack_who_is_not_listed_is_told_so(
    browser: Chromium, house: Porch
) -> None:
    """Politely, and with what an operator would have to write; saying no at Slack is fine, too."""
    async with browser.visit(house.url) as page:
        allow(page, status=[403])
        await page.goto("/signin/slack")
        await press(page, "eve in Acme")
        words = await page.inner_text("main")
        assert 'slack = "T1:UEVE"' in words
        await page.goto("/signin/slack")
        await press(page, "Cancel")

        assert "Nothing has changed" in await page.inner_text("[role=alert]")


async def test_the_colours_can_be_chosen_without_a_script(browser: Chromium, house: Porch) -> None:
    """The choice lasts, whatever the system says."""
    async with browser.visit(house.url, scripts=False, look="light") as page:
        await page.goto("/signin")
        await press(page, "Use the dark colours")
        await page.wait_for_url("**/signin")
        await page.goto("/signin")

        assert await page.get_attribute("html", "data-theme") == "dark"
        assert await page.get_by_role("button", name="Use the light colours").count() == 1


DEFACE = """() => {
    const script = document.createElement("script");
    try { script.text = "window.ran = 1"; } catch (error) {}
    document.head.append(script);
    try { document.body.innerHTML = "<b id=made>x</b>"; } catch (error) {}
    return [window.ran, document.getElementById("made")];
}"""


async def defaced(browser: Chromium, house: Porch) -> None:
    """Try to run a script and to make markup of a text, until the browser has told us."""
    async with browser.visit(house.url) as page:
        await page.goto("/signin")
        async with page.expect_request(f"{house.url}/reports/csp"):
            assert await page.evaluate(DEFACE) == [None, None]


async def test_what_the_policy_stops_fails_the_visit_and_is_reported(
    browser: Chromium, house: Porch
) -> None:
    """No inline script runs, and no text becomes markup; nor can a test miss that it was tried."""
    with pytest.raises(AssertionError, match="policy report"):
        await defaced(browser, house)


async def test_the_pages_for_signing_in_are_accessible(browser: Chromium, house: Porch) -> None:
    """Axe finds nothing in light and dark, on a desk and on a phone; nor on an error's page."""
    async with browser.visit(house.url) as page:
        allow(page, status=[404])
        await page.goto("/signin")
        await check_accessible(page)
        await page.goto("/signin/none/of/these")
        await check_accessible(page)
