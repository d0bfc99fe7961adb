"""Server-sent events, as a client reads them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp

_SILENCE_SECONDS = 60
"""A stream that says nothing for so long, not even that it lives, is taken up anew."""


async def read_events(stream: aiohttp.StreamReader) -> AsyncIterator[dict[str, Any]]:
    """Read server-sent events; lines that begin with a colon only say that the server lives."""
    data: list[str] = []
    async for line in _lines(stream):
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield json.loads("\n".join(data))
            data = []


async def _lines(stream: aiohttp.StreamReader) -> AsyncIterator[str]:
    """Split by hand: aiohttp's own `readline` gives up on lines of 128 KB, and a log has longer."""
    rest = b""
    while True:
        async with asyncio.timeout(_SILENCE_SECONDS):
            piece = await stream.readany()
        if not piece:
            return
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace").removesuffix("\r")
