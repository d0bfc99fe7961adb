"""Fetching what Amazon SNS points to: its certificate, and the address that confirms a topic."""

from __future__ import annotations

from typing import Final

import aiohttp

from channels.channel import TryLater
from channels.email.providers.brought import Forged

_SECONDS: Final = 5.0
_MOST_BYTES: Final = 64_000
_OK: Final = 200
_THEIR_FAULT: Final = 500


async def fetch(url: str) -> bytes:
    """Give what is there, under limits and without redirects.

    Raises TryLater where Amazon is not there, and Forged where it has no such thing.
    """
    limit = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit, trust_env=False) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            body = await answer.content.read(_MOST_BYTES)
    except (aiohttp.ClientError, TimeoutError, OSError) as exc:
        raise TryLater(f"Amazon SNS can't be reached: {type(exc).__name__}") from exc
    if answer.status >= _THEIR_FAULT:
        raise TryLater(f"Amazon SNS answers {answer.status}")
    if answer.status != _OK:
        raise Forged
    return body
