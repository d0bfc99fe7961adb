"""The inbox in a real Chromium: keys, live updates, and what axe says of every page.

One browser and one house for all of it. Whatever a page complains of, such as something that the
security policy stopped, fails the test.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from playwright.async_api import Page, ViewportSize, expect

from gateway.http.options import HttpOptions
from tests.doubles.browser import (
    EACH_ONCE,
    PHONE,
    WIDE,
    Chromium,
    allow,
    check_accessible,
)
from tests.doubles.inbox_house import InboxHouse, inbox_house

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def house() -> AsyncIterator[InboxHouse]:
    """Open an inbox whose streams say often that they live."""
    async with inbox_house(options=HttpOptions(shutdown_grace=0.2, heartbeat=0.5)) as opened:
        yield opened


@asynccontextmanager
async def signed_in(
    browser: Chromium, house: InboxHouse, name: str, viewport: ViewportSize = WIDE
) -> AsyncIterator[Page]:
    """Open a window of somebody."""
    async with browser.visit(house.url, viewport=viewport) as page:
        cookies = await house.sign_in(name)
        await page.context.add_cookies(
            [{"name": key, "value": value, "url": house.url} for key, value in cookies.items()]
        )
        yield page


async def live(page: Page) -> None:
    """Wait until the stream is open."""
    await expect(page.locator("[data-live]")).to_have_text("Live")


def _tags(html: str) -> list[str]:
    """Take a piece of a page apart, so that a difference is told by where it is."""
    return [one for one in re.split(r"\s*(<[^>]*>)\s*", html) if one]


async def test_keys_move_open_approve_and_deny(browser: Chromium, house: InboxHouse) -> None:
    """No slip of one key decides: `a` needs Enter, `d` a reason and Ctrl+Enter."""
    first = await house.launch("refund order 1042")
    second = await house.launch("refund order 7")
    third = await house.launch("ask for the name")
    async with signed_in(browser, house, "otto") as page:
        await page.goto("/")
        await page.keyboard.press("a")
        await expect(page.locator("[data-say]")).to_have_text(
            "Choose a question first, with j and k."
        )
        await page.keyboard.press("j")
        await expect(page.locator("[data-item]").first).to_be_focused()
        await page.keyboard.press("k")
        await expect(page.locator("[data-item]").first).to_be_focused()
        await page.keyboard.press("a")
        await expect(page.get_by_role("button", name="Approve").first).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.locator(".notice")).to_have_text("Approved.")

        await page.keyboard.press("j")
        await page.keyboard.press("d")
        await page.keyboard.type("jad? too much")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".notice")).to_have_text("Denied: the agent is told.")

        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await page.wait_for_url(re.compile("/questions/"))
        await page.get_by_label("Your answer").fill("Ada")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".lead")).to_have_text("Nothing waits for you.")

    answers = [
        (await house.gateway.question(one.questions[0].id)).answer for one in (first, second, third)
    ]
    assert answers == [{"approved": True}, {"approved": False}, "Ada"]
    comment = (await house.gateway.question(second.questions[0].id)).comment
    assert comment == "jad? too much"


async def test_help_search_and_going_places_by_key(browser: Chromium, house: InboxHouse) -> None:
    """`?` opens the help and Escape closes it; letters typed into a field are only letters."""
    await house.launch("refund the vase")
    async with signed_in(browser, house, "root") as page:
        await page.goto("/figures")
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.press("j")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()
        await page.keyboard.press("g")
        await page.keyboard.press("t")
        await page.wait_for_url(re.compile("/threads$"))
        await page.keyboard.press("/")
        await page.keyboard.type("gjada vase?")
        await expect(page.get_by_label("Search")).to_have_value("gjada vase?")
        await page.get_by_label("Search").fill("vase")
        await page.keyboard.press("Enter")
        await expect(page.locator(".thread-row")).to_have_count(1)
        await page.keyboard.press("Escape")
        await page.locator("h1").click()
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await page.wait_for_url(re.compile("/threads/th_"))
        await page.keyboard.press("g")
        await page.keyboard.press("w")
        await page.wait_for_url(house.url + "/")
        await page.keyboard.press("/")
        await page.wait_for_url(re.compile("/threads#q$"))
        await expect(page.get_by_label("Search")).to_be_focused()


async def test_edits_are_made_and_looked_at_in_the_browser(
    browser: Chromium, house: InboxHouse
) -> None:
    """`e` leads to the form; the difference stands there before anything is sent."""
    thread = await house.launch("refund order 1042")
    async with signed_in(browser, house, "otto", PHONE) as page:
        await page.goto(f"/questions/{thread.questions[0].id}")
        await page.keyboard.press("e")
        await page.wait_for_url(re.compile("/edit$"))
        await page.get_by_label("amount").fill("20")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".changed .after")).to_have_text("20")
        await page.get_by_label("A reason").fill("half")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".notice")).to_have_text("Approved with your changes.")


async def test_a_thread_goes_on_before_ones_eyes(browser: Chromium, house: InboxHouse) -> None:
    """What comes live is built from templates, and is exactly what a reload shows."""
    thread = await house.launch("refund order 1042")
    async with signed_in(browser, house, "root") as page:
        await page.goto(f"/threads/{thread.id}")
        await live(page)
        question = thread.questions[0].id
        edited = {"order": "1042", "amount": 1, "reason": "x" * 3000}
        await house.gateway.answer(
            question, {"approved": True, "arguments": edited}, by="otto", comment="as <b>agreed</b>"
        )
        await house.rested(thread.id)
        await house.gateway.say(thread.id, "wire it then\n" * 40, by="ann")
        await house.rested(thread.id)
        last = len(await house.gateway.events(thread.id))
        await expect(page.locator(f"#e{last}")).to_be_attached()
        await expect(page.locator("main [data-status]").first).to_have_text("waiting")
        await expect(page.locator("[data-news]")).to_be_visible()
        timeline = "() => document.querySelector('[data-timeline]').innerHTML.replace(/\\s+/g, ' ')"
        grown = await page.evaluate(timeline)
        await page.keyboard.press("r")
        await page.wait_for_load_state()
        await live(page)
        reloaded = await page.evaluate(timeline)

    assert _tags(grown) == _tags(reloaded)


async def test_nothing_is_lost_while_the_line_is_cut(browser: Chromium, house: InboxHouse) -> None:
    """It says so, comes back by itself, and has what happened meanwhile, once."""
    thread = await house.launch("hello")
    async with signed_in(browser, house, "ann") as page:
        allow(page, "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING")
        await page.goto(f"/threads/{thread.id}")
        await live(page)
        await house.door.shut()
        await expect(page.locator("[data-live]")).to_have_text("Disconnected — trying again")
        await house.gateway.say(thread.id, "while you were away", by="olga")
        await house.rested(thread.id)
        await house.door.open()
        await live(page)
        last = len(await house.gateway.events(thread.id))
        await expect(page.locator(f"#e{last}")).to_be_attached()
        numbers = await page.locator(".entry").evaluate_all("all => all.map(one => one.id)")

    assert numbers == [f"e{seq}" for seq in range(1, last + 1)]


async def test_who_is_signed_out_meanwhile_is_told_so(browser: Chromium, house: InboxHouse) -> None:
    """Not that the line is cut: no waiting would bring it back."""
    async with signed_in(browser, house, "otto") as page:
        await page.goto("/")
        await live(page)
        await house.sessions.revoke(lambda _, session: session.name == "otto")
        await expect(page.locator("[data-live]")).to_have_text("Signed out — reload to sign in")
        await page.reload()
        await expect(page).to_have_title("Sign in · Parley")


async def test_the_queue_tells_what_is_new_and_moves_nothing(
    browser: Chromium, house: InboxHouse
) -> None:
    """What somebody is about to press stays where it is; what is settled says so in its place."""
    mine = await house.launch("refund order 1")
    async with signed_in(browser, house, "otto") as page:
        await page.goto("/")
        await live(page)
        button = page.get_by_role("button", name="Approve").first
        before = await button.bounding_box()
        await house.launch("choose a colour")
        await expect(page.locator("[data-news]")).to_have_text("1 new — show")
        assert await button.bounding_box() == before
        await expect(page).to_have_title(re.compile(r"^\(2\) "))
        await house.gateway.answer(mine.questions[0].id, {"approved": True}, by="olga")
        await expect(page.locator("[data-settled]")).to_have_count(1)
        await expect(button).to_be_disabled()
        assert await button.bounding_box() == before
        await page.locator("[data-news]").click()
        await expect(page.locator("h2", has_text="A choice")).to_have_count(1)
        await expect(page.get_by_role("button", name="Approve")).to_have_count(0)


async def test_what_is_being_written_stays_when_the_page_comes_anew(
    browser: Chromium, house: InboxHouse
) -> None:
    """Showing what is new costs nobody their words, nor does answering another question.

    A window that was opened after others had gone is told what is open, not what was.
    """
    first = await house.launch("refund order 1042")
    async with signed_in(browser, house, "otto") as page:
        await page.goto("/")
        await live(page)
        await page.goto("/threads")
        await house.launch("choose a colour")
        await page.goto("/")
        await live(page)
        await expect(page).to_have_title("(2) Waiting for you · Parley")
        await page.get_by_label("A reason or remark").fill("I wonder")
        await page.get_by_label("green").check()
        await house.launch("ask for the name")
        await page.get_by_role("button", name="1 new — show").click()
        await expect(page.locator("[data-item]")).to_have_count(3)
        await expect(page.get_by_label("A reason or remark")).to_have_value("I wonder")
        await expect(page.get_by_label("green")).to_be_checked()
        await page.get_by_role("button", name="Send").first.click()
        await expect(page.locator(".notice")).to_have_text(re.compile("Thank you"))
        await expect(page.get_by_label("A reason or remark")).to_have_value("I wonder")
        await page.get_by_role("button", name="Deny").click()
        await expect(page.locator(".notice")).to_have_text(re.compile("Denied"))
        await page.get_by_label("Your answer").fill("between us")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page).to_have_title("Sign in · Parley")
        assert await page.evaluate("() => sessionStorage.length") == 0
    assert (await house.rested(first.id)).status == "finished"


async def test_axe_finds_nothing_on_any_page(browser: Chromium, house: InboxHouse) -> None:
    """In light and dark, on a desk and on a phone."""
    first = await house.launch("refund order 1042")
    voted = await house.launch("wire 5000")
    await house.launch("choose a colour")
    form = await house.launch("ship it")
    proposal = {"approved": True, "arguments": {"to": "ACME", "amount": 4000}}
    await house.gateway.answer(voted.questions[0].id, proposal, by="olga", comment="less")
    await house.gateway.answer(form.questions[0].id, {"street": "Main", "size": "small"}, by="olga")
    await house.gateway.halt("fire drill", by="root")
    async with signed_in(browser, house, "root") as page:
        for path in (
            "/",
            f"/questions/{voted.questions[0].id}",
            f"/questions/{form.questions[0].id}",
            "/threads?q=order",
            f"/threads/{first.id}",
            "/figures",
            "/halt",
        ):
            await page.goto(path)
            await check_accessible(page, views=EACH_ONCE)
    async with signed_in(browser, house, "otto") as page:
        allow(page, status=[422])
        await page.goto("/")
        await check_accessible(page, views=EACH_ONCE)
        await page.goto(f"/questions/{first.questions[0].id}/edit")
        await page.get_by_label("amount").fill("lots")
        await page.get_by_role("button", name="See the difference").click()
        await check_accessible(page, views=EACH_ONCE)
        await page.get_by_label("amount").fill("1")
        await page.get_by_role("button", name="See the difference").click()
        await check_accessible(page, views=EACH_ONCE)
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Keys").click()
        await check_accessible(page, views=EACH_ONCE)
    await house.gateway.lift(by="root")
