"""What was sent, and how much of it: nothing goes out twice, and no loop goes on for ever."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal

from channels.channel import TryLater
from channels.intake import Memory

_log = logging.getLogger("parley.email")
_HOUR: Final = 3_600
_WEEK: Final = 7 * 24 * 3_600.0
"""The outbox tries for about a day."""
_YEAR: Final = 366 * 24 * 3_600.0
_KEPT: Final = {"accepted": _WEEK, "settled": _YEAR}
What = Literal["accepted", "settled"]


class Records:
    """Remembers, for one mailbox of ours."""

    def __init__(self, memory: Memory, per_hour: int, clock: Callable[[], datetime]) -> None:
        """Take how many mails a thread may send in an hour."""
        self._memory = memory
        self._per_hour = per_hour
        self._clock = clock

    async def done(self, what: What, name: str) -> None:
        """Write down that something need not be done again."""
        await self._memory.keep(_key(what, name), b"1", seconds=_KEPT[what])

    async def is_done(self, what: What, name: str) -> bool:
        """Tell whether it was done."""
        return await self._memory.recall(_key(what, name)) is not None

    async def check(self, thread: str) -> None:
        """Raise TryLater if the thread has sent what it may in this hour."""
        if await self._counted(thread) >= self._per_hour:
            seconds = _HOUR - self._clock().timestamp() % _HOUR
            _log.warning("too many mails in an hour", extra={"thread_id": thread})
            raise TryLater("this thread has sent too many mails", retry_after=seconds + 1)

    async def count(self, thread: str) -> None:
        """Count one more. Two at once may count as one: a cap is no ledger."""
        number = await self._counted(thread) + 1
        await self._memory.keep(self._hour(thread), b"%d" % number, seconds=2.0 * _HOUR)

    async def _counted(self, thread: str) -> int:
        kept = await self._memory.recall(self._hour(thread)) or b""
        return int(kept) if kept.isdigit() else 0

    def _hour(self, thread: str) -> str:
        return f"hour:{thread}:{int(self._clock().timestamp()) // _HOUR}"


def _key(what: str, name: str) -> str:
    return f"{what}:{hashlib.sha256(name.lower().encode()).hexdigest()[:32]}"
