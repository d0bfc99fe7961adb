"""Fetching what Amazon points to: under limits, without redirects, and nobody else's errors."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from channels.channel import TryLater
from channels.email.providers.brought import Forged
from channels.email.providers.fetching import fetch


@pytest.fixture
async def site() -> AsyncIterator[str]:
    """Serve what its path says: a status, or a lot."""

    async def answer(request: web.Request) -> web.Response:
        status = int(request.match_info["status"])
        return web.Response(
            status=status, body=b"x" * 200_000, headers={"Location": "/200"} if status > 300 else {}
        )

    app = web.Application()
    app.router.add_get("/{status}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_no_more_is_read_than_a_certificate_needs(site: str) -> None:
    """Whatever is there."""
    found = await fetch(f"{site}/200")

    assert 0 < len(found) <= 64_000


@pytest.mark.parametrize("status", [302, 403, 404])
async def test_what_is_not_there_proves_nothing(site: str, status: int) -> None:
    """No redirect is followed, and whoever named the address hears the same as any forger."""
    with pytest.raises(Forged):
        await fetch(f"{site}/{status}")


async def test_trouble_at_amazons_is_no_forgery(site: str) -> None:
    """It is worth another try."""
    with pytest.raises(TryLater):
        await fetch(f"{site}/503")


async def test_nobody_there_is_no_forgery() -> None:
    """The same where no connection can be made."""
    with pytest.raises(TryLater):
        await fetch("http://127.0.0.1:1/x")
