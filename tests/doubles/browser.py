"""A real browser before our pages: Debian's Chromium, driven by Playwright.

    async with chromium() as browser:                # once a module: it takes a second to start
        async with browser.visit(url) as page:       # a new profile each time
            await page.goto("/")
            await check_accessible(page)

Whatever a page complains of fails the test when the visit ends: an error on the console, a script
that raises, something that the security policy stopped. Tests of one module share a loop with it:
`pytestmark = pytest.mark.asyncio(loop_scope="module")`, and a fixture like the one in
`tests/scenario/inbox/conftest.py`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Request,
    ViewportSize,
    async_playwright,
)

WIDE: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
Look = Literal["light", "dark"]
LOOKS: tuple[Look, ...] = ("light", "dark")
View: TypeAlias = tuple[Look, ViewportSize]

_FLAGS = (
    "--no-sandbox",  # CI is root in a container, and visits nobody but us
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--no-first-run",
    "--no-proxy-server",
)
_REPORTS = "/reports/csp"
_STATUS = "the server responded with a status of "
_PATIENCE_MS = 10_000


@dataclass
class Troubles:
    """What a page has complained of."""

    told: list[str] = field(default_factory=list)
    allowed: set[str] = field(default_factory=set)

    def watch(self, page: Page) -> None:
        """Listen to a page."""
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.told.append(f"page error: {error}"))
        page.on("request", self._see)

    def rest(self) -> list[str]:
        """Give those that nobody has allowed."""
        return [one for one in self.told if not any(part in one for part in self.allowed)]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.told.append(f"console {message.type}: {message.text} ({message.location['url']})")

    def _see(self, request: Request) -> None:
        if request.url.endswith(_REPORTS):
            self.told.append(f"policy report: {request.post_data}")


_WATCHED: dict[Page, Troubles] = {}


def allow(page: Page, *parts: str, status: Sequence[int] = ()) -> None:
    """Let a page complain in these words, or answer with these statuses."""
    _WATCHED[page].allowed |= {*parts, *(f"{_STATUS}{one}" for one in status)}


@dataclass
class Chromium:
    """The browser; each visit is a person of their own."""

    browser: Browser

    @asynccontextmanager
    async def visit(
        self,
        url: str,
        *,
        look: Look = "light",
        viewport: ViewportSize = WIDE,
        scripts: bool = True,
        **more: Any,  # noqa: ANN401 (of Playwright's new_context)
    ) -> AsyncIterator[Page]:
        """Open a page with a fresh profile, on which addresses are relative to `url`."""
        context = await self.browser.new_context(
            base_url=url,
            color_scheme=look,
            viewport=viewport,
            java_script_enabled=scripts,
            locale="en-GB",
            timezone_id="Europe/Berlin",
            reduced_motion="reduce",
            **more,
        )
        context.set_default_timeout(_PATIENCE_MS)
        page = await context.new_page()
        troubles = _WATCHED[page] = Troubles()
        troubles.watch(page)
        try:
            yield page
        finally:
            del _WATCHED[page]
            await context.close()
        assert not troubles.rest(), "\n".join(troubles.rest())


@asynccontextmanager
async def chromium() -> AsyncIterator[Chromium]:
    """Start the browser; where there is none, the test is skipped, but never in CI."""
    path = os.environ.get("PARLEY_TEST_CHROMIUM") or shutil.which("chromium")
    if path is None and not os.environ.get("CI"):
        pytest.skip("there is no chromium: apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        try:
            yield Chromium(browser)
        finally:
            await browser.close()


# --- accessibility --------------------------------------------------------------------------------


ALL_VIEWS: tuple[View, ...] = tuple(product(LOOKS, (WIDE, PHONE)))
EACH_ONCE: tuple[View, ...] = (("light", WIDE), ("dark", PHONE))
"""Every look and every width, in half the time."""


async def check_accessible(page: Page, *, views: Sequence[View] = ALL_VIEWS) -> None:
    """Let axe-core look at a page in light and dark, on a desk and on a phone; it finds nothing."""
    before = page.viewport_size or WIDE
    found = []
    for look, viewport in views:
        await page.emulate_media(color_scheme=look)
        await page.set_viewport_size(viewport)
        found += [f"{look} {viewport['width']}: {one}" for one in await axe(page)]
        found += await _overflow(page, viewport)
    await page.set_viewport_size(before)
    await page.emulate_media(color_scheme=None)
    assert not found, "\n".join(found)


async def axe(page: Page) -> list[str]:
    """Give what axe-core finds wrong with a page as it stands, a line each."""
    if not await page.evaluate("() => Boolean(window.axe)"):
        await page.evaluate(AXE_SCRIPT)
    results = await page.evaluate("() => axe.run({resultTypes: ['violations']})")
    return list(_violations(results))


def _violations(results: Any) -> Iterator[str]:  # noqa: ANN401 (axe's JSON)
    for rule in results["violations"]:
        for node in rule["nodes"]:
            why = " ".join(node.get("failureSummary", "").split())
            yield f"{rule['id']}: {node['html'][:200]} — {why}"


async def _overflow(page: Page, viewport: ViewportSize) -> list[str]:
    """Tell whether one has to scroll sideways."""
    width = await page.evaluate("() => document.documentElement.scrollWidth")
    return [f"{width} pixels wide on {viewport['width']}"] if width > viewport["width"] else []


# --- pictures for the docs ------------------------------------------------------------------------


async def picture(page: Page, path: Path, **more: Any) -> None:  # noqa: ANN401 (of screenshot)
    """Take a picture; what moves or depends on the clock is for the caller to hold still."""
    try:
        await page.screenshot(path=path, animations="disabled", **more)
    except Error as exc:  # pragma: no cover - says which
        raise AssertionError(f"no picture {path.name}: {exc}") from exc
