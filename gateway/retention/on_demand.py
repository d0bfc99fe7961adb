"""Purging for a server: what it takes is loaded when it is first asked for, which is seldom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_core.errors import WrongStatus
from channels.intake import Memory
from gateway.settings.config import RetentionRules
from storage.seals import Seal
from storage.store import Store

if TYPE_CHECKING:
    from gateway.retention.purging import Purging

_PAUSE_SECONDS = 0.02
"""After each thread of the night's, so that whoever works meanwhile goes first."""


@dataclass(frozen=True, slots=True)
class Purger:
    """Deletes threads, for the control API and each night."""

    store: Store
    seal: Seal
    mails: Memory
    """What the email channel remembers with."""

    async def purge_one(self, thread: str, *, by: str) -> None:
        """Delete a thread that is over; with another key than the audit's, nothing is deleted."""
        from gateway.audit.beginning import OtherKey, begun  # noqa: PLC0415 - see above

        purging = self._purging()
        try:
            await begun(self.store, self.seal, now=purging.world.now())
        except OtherKey as exc:
            raise WrongStatus(str(exc)) from exc
        await purging.purge_one(thread, by=by)

    async def each_night(self, rules: RetentionRules) -> None:
        """Delete what need not be kept, until cancelled."""
        from gateway.retention.nightly import purge_each_night  # noqa: PLC0415 - see above

        await purge_each_night(self._purging(), self.store, rules)

    def _purging(self) -> Purging:
        from gateway.retention.purging import Purging  # noqa: PLC0415 - see above

        return Purging(self.store, self.seal, self.mails, pause_seconds=_PAUSE_SECONDS)
