"""Makes docs/playground.png, the picture in the README, from the playground itself.

Run it after a change of the page: .venv/bin/python docs/playground_picture.py
"""  # noqa: INP001 - run by its path; docs is no package

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from playwright.async_api import async_playwright

from gateway.playground.hosting import hosted, listening_on
from gateway.playground.stage import stage

PICTURE = Path(__file__).with_name("playground.png")


async def main() -> None:
    """Mention the bot, and take the picture when the question stands everywhere."""
    async with (
        stage(model={}) as made,
        hosted(made, listening_on(0)) as address,
        async_playwright() as playwright,
    ):
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = await browser.new_page(viewport={"width": 1440, "height": 1000})
        await page.goto(address)
        await page.click("text=server runs")
        await page.click("#slack > .composer button")
        await page.wait_for_selector("#step-asked.is-done")
        await page.screenshot(path=PICTURE)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
