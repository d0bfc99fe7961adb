"""By itself, each night: what `[retention]` in `parley.toml` says need not be kept.

Any worker may do it, and one does: the first to say so in the database. Should two say so at the
same moment, both look, and each thread still goes once.
"""

from __future__ import annotations

import asyncio
import logging
import secrets

from agent_core.loop.world import World
from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime
from channels.email import forgetting
from gateway.audit.beginning import OtherKey, begun
from gateway.retention.purging import Purging, Which
from gateway.settings.config import RetentionRules
from storage.errors import StoreError
from storage.seals import Seal
from storage.store import Store

_log = logging.getLogger("parley.retention")

_OWNER = "retention"
_EVERY_SECONDS = 600.0
_NIGHT = range(1, 5)
"""Hours in UTC."""
_DAY_MS = 24 * 3_600_000
BY = "retention"


async def purge_each_night(
    purging: Purging,
    store: Store,
    rules: RetentionRules,
    *,
    world: World | None = None,
    every_seconds: float = _EVERY_SECONDS,
) -> None:
    """Purge each night, until cancelled; without a rule, do nothing for ever."""
    world = world or World()
    holder = secrets.token_hex(8)
    while True:
        try:
            if (rules.threads or rules.mails) and await _is_our_turn(
                store, purging.seal, holder, world.now()
            ):
                await purge_now(purging, store, rules, now=world.now())
        except (StoreError, OtherKey):
            _log.exception("purging failed")
        await asyncio.sleep(every_seconds)


async def purge_now(
    purging: Purging, store: Store, rules: RetentionRules, *, now: Millis
) -> tuple[int, int]:
    """Do it: gives how many threads and how many kept mails went."""
    threads = mails = 0
    if rules.threads:
        which = Which(older_than_ms=rules.threads_ms())
        async for _ in purging.purge_all(which, by=BY):
            threads += 1
        await purging.forget_the_rest()
    if rules.mails:
        mails = await _forget_mails(store, rules, now)
    if threads or mails:
        _log.info("purged", extra={"threads": threads, "mails": mails})
    return threads, mails


async def _forget_mails(store: Store, rules: RetentionRules, now: Millis) -> int:
    """Forget mails that were kept longer ago: each says when it would go by itself."""
    limit = Millis(now - rules.mails_ms() + round(forgetting.KEPT_SECONDS * 1000))
    gone = 0
    for prefix in forgetting.ARCHIVED:
        while count := await store.retention().forget_kept("email", prefix, expiring_before=limit):
            gone += count if prefix == forgetting.ARCHIVED[0] else 0
            await asyncio.sleep(0)
    return gone


async def _is_our_turn(store: Store, seal: Seal, holder: str, now: Millis) -> bool:
    """Take tonight's turn, if it is night and nobody has; who has another key leaves it."""
    moment = as_datetime(now)
    if moment.hour not in _NIGHT:
        return False
    await begun(store, seal, now=now)
    name, ours = f"night:{moment.date().isoformat()}", holder.encode()
    if await store.recall(_OWNER, name, now=now) is not None:
        return False
    await store.keep(_OWNER, name, ours, now=now, expires_at=Millis(now + 2 * _DAY_MS))
    return await store.recall(_OWNER, name, now=now) == ours
