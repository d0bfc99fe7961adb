"""How much strangers may make us write: what is kept for them, what is logged of them."""

from __future__ import annotations

from gateway.http.problems import RATE_LIMITED, slow_down
from gateway.rates.buckets import Buckets
from gateway.rates.ledger import Ledger


class Limits:
    """Counts those who have not signed in, over all machines."""

    def __init__(self, ledger: Ledger) -> None:
        self._leaving = Buckets(ledger, "sign-in from", rate=1 / 10, burst=20)
        self._reports = Buckets(ledger, "policy report", rate=1 / 10, burst=10)

    async def check_leaving(self, address: str) -> None:
        """Count who leaves for another service to sign in: something is kept until they return."""
        wait = await self._leaving.take(address)
        if wait:
            words = "Too many began to sign in from your network. Please wait a little."
            raise slow_down(RATE_LIMITED, words, wait)

    async def is_worth_a_line(self) -> bool:
        """Tell whether one more report of a browser should stand in the log."""
        return await self._reports.take("all") == 0
