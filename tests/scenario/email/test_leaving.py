"""Somebody leaves while a question of theirs is open: the mail that they have opens nothing now."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

from tests.scenario.email.correspondence import (
    ANN,
    OTTO,
    PARLEY_TOML,
    SHORT_LEASE,
    correspondence,
)
from tests.scenario.email.test_links import shown

pytestmark = pytest.mark.timeout(120)


async def test_who_has_left_neither_sees_nor_approves(tmp_path: Path) -> None:
    """By the link, by the page that they had open, and by a reply that their server vouches for."""
    folder = tmp_path / "parley"
    async with correspondence(folder) as here, aiohttp.ClientSession() as session:
        await here.start(lease_ms=SHORT_LEASE)
        await here.writes(ANN, "please refund order 7")
        question = await here.letter(OTTO, "May I")
        (link,) = question.links
        form = {**await shown(session, link), "decision": "approve"}
        await here.server.stop()
        others = PARLEY_TOML.replace(OTTO, "new.otto@example.com")
        (folder / "parley.toml").write_text(others)
        await here.start(lease_ms=SHORT_LEASE)

        async with session.get(link) as look:
            page = await look.text()
        async with session.post(link, data=form) as pressed:
            words = await pressed.text()
        await here.replies(question, "yes")
        await here.letter(OTTO, "no part in this conversation")
        await here.quiet()

        assert (look.status, pressed.status) == (403, 403)
        assert "refund" not in page
        assert "refund" not in words
        assert here.ledger == []
        assert here.events("AnswerRefused") == 1
