"""Errands: nobody waits for them, none outlives its channel, none breaks anything."""

from __future__ import annotations

import asyncio
import logging

import pytest

from channels.errands import Errands

LOG = logging.getLogger("parley.errands")


async def failing() -> None:
    """Fail as the other side does."""
    raise ConnectionError("token-in-here")


async def test_failed_errand_is_a_line_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    """What others say may hold what nobody should read in a log."""
    errands = Errands(LOG, (ConnectionError,))
    with caplog.at_level(logging.WARNING, LOG.name):
        errands.run(failing())
        await errands.rested()

    assert [one.message for one in caplog.records] == ["errand failed"]
    assert "token-in-here" not in caplog.text


async def test_more_than_can_be_under_way_are_dropped() -> None:
    """The other side is not answering: a queue without end would not help."""
    done: list[int] = []
    gate = asyncio.Event()

    async def wait(number: int) -> None:
        await gate.wait()
        done.append(number)

    errands = Errands(LOG, (), most=2)
    for number in range(4):
        errands.run(wait(number))
    gate.set()
    await errands.rested()

    assert done == [0, 1]


async def test_none_outlives_the_channel() -> None:
    """Those under way have a moment, and are then ended."""
    ended = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    errands = Errands(LOG, ())
    errands.run(hang())
    await errands.close()

    assert ended.is_set()
