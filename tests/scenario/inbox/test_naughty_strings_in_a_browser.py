"""Five hundred strings that have broken somebody's page, in a real Chromium.

No script of theirs runs, the security policy has nothing to stop, and what comes live is what a
reload shows. Many stand on one page, so that it is cheap; that each leaves the markup alone in
every field is shown in tests/unit/gateway/inbox/pages/test_naughty_strings.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from playwright.async_api import Page, expect

from agent_core.loop.world import World
from agent_core.thread.events import Event, Millis, ThreadId
from storage.values import Commit, DeliveryId, NewDelivery, NewThread
from tests.doubles.browser import Chromium
from tests.doubles.inbox_house import InboxHouse, inbox_house
from tests.doubles.naughty_log import KINDS, log_of, row_of
from tests.payloads.naughty import naughty

pytestmark = pytest.mark.asyncio(loop_scope="module")

THREAD = ThreadId("th_naughty")
STRINGS = [text.replace("\x00", "") for text in naughty()]
"""No store takes a NUL."""
_OURS = 2
"""The page's scripts: live updates and keys, and what is being written."""
_PWNED = "() => [window.pwned, document.querySelectorAll('script').length]"

_QUESTION = "/questions/q%2F0%3F%3Cb%3E%23%25"
_NEWEST = "() => [...document.querySelectorAll('.entry')].slice(-100).map(one => one.outerHTML)"


def entries(texts: Sequence[str], first: int, now: Millis) -> list[Event]:
    """Give one event for each string, of another kind each time."""
    kinds = len(log_of("", now))
    return [
        log_of(text, now, f"q_{first + at}")[(first + at) % kinds] for at, text in enumerate(texts)
    ]


async def fill(house: InboxHouse, texts: Sequence[str]) -> None:
    """Write a thread of them, threads called by them, and questions that ask them."""
    now = World().now()
    await house.store.commit(
        Commit(
            thread=THREAD,
            create=NewThread(agent="desk", requester="ann", origin="web:x"),
            events=entries(texts, 0, now),
            status="paused",
            summary={"title": texts[0]},
            deliveries=[
                NewDelivery(
                    id=DeliveryId(f"{THREAD}.{4 + 28 * at}+{at}"),
                    address=f"slack:{text}",
                    body={"kind": "question.asked"},
                    due_at=now,
                )
                for at, text in enumerate(texts[:20])
            ],
            now=now,
        )
    )
    for at, text in enumerate(texts[::10]):
        thread = f"th_{at}"
        await house.store.commit(
            Commit(
                thread=ThreadId(thread),
                create=NewThread(agent=text or "x", requester=text, origin=f"{text}:x"),
                events=log_of(text, now)[:2],
                status="waiting",
                summary={"title": text, "error": text, "metadata": {text: text}},
                questions=[row_of(text, KINDS[at % 4], Millis(now + at), f"q/{at}?<b>#%", thread)],
                now=now,
            )
        )


async def check_unharmed(page: Page, path: str) -> None:
    """Open a page: only our own scripts are there, and nothing of theirs has run."""
    response = await page.goto(path)

    assert response is not None
    assert response.status == 200, path
    assert await page.evaluate(_PWNED) == [None, _OURS], path


async def test_nothing_that_anybody_writes_runs(browser: Chromium) -> None:
    """On any page, in any field, also in what comes live."""
    half = len(STRINGS) // 2
    async with inbox_house(works=False) as house, browser.visit(house.url) as page:
        cookies = await house.sign_in_with_key("boss", "admin")
        await page.context.add_cookies(
            [{"name": key, "value": value, "url": house.url} for key, value in cookies.items()]
        )
        await fill(house, STRINGS[:half])
        for path in (
            "/",
            "/threads",
            "/threads?q=script",
            "/figures",
            "/questions/q%2F0%3F%3Cb%3E%23%25",
        ):
            await check_unharmed(page, path)
        await page.keyboard.press("j")
        await check_unharmed(page, f"/threads/{THREAD}?to=150")
        await check_unharmed(page, f"/threads/{THREAD}")
        await expect(page.locator("[data-live]")).to_have_text("Live")
        seq = half
        for texts in (STRINGS[at : at + 100] for at in range(half, len(STRINGS), 100)):
            events = entries(texts, seq, World().now())
            await house.store.commit(Commit(thread=THREAD, events=events, now=World().now()))
            seq += len(texts)
        await expect(page.locator(f"#e{seq}")).to_be_attached()

        assert await page.evaluate(_PWNED) == [None, _OURS]
        grown = await page.evaluate(_NEWEST)
        await page.reload()
        assert await page.evaluate(_NEWEST) == grown
