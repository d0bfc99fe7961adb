"""What an audit reads: a thread's rows byte by byte, as they stand, and the chain that covers them.

Texts are bytes here, because a row that somebody has changed may hold no text at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from agent_core.thread.events import Millis, ThreadId


class KeptEvent(NamedTuple):
    """A row of the log."""

    seq: int
    body: bytes


class KeptDelivery(NamedTuple):
    """A row of the outbox: whom something was said to, what, and what became of it."""

    seq: int
    id: str
    address: str
    question: str | None
    body: bytes
    status: str


class SealedLog(Struct, frozen=True, kw_only=True, gc=False):
    """All that was written of a thread, of one moment; events and deliveries in their order."""

    thread: ThreadId
    seq: int
    updated_at: Millis
    chain: bytes | None
    """None if it was never sealed."""
    events: Sequence[KeptEvent]
    deliveries: Sequence[KeptDelivery]
