"""Recalling what may be sealed with another key: then nothing is known, and the rest goes on.

For what a channel can do without, or finds out anew. A credential is not like that: who needs one
asks the memory itself, and the operator is told.
"""

from __future__ import annotations

import logging

from channels.intake import Memory, SealBroken

_log = logging.getLogger("parley.channels")


async def recall_readable(memory: Memory, key: str) -> bytes | None:
    """Give what was kept; None also where it can't be opened, which stays for its own key."""
    try:
        return await memory.recall(key)
    except SealBroken as exc:
        _log.error("what is kept can't be opened", extra={"error": str(exc)})
        return None
