"""Open streams, remembered across processes and crashes, by thread."""

from __future__ import annotations

from typing import Final

import msgspec

from channels.intake import Memory
from channels.slack.streams import Streamed

_SECONDS: Final = 7 * 86_400.0


class StreamMemory:
    """What is known of a thread's stream by whoever comes after."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def recall(self, thread: str) -> Streamed | None:
        """Give what was kept; its words were not."""
        kept = await self._memory.recall(_key(thread))
        if kept is None:
            return None
        value = msgspec.json.decode(kept)
        return Streamed(**{**value, "ts": tuple(value["ts"])})

    async def keep(self, thread: str, streamed: Streamed) -> None:
        """Remember a stream, without its words."""
        value = msgspec.json.encode(
            {
                "address": streamed.address,
                "channel": streamed.channel,
                "ts": streamed.ts,
                "state": streamed.state,
                "size": streamed.size,
                "digest": streamed.digest,
            }
        )
        await self._memory.keep(_key(thread), value, seconds=_SECONDS)

    async def forget(self, thread: str) -> None:
        """There is no stream to complete any more."""
        await self._memory.keep(_key(thread), None)


def _key(thread: str) -> str:
    return f"slack/stream/{thread}"
