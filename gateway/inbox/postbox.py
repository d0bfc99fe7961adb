"""The postbox: mails links to people who sign in, beside the requests that ask for them.

Not by the outbox: its rows would hold the secret of each link. So a link is lost with the process;
whoever gets none asks again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from agent_core.errors import ParleyError
from channels.channel import TryLater
from channels.errands import Errands
from channels.identity import Mailer
from gateway.rates.buckets import Buckets
from gateway.rates.ledger import Ledger

_log = logging.getLogger("parley.inbox")

_PAUSES: Final = (2.0, 10.0, 60.0, 180.0)
"""Seconds between tries, while the mail server asks for patience; then the link is nearly over."""
_TRY_SECONDS: Final = 30.0
_SUBJECT: Final = "Sign in to Parley"


class Postbox:
    """Takes what is to be mailed, and counts who asks for it."""

    def __init__(
        self,
        mailer: Mailer,
        ledger: Ledger,
        public_url: str,
        *,
        pauses: Sequence[float] = _PAUSES,
    ) -> None:
        """Take the seconds between tries."""
        self._pauses = pauses
        self._mailer = mailer
        self._public_url = public_url
        self._errands = Errands(_log, (ParleyError, TimeoutError), most=100)
        self._askers = Buckets(ledger, "link from", rate=1 / 30, burst=10)
        self._mailboxes = Buckets(ledger, "link to", rate=1 / 300, burst=3)

    async def too_many_from(self, address: str) -> float:
        """Count who asks; gives the seconds until they may again."""
        return await self._askers.take(address)

    async def too_many_to(self, email: str) -> bool:
        """Count for whom a link is asked, known or not: nobody's mailbox is filled by others."""
        return await self._mailboxes.take(email) > 0

    def mail(self, email: str, make: Callable[[], Awaitable[str]]) -> None:
        """Mail the link whose path `make` gives, while the request is answered."""
        self._errands.run(self._mail(email, make))

    async def rested(self) -> None:
        """Wait until nothing is under way."""
        await self._errands.rested()

    async def close(self) -> None:
        """End what is under way, after a moment."""
        await self._errands.close()

    async def _mail(self, email: str, make: Callable[[], Awaitable[str]]) -> None:
        url = self._public_url + await make()
        for pause in self._pauses:
            try:
                return await self._try(email, url)
            except TryLater:
                await asyncio.sleep(pause)
        return await self._try(email, url)

    async def _try(self, email: str, url: str) -> None:
        words = _words(self._public_url)
        async with asyncio.timeout(_TRY_SECONDS):
            await self._mailer.mail_link(email, subject=_SUBJECT, words=words, url=url)


def _words(public_url: str) -> Sequence[str]:
    return (
        f"Somebody wants to sign in to {public_url} with this address. If it was you:",
        "Open it in the browser where you asked for it. It works once, within 15 minutes.",
        "If it was not you, there is nothing to do: without the link nobody gets in.",
    )
