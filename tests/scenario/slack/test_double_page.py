"""The Slack double's page in a real browser: it is live, and lets people finish typing."""

from __future__ import annotations

from playwright.async_api import expect

from channels.slack.double import SlackDouble
from tests.doubles.browser import chromium


async def test_page_shows_what_happens_but_waits_for_who_is_typing() -> None:
    """It reloads by itself, not while a field has something in it, and then all the same."""
    async with SlackDouble() as slack, chromium() as browser, browser.visit(slack.url) as page:
        team = slack.workspace("T1", name="Acme")
        team.user("U1", name="ann")
        team.channel("C1", name="general", members=["U1", "UBOT"])
        await page.goto("/")
        await team.says("U1", "C1", "first words")
        await expect(page.locator("main")).to_contain_text("first words")

        field = page.get_by_label("Message #general, or /command")
        await field.fill("half a sent")
        async with page.expect_response(lambda answer: "/changes" in answer.url) as told:
            await team.says("U1", "C1", "second words")
        await (await told.value).finished()
        assert await field.input_value() == "half a sent"
        assert await page.get_by_text("second words").count() == 0

        await field.fill("")
        await expect(page.locator("main")).to_contain_text("second words")

        await field.fill("@parley hello")
        await page.locator("main > .composer button").click()
        await expect(page.locator(".mention")).to_have_text("@parley")

    assert [message.text for message in team.messages("C1")][-1] == "<@UBOT> hello"
