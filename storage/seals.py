"""What makes a change of what was written visible: a chain of keyed hashes for each thread.

Every event, and every delivery that goes with it, is a link. The thread's row carries the chain,
and each commit moves it forward in its own transaction. Who has the database but not the key can't
work out the chain of a log that was changed, put into another order, or robbed of an event.

Nothing here knows where the key comes from: whoever opens a store brings the keyed hash along. What
becomes of a delivery (sent, failed, settled) is no link, because that may change, and does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from hmac import compare_digest
from typing import TypeAlias

from agent_core.thread.events import ThreadId
from storage.sealed import KeptDelivery, SealedLog
from storage.texts import Written
from storage.values import Commit

Seal: TypeAlias = Callable[[bytes], bytes]
"""A keyed hash of `LINK` bytes, such as BLAKE2b with a key."""

LINK = 32


def sealed(seal: Seal | None, commit: Commit, texts: Written) -> Written:
    """Add what the chain needs: a new thread's own, or the links by which another's grows."""
    if seal is None:
        return texts
    thread = commit.thread
    links = [_event_link(seal, thread, text.encode()) for text in texts.events]
    for row in texts.deliveries:
        names = (thread, row.id, row.address, row.question or "")
        links.append(_delivery_link(seal, names, row.body.encode()))
    growth = b"".join(links)
    if commit.create is not None:
        growth = moved(_beginning(seal, thread), growth)
    return texts._replace(growth=growth)


def moved(chain: bytes, links: bytes) -> bytes:
    """Move a chain forward by each of these links."""
    for start in range(0, len(links), LINK):
        chain = sha256(chain + links[start : start + LINK]).digest()
    return chain


def chained(chain: bytes | None, links: bytes) -> bytes | None:
    """Move it, for a database; a chain that was never begun stays so."""
    return None if chain is None else moved(chain, links)


def chain_of(seal: Seal, log: SealedLog) -> bytes:
    """Work out the chain of a log as it stands."""
    return moved(_beginning(seal, log.thread), b"".join(_links(seal, log)))


def fault(seal: Seal, log: SealedLog) -> str:
    """Say what is wrong with a log, or nothing."""
    for number, event in enumerate(log.events, start=1):
        if event.seq != number:
            return f"event {number} is missing"
    if log.seq != len(log.events):
        return f"it should have {log.seq} events, and has {len(log.events)}"
    if any(row.seq > log.seq for row in log.deliveries):
        return "a delivery belongs to an event that is not there"
    if log.chain is None:
        return "it has no seal: it was written without the key, or the seal was removed"
    if not compare_digest(chain_of(seal, log), log.chain):
        return "its events or deliveries are not those that were sealed"
    return ""


def _links(seal: Seal, log: SealedLog) -> Iterator[bytes]:
    """Give the links in the order of writing: a delivery comes after the event that it names."""
    rest = list(reversed(log.deliveries))
    for event in log.events:
        while rest and rest[-1].seq < event.seq:
            yield _of_row(seal, log.thread, rest.pop())
        yield _event_link(seal, log.thread, event.body)
    while rest:
        yield _of_row(seal, log.thread, rest.pop())


def _of_row(seal: Seal, thread: ThreadId, row: KeptDelivery) -> bytes:
    return _delivery_link(seal, (thread, row.id, row.address, row.question or ""), row.body)


def _beginning(seal: Seal, thread: ThreadId) -> bytes:
    return seal(f"thread\0{thread}".encode())


def _event_link(seal: Seal, thread: ThreadId, body: bytes) -> bytes:
    # No name and no text that a store takes holds a NUL, so what is joined by it can't be shifted.
    return seal(b"event\0%b\0%b" % (thread.encode(), body))


def _delivery_link(seal: Seal, names: tuple[str, ...], body: bytes) -> bytes:
    return seal("\0".join(("delivery", *names, "")).encode() + body)
