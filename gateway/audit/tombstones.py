"""What an audit keeps of threads that were purged, and of rows whose words were erased. Pure.

A fingerprint in an export is a plain hash, and a short message can be guessed from one. So what is
kept here in place of a row is hashed once more, with the key: an export can be held against it, and
nothing can be guessed from it without the key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hmac import compare_digest

from msgspec.structs import replace

from agent_core.thread.events import Millis
from gateway.audit.entries import Entry, entries, fingerprint, iso, keyed
from storage.retention import Tombstone
from storage.sealed import SealedLog
from storage.seals import Seal

PURGED = "ThreadPurged"


def tombstone_of(
    seal: Seal, log: SealedLog, *, at: Millis, by: str, earlier: Tombstone | None = None
) -> Tombstone:
    """Say what is to be left of a thread.

    If it was purged before, and brought back with less, an export of that time must hold as well.
    """
    told = list(entries(log, seal))
    before = earlier if earlier is not None and is_ours(seal, earlier) else None
    stone = Tombstone(
        thread=log.thread,
        at=at,
        by=by,
        seq=log.seq,
        entries=len(told) + (before.entries if before else 0),
        chain=log.chain,
        records=bytes.fromhex(records_of(seal, told)),
        mark=b"",
    )
    return marked(seal, stone)


def marked(seal: Seal, stone: Tombstone) -> Tombstone:
    """Seal it with this key."""
    return replace(stone, mark=_mark(seal, stone))


def is_ours(seal: Seal, stone: Tombstone) -> bool:
    """Tell whether it is as somebody with the key has written it."""
    return compare_digest(_mark(seal, stone), stone.mark)


def records_of(seal: Seal, told: Iterable[Entry]) -> str:
    """Give one digest of all entries of a thread, the same before and after an erasure."""
    lines = sorted(f"{one.seq} {one.was or keyed(seal, one.record)}" for one in told)
    return seal("\n".join(("records", *lines)).encode()).hex()


def purged_entry(stone: Tombstone) -> Entry:
    """Write a tombstone as a line of the audit."""
    chain = b"" if stone.chain is None else stone.chain
    return Entry(
        at=iso(stone.at),
        thread=stone.thread,
        seq=stone.seq,
        what=PURGED,
        who=stone.by,
        digest=stone.records.hex(),
        outcome=f"{stone.entries} entries; its chain ended at {chain.hex() or 'none'}",
        record=fingerprint([stone.thread.encode(), stone.mark]),
    )


def contradiction(seal: Seal, before: Sequence[Entry], purged: Entry) -> str:
    """Say what an earlier export has that can't have been in a thread that was purged."""
    count = int(purged.outcome.partition(" ")[0])
    if len(before) > count or any(one.seq > purged.seq for one in before):
        return f"it was purged with {count} entries, and the earlier export has others"
    if len(before) == count and records_of(seal, before) != purged.digest:
        return "it was purged, and was not then what the earlier export has"
    return ""


def _mark(seal: Seal, stone: Tombstone) -> bytes:
    chain = b"" if stone.chain is None else stone.chain
    parts = (stone.thread, stone.at, stone.by, stone.seq, stone.entries, chain.hex())
    text = "\0".join(("tombstone", *map(str, parts), stone.records.hex()))
    return seal(text.encode())
