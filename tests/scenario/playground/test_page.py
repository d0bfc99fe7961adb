"""The playground in a real browser, with a real server behind it: the first minute, and beyond."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Locator, Page, expect

from gateway.playground.guide import STEPS
from gateway.playground.hosting import hosted, listening_on
from gateway.playground.stage import Stage, stage
from tests.doubles.browser import Chromium, check_accessible, chromium

LATER = 30_000
"""Milliseconds: a server that was killed takes its time to come back on a busy machine."""


@asynccontextmanager
async def playground() -> AsyncIterator[tuple[Stage, str, Chromium]]:
    """Everything, and a browser."""
    async with (
        stage(model={}, pace=1.5) as made,
        hosted(made, listening_on(0)) as url,
        chromium() as browser,
    ):
        yield made, url, browser


async def ticked(page: Page, *names: str) -> None:
    """Wait until steps are ticked off."""
    for name in names:
        await expect(page.locator(f"#step-{name}")).to_have_class(
            re.compile("is-done"), timeout=LATER
        )


async def shows(place: Locator, words: str) -> None:
    """Wait until a place shows these words."""
    await expect(place).to_contain_text(words, timeout=LATER)


async def open_cards(page: Page) -> tuple[int, int]:
    """Count what can be clicked in Slack, and what waits in the inbox."""
    in_slack = await page.locator("#slack button:text-is('Approve')").count()
    return in_slack, await page.locator("#inbox .card").count()


async def kill(page: Page) -> str:
    """Kill the server, and give the process that it was."""
    shown = page.locator(".server-state")
    await shows(shown, "server runs")
    pid = str(re.findall(r"\d+", await shown.inner_text())[0])
    await page.get_by_role("button", name="Kill the server").click()
    await expect(shown).not_to_contain_text(re.compile(rf"process {pid}\b"), timeout=LATER)
    return pid


async def mention(page: Page, text: str) -> None:
    """Write in the channel, and press Enter."""
    field = page.get_by_label("Message #releases")
    await field.fill(text)
    await field.press("Enter")


@pytest.mark.timeout(150)
async def test_first_minute_is_ticked_off_by_what_happens() -> None:
    """Mention, three copies, a reply by mail, a webhook, two kills; each step by itself."""
    async with playground() as (made, url, browser), browser.visit(url) as page:
        await page.goto("/")
        await expect(page.locator("#step-mention")).to_have_attribute("aria-current", "step")
        await expect(page.get_by_label("Message #releases")).to_have_value(
            "@parley please release 2.4.0"
        )
        await page.get_by_label("Message #releases").press("Enter")
        await ticked(page, "mention", "asked")
        assert await open_cards(page) == (1, 1)
        letter = page.locator("#mail .letter").first
        await shows(letter, "May I run deploy?")
        await check_accessible(page)

        await _typing_survives(page, made)
        await page.get_by_label("Reply to May I run deploy?").fill("yes")
        await page.get_by_role("button", name="Reply", exact=True).click()
        await ticked(page, "answered", "settled")
        assert await open_cards(page) == (0, 0)
        await shows(page.locator("#slack"), "Approved by olga")

        await page.get_by_role("button", name="Let the build fail").click()
        await ticked(page, "pipeline")
        first = await kill(page)
        await ticked(page, "killed")
        assert await open_cards(page) == (1, 1)

        await page.locator("#inbox").get_by_role("button", name="Approve").click()
        await shows(page.locator("#on-berlin-1"), "2.3.9")
        second = await kill(page)
        await ticked(page, *(step.name for step in STEPS))
        await shows(page.locator(".guide"), "nothing ran twice")
        await shows(page.locator("#log"), f"Process {second} was killed in the middle of roll_back")
        await shows(page.locator("#mail"), "Approved by you")

        await _answered_in_slack(page)
        await _asked_by_mail(page)
        await _inbox_of_the_server(page)
        await _without_a_script(browser, url, made)
        fleet = made.premises.fleet()

    assert first != second
    assert len(set(fleet)) == len(fleet) == 16


async def _typing_survives(page: Page, made: Stage) -> None:
    """What somebody is typing stays, and the field keeps the focus, when the page changes."""
    field = page.get_by_label("Message #releases")
    await field.fill("half a sent")
    await made.team.says("UANN", "CRELEASES", "something else happens")
    await shows(page.locator("#slack"), "something else happens")
    await expect(field).to_have_value("half a sent")
    await expect(field).to_be_focused()
    await field.fill("")


async def _answered_in_slack(page: Page) -> None:
    """A click in Slack settles the inbox too, and a dialog of Slack's can be filled in."""
    await mention(page, "@parley please release 2.5.0")
    await shows(page.locator("#inbox .card"), "2.5.0")
    await page.locator("#slack").get_by_role("button", name="Deny with a reason").last.click()
    dialog: Locator = page.get_by_role("dialog")
    await dialog.locator("textarea").fill("it is Friday")
    await dialog.locator("button.primary").click()
    await shows(page.locator("#slack"), "The lead says: it is Friday")
    await shows(page.locator("#inbox"), "Nothing waits for anybody")
    await mention(page, "@parley please release 2.6.0")
    await shows(page.locator("#inbox .card"), "2.6.0")
    await page.locator("#slack button:text-is('Approve')").click()
    await shows(page.locator("#on-dublin-2"), "2.6.0")


async def _asked_by_mail(page: Page) -> None:
    """A mail begins a thread of the refund desk, and its question comes back by mail."""
    await page.get_by_text("Write to the refund desk").click()
    await page.get_by_role("button", name="Send the mail").click()
    await shows(page.locator("#inbox .card"), "May I run refund?")
    await page.locator("#inbox").get_by_role("button", name="Approve").click()
    await shows(page.locator("#pipeline"), "order 1042: 59.90 EUR")


async def _inbox_of_the_server(page: Page) -> None:
    """One click signs in to the real inbox, in a tab of its own; its button is pressed there."""
    async with page.expect_popup() as opened:
        await page.get_by_role("link", name="Open the whole inbox").click()
    inbox = await opened.value
    await inbox.get_by_role("button", name="Sign in").click()
    await shows(inbox.locator(".who"), "you")
    await inbox.close()


async def _without_a_script(browser: Chromium, url: str, made: Stage) -> None:
    """Forms post, and the page comes anew: nothing is kept from who has no JavaScript."""
    async with browser.visit(url, scripts=False) as page:
        await page.goto("/")
        await page.get_by_label("Message #releases").fill("@parley please release 2.7.0")
        await page.locator("#slack > .composer").get_by_role("button", name="Send").click()
        await made.until(made.open_question)
        await page.reload()
        await page.locator("#inbox").get_by_role("button", name="Approve").click()
        await made.until(lambda scene: scene.threads[-1].is_over or None)
        await page.reload()
        await shows(page.locator("#on-dublin-2"), "2.7.0")
