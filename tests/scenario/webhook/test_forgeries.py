"""Forged, stale, truncated, re-encoded and re-ordered requests: none is taken, none breaks us."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from random import Random

import pytest

from tests.scenario.webhook.forger import Forgery, forgery, good
from tests.scenario.webhook.site import Site, site
from tests.unit.channels.webhook.sender import ALL, source

COUNT = int(os.environ.get("PARLEY_TEST_FORGERIES", "10000"))
"""More of them by the variable; these take a few seconds."""
SOURCES = [source(scheme, name=scheme) for scheme in ALL]


async def status(here: Site, sent: Forgery) -> int:
    """Send it to the source of its scheme."""
    return (await here.post(sent.body, sent.headers, name=sent.scheme)).status


async def together(here: Site, sent: list[Forgery]) -> list[int]:
    """Send them all at once."""
    return await asyncio.gather(*(status(here, one) for one in sent))


@pytest.mark.timeout(60 + COUNT / 20)
async def test_no_forgery_is_taken_and_none_breaks_the_server() -> None:
    """401 each time (415 for an encoding): never a thread, never a 5xx."""
    chance = Random(20261116)  # noqa: S311 (requests that can be had again)
    seen: Counter[tuple[str, int]] = Counter()
    async with site(SOURCES, works=False) as here:
        for _ in range(0, COUNT, 50):
            sent = [forgery(chance) for _ in range(50)]
            for one, got in zip(sent, await together(here, sent), strict=True):
                seen[one.how, got] += 1
                assert got == (415 if one.how == "content-encoding" else 401), one
        threads = await here.threads()

    assert threads == []
    assert sum(seen.values()) >= COUNT
    assert len({how for how, _ in seen}) == 16


async def test_what_the_forger_spoils_would_have_been_taken() -> None:
    """Or the test above would show nothing."""
    chance = Random(6)  # noqa: S311 (as above)
    async with site(SOURCES, works=False) as here:
        for scheme in ALL:
            assert await status(here, good(chance, scheme)) == 202
