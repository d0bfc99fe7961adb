"""The operator hears when a channel is in trouble, and when that is over."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import pytest

from channels.notebook import Notebook
from gateway.http.meters import Meters
from gateway.telemetry.figures import Figures
from gateway.telemetry.watching import watch_for_ever


class Moody(Notebook):
    """A channel that tells one thing after the other of itself, and then stops the watching."""

    def __init__(self, *moods: str | Exception) -> None:
        """Take what it says each time it is asked."""
        super().__init__(name="moody")
        self.moods = list(moods)

    async def health(self) -> str:
        """Say the next."""
        if not self.moods:
            raise asyncio.CancelledError
        mood = self.moods.pop(0)
        if isinstance(mood, Exception):
            raise mood
        return mood


async def watched(*moods: str | Exception) -> Figures:
    """Watch one channel through its moods."""
    figures = Figures()
    with suppress(asyncio.CancelledError):
        await watch_for_ever({"moody": Moody(*moods)}, figures, every_seconds=0)
    return figures


async def test_trouble_is_told_when_it_begins_and_when_it_is_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Once each, however often one looks."""
    with caplog.at_level(logging.INFO, "parley.watching"):
        await watched("", "no route", "no route", "", "")

    assert [one.message for one in caplog.records] == ["channel in trouble", "channel well again"]
    assert caplog.records[0].__dict__["error"] == "no route"


async def test_channel_that_breaks_when_it_is_asked_ends_nothing() -> None:
    """It is in trouble, like one that says so."""
    figures = await watched(ValueError("secret"), "", ValueError("secret"))

    assert figures.troubles == {"moody": "it can't tell how it is: ValueError"}


@pytest.mark.parametrize(("mood", "shown"), [("", "1.0"), ("no route", "0.0")])
async def test_figures_show_which_channel_can_be_reached(mood: str, shown: str) -> None:
    """For whoever watches many servers."""
    figures = await watched(mood)

    assert f'parley_channel_up{{channel="moody"}} {shown}' in Meters(None, figures).text()
