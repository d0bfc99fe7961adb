"""Where the audit begins: once for a database, with what stands in it then.

Threads from before there were chains are sealed as they are found, and a record says when that was:
what happened to them earlier nobody can tell. The record is sealed, too, so it also tells whether
the secret key is still the same.
"""

from __future__ import annotations

from hmac import compare_digest

from agent_core.errors import ParleyError
from agent_core.thread.events import Millis
from gateway.audit.tombstones import marked
from storage.sealed import SealedLog
from storage.seals import Seal, chain_of
from storage.store import Audit, Store

_OWNER, _KEY = "audit", "since"
_PAGE = 50


class OtherKey(ParleyError):
    """The seals were made with another secret key: the operator must act."""


async def begin(store: Store, seal: Seal, *, now: Millis) -> Millis:
    """Begin if nobody has; give since when changes can be seen, or raise OtherKey."""
    since = await begun(store, seal, now=now)
    return await begin_anew(store, seal, now=now) if since is None else since


async def begun(store: Store, seal: Seal, *, now: Millis) -> Millis | None:
    """Give since when changes can be seen, or raise OtherKey; None if it has not begun."""
    record = await store.recall(*record_name(), now=now)
    return None if record is None else read_record(record, seal)


def record_name() -> tuple[str, str]:
    """Name the record among what is kept: its owner and its key."""
    return _OWNER, _KEY


def read_record(record: bytes, seal: Seal) -> Millis:
    """Tell since when, or raise OtherKey."""
    since, _, mac = record.partition(b" ")
    if not since.isdigit() or not compare_digest(mac, _mac(seal, since)):
        raise OtherKey(
            "the audit was sealed with another PARLEY_SECRET_KEY, or its record was changed: set "
            "the secret key that it was sealed with; or, if it was replaced on purpose, seal all "
            "that stands there now with `parley audit begin`"
        )
    return Millis(int(since))


async def begin_anew(store: Store, seal: Seal, *, now: Millis) -> Millis:
    """Seal everything as it stands, and record when."""
    audit, last = store.audit(), ""
    while page := await audit.logs(after=last, limit=_PAGE):
        for log in page:
            await _seal(audit, seal, log)
        last = page[-1].thread
    await _mark_anew(store, seal)
    since = str(now).encode()
    await store.keep(_OWNER, _KEY, since + b" " + _mac(seal, since), now=now)
    return now


async def _seal(audit: Audit, seal: Seal, log: SealedLog | None) -> None:
    """Seal a thread; one that somebody writes to meanwhile is read again."""
    while log is not None and not await audit.begin(log, chain_of(seal, log)):
        log = await audit.log(log.thread)


async def _mark_anew(store: Store, seal: Seal) -> None:
    """Also what is left of purged threads."""
    retention, last = store.retention(), ""
    while page := await retention.tombstones(after=last):
        for stone in page:
            await retention.mark(marked(seal, stone))
        last = page[-1].thread


def _mac(seal: Seal, since: bytes) -> bytes:
    return seal(b"since\0" + since).hex().encode()
