"""Whole stories in which people are asked elsewhere than where the thread is; a real server."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

from channels.slack.double.records import Message
from tests.scenario.slack.workplace import Workplace, workplace

pytestmark = pytest.mark.timeout(120)


def approved(card: Message) -> bool | None:
    """Tell whether a card says that somebody approved."""
    return "Approved" in str(card.blocks) or None


async def launched(here: Workplace, text: str) -> str:
    """Launch a thread over the API, as a pipeline does."""
    headers = {"Authorization": f"Bearer {here.server.key}"}
    async with (
        aiohttp.ClientSession(here.server.url, headers=headers) as session,
        session.post("/v1/threads", json={"agent": "desk", "text": text}) as answer,
    ):
        assert answer.status == 201
        return str((await answer.json())["id"])


async def result(here: Workplace, thread: str) -> str:
    """Wait for a thread's result."""
    headers = {"Authorization": f"Bearer {here.server.key}"}
    async with (
        aiohttp.ClientSession(here.server.url, headers=headers) as session,
        session.get(f"/v1/threads/{thread}", params={"wait": "30", "until": "end"}) as answer,
    ):
        return str((await answer.json())["result"])


@pytest.mark.parametrize("kill_after", ["", "launch", "card"])
async def test_thread_of_the_api_asks_in_slack(tmp_path: Path, kill_after: str) -> None:
    """Once, wherever the server died; the answer there resumes it, and the card says who."""

    async def passed(step: str) -> None:
        if step == kill_after:
            await here.restart()

    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        thread = await launched(here, "refund order 11")
        await passed("launch")
        otto = here.team.dm("UOTTO")
        (card,) = await here.until(lambda: here.team.posted(otto) or None)
        await passed("card")
        await here.team.clicks("UOTTO", card, "parley:approve")
        told = await result(here, thread)
        await here.until(lambda: approved(here.team.posted(otto)[0]))

    assert "Refunded 59.90 EUR for 11" in told
    assert here.ledger == ["11 59.9"]
    assert len(here.team.posted(otto)) == 1


async def test_approver_who_is_not_in_the_channel_is_asked_in_private(tmp_path: Path) -> None:
    """Slack tells that they can't see it; both cards say how it ended."""
    async with workplace(tmp_path / "parley", "http") as here:
        here.team.channel("C2", name="sales", members=["UANN", "UBOT"])
        await here.start()
        root = await here.team.says("UANN", "C2", "<@UBOT> refund order 12")
        otto = here.team.dm("UOTTO")
        (copy,) = await here.until(lambda: here.team.posted(otto) or None)
        await here.team.clicks("UOTTO", copy, "parley:approve")
        await here.until(lambda: approved(here.team.posted(otto)[0]))
        await here.until(lambda: approved(here.team.posted("C2", root.ts)[0]))
        await here.until(lambda: here.ledger or None)

    assert here.ledger == ["12 59.9"]


async def test_somebody_elses_yes_is_told_in_private(tmp_path: Path) -> None:
    """Nobody else sees it; the question stays open for whom it is for."""
    async with workplace(tmp_path / "parley", "http") as here:
        await here.start()
        root = await here.mention("refund order 13")
        await here.reply(root)
        await here.team.says("UEVE", "C1", "yes", thread_ts=root.ts)
        (told,) = await here.until(lambda: here.team.ephemerals("C1", "UEVE") or None)
        before = list(here.ledger)
        await here.team.says("UOTTO", "C1", "yes", thread_ts=root.ts)
        await here.until(lambda: here.ledger or None)

    assert "you may not answer it" in told.text
    assert (before, here.ledger) == ([], ["13 59.9"])
