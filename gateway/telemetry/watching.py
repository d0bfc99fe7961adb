"""Watching channels: whether each can be reached, for the log and for `/metrics`.

A channel that is down makes the server no less ready: what is to be sent waits, and the rest of the
house goes on. But the operator must hear of it, once when it begins and once when it is over.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from channels.channel import Channel
from gateway.telemetry.figures import Figures

_log = logging.getLogger("parley.watching")

_EVERY_SECONDS = 300.0
"""Each time we log in to other people's servers."""
_PATIENCE_SECONDS = 10.0


async def watch_for_ever(
    channels: Mapping[str, Channel], figures: Figures, *, every_seconds: float = _EVERY_SECONDS
) -> None:
    """Ask every channel how it is, until cancelled."""
    while True:
        await asyncio.sleep(every_seconds)
        for name, channel in channels.items():
            _note(name, await _trouble(channel), figures)


async def _trouble(channel: Channel) -> str:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await channel.health()
    except TimeoutError:
        return "it does not tell how it is"
    except Exception as exc:  # noqa: BLE001 (whatever is wrong with it must not end the server)
        return f"it can't tell how it is: {type(exc).__name__}"


def _note(name: str, trouble: str, figures: Figures) -> None:
    before, figures.troubles[name] = figures.troubles.get(name, ""), trouble
    if trouble and not before:
        _log.error("channel in trouble", extra={"channel": name, "error": trouble})
    elif before and not trouble:
        _log.info("channel well again", extra={"channel": name})
