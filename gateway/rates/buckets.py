"""Token buckets: so many at once, and so many a second after that, for each name."""

from __future__ import annotations

from gateway.rates.ledger import Ledger

_CREDIT = 16
"""A process lets through the sixteenth part of a burst before it must have asked the others. So a
name that asks seldom never waits for the store, and each process can be wrong by so much."""


class Buckets:
    """One kind of limit, for names of one kind."""

    def __init__(self, ledger: Ledger, kind: str, *, rate: float, burst: float) -> None:
        """Write to a ledger; names of different kinds have nothing to do with each other.

        One at a time always passes, however seldom.
        """
        self._ledger = ledger
        self._kind = kind
        self._cost = 1 / rate
        self._room = max(burst, 1) / rate
        self._credit = max(self._room / _CREDIT, self._cost)

    async def take(self, name: str) -> float:
        """Take one token: 0.0 if there was one, else the seconds until there is."""
        name = f"{self._kind} {name}"
        wait = self._take(name)
        if wait is None:
            await self._ledger.catch_up()
            wait = self._take(name, on_credit=True)
        return wait or 0.0

    def _take(self, name: str, *, on_credit: bool = False) -> float | None:
        """Take one, or tell how long to wait; None if the others must be asked first."""
        ledger, cost = self._ledger, self._cost
        account, now = ledger.account(name), ledger.now()
        full_at = max(account.full_at, now) + cost
        missing = full_at - now - self._room
        if missing > 1e-9:  # noqa: PLR2004 (sums of fractions are never exact)
            return missing
        used_up = account.untold + cost > self._credit + 1e-9
        if used_up and not on_credit and not ledger.is_blind:
            return None
        ledger.write(name, account, full_at=full_at, cost=cost)
        return 0.0
