"""Makes the pictures of docs/inbox.md: the real pages, in a real browser, on a small shop's week.

Run it after a change of the pages, where Chromium is installed:
.venv/bin/python docs/inbox_pictures.py
"""  # noqa: INP001 - run by its path; docs is no package

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from playwright.async_api import Page  # noqa: E402 (the line above lets it be found)

from agent_core.loop.world import World  # noqa: E402
from agent_core.thread import events as ev  # noqa: E402
from agent_core.thread.events import Event, Millis, ThreadId  # noqa: E402
from agent_core.thread.fold import fold  # noqa: E402
from agent_core.thread.questions import Question, QuestionId  # noqa: E402
from agent_core.thread.usage import Usage  # noqa: E402
from gateway.work.consequences import consequences  # noqa: E402
from storage.store import Store  # noqa: E402
from storage.values import Commit, DeliveryEnd, NewThread  # noqa: E402
from tests.doubles.browser import PHONE, WIDE, Look, chromium, picture  # noqa: E402
from tests.doubles.inbox_house import InboxHouse, inbox_house  # noqa: E402

_DAY = 86_400_000
_AGENTS = ("desk", "release", "billing")
_SAID = (
    "Refund order {n}: it arrived broken",
    "Release 2.{n} to production",
    "Where is the invoice of order {n}?",
    "Ship order {n} to the new address",
)


async def main() -> None:
    """Fill a house with two weeks of work, and take the pictures."""
    async with inbox_house(channels=frozenset({"email"})) as house, chromium() as browser:
        await _two_weeks(house.store)
        thread = await _today(house)
        cookies = await house.sign_in("otto")
        shots: list[tuple[str, str, Look, bool]] = [
            ("inbox-queue", "/", "light", False),
            ("inbox-queue-dark", "/", "dark", False),
            ("inbox-phone", "/", "dark", True),
            ("inbox-thread", f"/threads/{thread}", "light", False),
            ("inbox-threads", "/threads", "light", False),
            ("inbox-figures", "/figures", "light", False),
        ]
        for name, path, look, is_phone in shots:
            viewport = PHONE if is_phone else WIDE
            async with browser.visit(house.url, look=look, viewport=viewport) as page:
                is_operator = name in {"inbox-figures", "inbox-thread", "inbox-threads"}
                await _enter(page, house, None if is_operator else cookies)
                await page.goto(path)
                if "threads/" in path or path == "/":
                    await page.locator("[data-live][data-state=on]").wait_for()
                await picture(page, DOCS / f"{name}.png")
        async with browser.visit(house.url) as page:
            await _enter(page, house, cookies)
            asked = (await house.gateway.questions(status="open")).items
            question = next(one.id for one in asked if one.tool == "refund")
            await page.goto(f"/questions/{question}/edit")
            await page.get_by_label("amount").fill("29.95")
            await page.get_by_label("reason").fill("arrived broken: half of it")
            await page.get_by_role("button", name="See the difference").click()
            await picture(page, DOCS / "inbox-edits.png")


async def _enter(page: Page, house: InboxHouse, cookies: dict[str, str] | None) -> None:
    cookies = cookies or await house.sign_in("root")
    await page.context.add_cookies(
        [{"name": key, "value": value, "url": house.url} for key, value in cookies.items()]
    )


async def _today(house: InboxHouse) -> str:
    """Ask what waits now; gives a thread that was answered, whose timeline is shown."""
    thread = await house.launch("refund order 1042: it arrived broken, see the picture")
    edited = {"order": "1042", "amount": 29.95, "reason": "arrived broken: half of it"}
    await _send(house.store)
    await house.gateway.answer(
        thread.questions[0].id,
        {"approved": True, "arguments": edited},
        by="otto",
        comment="She keeps the lid.",
        how="inbox email",
    )
    await house.rested(thread.id)
    await house.launch("refund the lid of order 1042, too")
    await house.launch("choose a colour for the new label")
    wired = await house.launch("wire the deposit to ACME", agent="release")
    proposal = {"approved": True, "arguments": {"to": "ACME", "amount": 4000}}
    await house.gateway.answer(
        wired.questions[0].id, proposal, by="olga", comment="4,000 were agreed"
    )
    await house.launch("ship order 77 to the new address")
    return thread.id


async def _send(store: Store) -> None:
    """Say of what is to be told that it was."""
    waiting = await store.claim_deliveries(now=World().now(), lease_ms=10_000, limit=100)
    await store.end_deliveries([DeliveryEnd(delivery=one, status="sent") for one in waiting])


async def _two_weeks(store: Store) -> None:
    """Write what a small shop's agents did, from a seed."""
    chance, now = random.Random(9), World().now()  # noqa: S311 (a picture, no secret)
    for number in range(180):
        at = Millis(now - chance.randrange(14 * _DAY) // 3_600_000 * 3_600_000 - 60_000)
        log = _story(number, at, chance)
        state = fold(log)
        told = consequences(log, state, at)
        first = log[0]
        assert isinstance(first, ev.ThreadLaunched)  # noqa: S101 (made below)
        await store.commit(
            Commit(
                thread=first.thread,
                create=NewThread(agent=first.agent, requester="ann", origin=first.origin),
                events=log,
                status=told.status,
                summary=told.summary,
                questions=told.questions,
                wake_at=None,
                now=at,
            )
        )


def _story(number: int, at: Millis, chance: random.Random) -> list[Event]:
    thread, wait = ThreadId(f"th_{number}"), int(chance.lognormvariate(3, 1.1) * 60_000)
    key = QuestionId(f"q_{number}")
    question = Question(id=key, kind="text", prompt="Which of the two?", to=("otto",))
    text = chance.choice(_SAID).format(n=1000 + number)
    log: list[Event] = [
        ev.ThreadLaunched(
            at=at,
            thread=thread,
            agent=chance.choice(_AGENTS),
            requester="ann",
            origin=chance.choice(("slack:T1:C1:1.0", "email:ann@example.com", f"web:{thread}")),
        ),
        ev.MessageReceived(at=at, text=text, sender="ann"),
        ev.QuestionAsked(at=at, question=question),
        ev.QuestionAnswered(at=Millis(at + wait), question=key, value="The first", by="otto"),
    ]
    usage = Usage(chance.randrange(800, 9000), chance.randrange(40, 600), chance.random() / 20)
    log.append(ev.ModelReplied(at=Millis(at + wait), text="It is done.", usage=usage))
    ends: tuple[Event, ...] = (
        ev.ThreadFinished(at=Millis(at + wait)),
        ev.ThreadFailed(at=Millis(at + wait), error="the model server is away"),
        ev.ThreadCancelled(at=Millis(at + wait), by="ann"),
        ev.ThreadPaused(at=Millis(at + wait), by="ann"),
    )
    return [*log, chance.choices(ends, weights=(20, 2, 1, 1))[0]]


if __name__ == "__main__":
    asyncio.run(main())
