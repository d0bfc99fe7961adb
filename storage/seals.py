"""What makes a change of what was written visible: a chain of keyed hashes for each thread.

Every event, and every delivery that goes with it, is a link. The thread's row carries the chain,
and each commit moves it forward in its own transaction. Who has the database but not the key can't
work out the chain of a log that was changed, put into another order, or robbed of an event.

A row whose words were erased keeps its place: the event that tells of it (`PersonErased`) is a link
itself, and holds what the row was in the chain and what it is instead. So the chain stays as it was
sealed, and neither the new words nor the old ones can take each other's place unnoticed.

Nothing here knows where the key comes from: whoever opens a store brings the keyed hash along. What
becomes of a delivery (sent, failed, settled) is no link, because that may change, and does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple, TypeAlias

import msgspec

from agent_core.thread.events import ErasedRow, Millis, PersonErased, ThreadId
from storage.sealed import KeptDelivery, KeptEvent, SealedLog
from storage.texts import Written
from storage.values import Commit

Seal: TypeAlias = Callable[[bytes], bytes]
"""A keyed hash of `LINK` bytes, such as BLAKE2b with a key."""

LINK = 32
_ERASURE = b'{"type":"PersonErased"'
_read_erasure = msgspec.json.Decoder(PersonErased).decode


class Link(NamedTuple):
    """A row's part in the chain."""

    row: KeptEvent | KeptDelivery
    value: bytes
    """Of the row as it was sealed."""
    erased: ErasedRow | None = None
    """If its words were replaced: by what was done last."""
    is_back: bool = False
    """It was erased, and stands there again as it was."""


Erased: TypeAlias = dict[tuple[int, str], list[ErasedRow]]
"""What was erased, by the row: its event, and the delivery's id if it is one."""


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
        growth = _begun(seal, thread, texts, growth)
    return texts._replace(growth=growth)


def _begun(seal: Seal, thread: ThreadId, texts: Written, links: bytes) -> bytes:
    """Give a new thread's chain; an imported one may bring along that somebody was erased."""
    bodies = [text.encode() for text in texts.events]
    if not any(body.startswith(_ERASURE) for body in bodies):
        return moved(_beginning(seal, thread), links)
    seq = len(bodies)
    rows = [
        KeptDelivery(seq, row.id, row.address, row.question, row.body.encode(), "")
        for row in texts.deliveries
    ]
    events = [KeptEvent(number, body) for number, body in enumerate(bodies, start=1)]
    log = SealedLog(
        thread=thread, seq=seq, updated_at=Millis(0), chain=None, events=events, deliveries=rows
    )
    return chain_of(seal, log)


def grown(seal: Seal | None, chain: bytes | None, thread: ThreadId, event: str) -> bytes | None:
    """Move a thread's chain by one event; one that was never begun stays so."""
    if seal is None or chain is None:
        return chain
    return moved(chain, _event_link(seal, thread, event.encode()))


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
    return _chain(seal, log, links_of(seal, log))


def _chain(seal: Seal, log: SealedLog, links: Iterable[Link]) -> bytes:
    return moved(_beginning(seal, log.thread), b"".join(link.value for link in links))


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
    links = list(links_of(seal, log))
    if back := next((link for link in links if link.is_back), None):
        return f"what was erased is back: event {back.row.seq}, or a message that belongs to it"
    if not compare_digest(_chain(seal, log, links), log.chain):
        return "its events or deliveries are not those that were sealed"
    return ""


def links_of(seal: Seal, log: SealedLog) -> Iterator[Link]:
    """Give the links in the order of writing: a delivery comes after the event that it names."""
    erased = _erased(log.events)
    rest = list(reversed(log.deliveries))
    for event in log.events:
        while rest and rest[-1].seq < event.seq:
            yield link_of(seal, log.thread, rest.pop(), erased)
        yield link_of(seal, log.thread, event, erased)
    while rest:
        yield link_of(seal, log.thread, rest.pop(), erased)


def link_of(
    seal: Seal, thread: ThreadId, row: KeptEvent | KeptDelivery, erased: Erased | None = None
) -> Link:
    """Give the link of a row as it was sealed, whether its words are still there or not.

    What an erasure says counts only if it is about this very row, with this key: a fork's copies,
    and what was sealed anew since, are rows of their own.
    """
    if isinstance(row, KeptEvent):
        value, name = _event_link(seal, thread, row.body), ""
    else:
        names = (thread, row.id, row.address, row.question or "")
        value, name = _delivery_link(seal, names, row.body), row.id
    told = erased.get((row.seq, name), ()) if erased else ()
    if not told:
        return Link(row, value)
    now = value.hex()
    if fits := [one for one in told if one.now == now]:
        return Link(row, _unhexed(fits[-1].link), fits[-1])
    return Link(row, value, is_back=any(one.link == now for one in told))


def _unhexed(link: str) -> bytes:
    try:
        return bytes.fromhex(link)
    except ValueError:  # changed since: then the chain does not fit
        return b""


def has_erasures(log: SealedLog) -> bool:
    """Tell whether the log says that somebody was erased from it."""
    return any(event.body.startswith(_ERASURE) for event in log.events)


def _erased(events: Sequence[KeptEvent]) -> Erased:
    """Collect what the log itself says was erased; whether that is true, the chain tells."""
    rows: Erased = {}
    for event in events:
        if event.body.startswith(_ERASURE):
            with suppress(msgspec.DecodeError):  # changed since: then the chain does not fit
                for row in _read_erasure(event.body).rows:
                    rows.setdefault((row.seq, row.delivery), []).append(row)
    return rows


def _beginning(seal: Seal, thread: ThreadId) -> bytes:
    return seal(f"thread\0{thread}".encode())


def _event_link(seal: Seal, thread: ThreadId, body: bytes) -> bytes:
    # No name and no text that a store takes holds a NUL, so what is joined by it can't be shifted.
    return seal(b"event\0%b\0%b" % (thread.encode(), body))


def _delivery_link(seal: Seal, names: tuple[str, ...], body: bytes) -> bytes:
    return seal("\0".join(("delivery", *names, "")).encode() + body)
