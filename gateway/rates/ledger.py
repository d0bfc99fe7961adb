"""What this process has let through, and what all the others have, as far as it has heard.

A bucket is kept as the time at which it is full again: one number says it all. What was let
through here moves it on at once; a moment later the store hears of it, all names in one statement,
and says where the bucket stands with everybody's part in it. While the store can't be asked, this
process goes by what it knows: nobody is shut out by that, and nobody gets more than one process
would give (ADR 21).

The account of a name that has been quiet is full again and is forgotten, so that strangers'
addresses can't fill the memory.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from storage.errors import StoreError

_log = logging.getLogger("parley.rates")

MOST_ACCOUNTS = 10_000
_TELL_EACH_S = 0.25
"""How old what others know of us may be, unless somebody's credit is used up before that."""
_PATIENCE_S = 0.25
"""How long a request may have to wait for the store to tell whether it is one too many."""
_BLIND_S = 1.0
"""How long we go by ourselves after the store did not answer."""

Spend: TypeAlias = Callable[[Mapping[str, int]], Awaitable[Mapping[str, int]]]
"""Moves buckets on by milliseconds, for all machines; gives how far each is ahead of now."""


@dataclass(slots=True)
class Account:
    """One bucket, in seconds of our own clock."""

    full_at: float
    untold: float = 0.0
    """What of it the others have not heard of."""


class Ledger:
    """The accounts of one process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with none; until `run`, this process is the only one."""
        self._clock = clock
        self._accounts: dict[str, Account] = {}
        self._untold: set[str] = set()
        self._news = asyncio.Event()
        self._hurry = asyncio.Event()
        self._told: asyncio.Future[None] | None = None
        self._is_running = False
        self._blind_until = 0.0

    def now(self) -> float:
        """Tell the time."""
        return self._clock()

    def account(self, name: str) -> Account:
        """Give the account of a name; one that is not kept is full."""
        return self._accounts.get(name) or Account(self._clock())

    @property
    def is_blind(self) -> bool:
        """Tell whether the others can't be asked just now."""
        return not self._is_running or self._clock() < self._blind_until

    def write(self, name: str, account: Account, *, full_at: float, cost: float) -> None:
        """Note what was let through."""
        if name not in self._accounts:
            self._make_room()
            self._accounts[name] = account
        account.full_at = full_at
        account.untold += cost
        self._untold.add(name)
        self._news.set()

    async def catch_up(self) -> None:
        """Tell the others now, and hear from them; without an answer, go by ourselves a while."""
        if self._told is None:
            self._told = asyncio.get_running_loop().create_future()
        self._hurry.set()
        self._news.set()
        done, _ = await asyncio.wait([self._told], timeout=_PATIENCE_S)
        if not done:
            self._blind_until = self._clock() + _BLIND_S

    async def run(self, spend: Spend) -> None:
        """Tell the others what is let through here, until cancelled."""
        self._is_running = True
        try:
            while True:
                await self._news.wait()
                await _set_within(self._hurry, _TELL_EACH_S)
                self._news.clear()
                self._hurry.clear()
                told, self._told = self._told, None
                await self._tell(spend)
                if told is not None and not told.done():
                    told.set_result(None)
        finally:
            self._is_running = False

    async def _tell(self, spend: Spend) -> None:
        spent = self._take_untold()
        if not spent:
            return
        names = {_digest(name): name for name in spent}
        try:
            told = await spend({digest: spent[name] for digest, name in names.items()})
        except StoreError as exc:
            _log.warning("rates are kept by this process alone", extra={"error": str(exc)})
            self._blind_until = self._clock() + _BLIND_S
            self._put_back(spent)
        else:
            self._hear({names[digest]: ahead for digest, ahead in told.items()})

    def _take_untold(self) -> dict[str, int]:
        spent: dict[str, int] = {}
        for name in self._untold:
            account = self._accounts.get(name)
            if account is not None and (whole := int(account.untold * 1000)):
                spent[name] = whole
                account.untold -= whole / 1000
        self._untold -= spent.keys()
        return spent

    def _put_back(self, spent: Mapping[str, int]) -> None:
        """Owe it still, but no more than would fill the bucket by now: time has paid the rest."""
        now = self._clock()
        for name, cost in spent.items():
            account = self._accounts.get(name)
            if account is not None:
                account.untold = min(account.untold + cost / 1000, max(account.full_at - now, 0))
                self._untold.add(name)
        if self._untold:
            self._news.set()

    def _hear(self, ahead: Mapping[str, int]) -> None:
        now = self._clock()
        for name, seconds in ahead.items():
            account = self._accounts.get(name)
            if account is not None:
                account.full_at = now + seconds / 1000 + account.untold

    def _make_room(self) -> None:
        if len(self._accounts) < MOST_ACCOUNTS:
            return
        now = self._clock()
        self._accounts = {
            name: one
            for name, one in self._accounts.items()
            if one.full_at > now or name in self._untold
        }
        if len(self._accounts) >= MOST_ACCOUNTS:  # a flood of names: better forget than grow
            self._accounts.clear()
            self._untold.clear()


def _digest(name: str) -> str:
    """Name a bucket for the store, which need not know whose address or session it is."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


async def _set_within(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
