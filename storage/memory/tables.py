"""What the twin holds: the same tables, as dictionaries. Several stores may share them."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from agent_core.thread.events import Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage.hints import Hints
from storage.rates import OneProcess
from storage.retention import Tombstone
from storage.texts import object_text, read_object
from storage.values import (
    ApiKey,
    Delivery,
    DeliveryId,
    Hint,
    InboxRecord,
    KeyId,
    QuestionRow,
    Snapshot,
    ThreadRow,
)


@dataclass(slots=True)
class MemoryTables:
    """One database, as it were."""

    threads: dict[ThreadId, ThreadRow] = field(default_factory=dict)
    events: dict[ThreadId, list[str]] = field(default_factory=dict)
    chains: dict[ThreadId, bytes] = field(default_factory=dict)
    snapshots: dict[ThreadId, Snapshot] = field(default_factory=dict)
    questions: dict[QuestionId, QuestionRow] = field(default_factory=dict)
    deliveries: dict[tuple[ThreadId, DeliveryId], Delivery] = field(default_factory=dict)
    inbox: dict[tuple[str, str], tuple[InboxRecord, Millis | None]] = field(default_factory=dict)
    places: dict[str, tuple[ThreadId, Millis]] = field(default_factory=dict)
    parties: dict[ThreadId, set[str]] = field(default_factory=dict)
    kept: dict[tuple[str, str], tuple[bytes, Millis | None]] = field(default_factory=dict)
    tombstones: dict[ThreadId, Tombstone] = field(default_factory=dict)
    keys: dict[KeyId, ApiKey] = field(default_factory=dict)
    halt: str = ""
    rates: OneProcess = field(default_factory=OneProcess)
    hints: list[Hints] = field(default_factory=list)

    def tell(self, news: list[Hint]) -> None:
        """Hint to every store on these tables."""
        for hints in self.hints:
            hints.tell(news)


def is_free(lease_until: Millis | None, now: Millis) -> bool:
    """Tell whether nobody holds it."""
    return lease_until is None or lease_until <= now


def own_thread(row: ThreadRow) -> ThreadRow:
    """Copy a row, so that nobody changes ours through what it holds."""
    return replace(row, summary=read_object(object_text(row.summary, "summary")))


def own_question(row: QuestionRow) -> QuestionRow:
    """Copy a row, so that nobody changes ours through what it holds."""
    return replace(row, body=read_object(object_text(row.body, "question")))


def own_delivery(row: Delivery) -> Delivery:
    """Copy a row, so that nobody changes ours through what it holds."""
    receipt = row.receipt
    return replace(
        row,
        body=read_object(object_text(row.body, "delivery")),
        receipt=None if receipt is None else read_object(object_text(receipt, "receipt")),
    )
