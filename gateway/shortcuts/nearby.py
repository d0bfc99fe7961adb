"""What the parts of one process give each other by hand, past the queues in the store.

Intake commits with a lease on the thread and gives it to the engine beside it; whoever commits a
delivery with a lease gives it to the sender beside it. So nobody has to find, claim and read what
was written a moment ago. Nothing depends on it: what is dropped on the way is leased in the store,
and a lease runs out. A part that isn't in this process is simply not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agent_core.thread.events import ThreadId
from gateway.shortcuts.states import Known, States
from storage.values import Claim, Delivery


class TakesThreads(Protocol):
    """An engine."""

    def reserve(self) -> int | None:
        """Keep a place free and tell how long a lease to ask for, or refuse."""
        ...

    def unreserve(self) -> None:
        """Give the place back, before anything is taken for it."""
        ...

    def take(self, claim: Claim, known: Known) -> None:
        """Bring a thread to rest that was leased on its behalf."""
        ...

    def is_at(self, thread: ThreadId) -> bool:
        """Tell whether it is at work on a thread."""
        ...


class TakesDeliveries(Protocol):
    """A sender."""

    def lease_ms(self) -> int | None:
        """Tell how long a lease to ask for, or refuse."""
        ...

    def take(self, deliveries: Sequence[Delivery]) -> None:
        """Send what was leased on its behalf."""
        ...


class Nearby:
    """Who else is in this process, and what is known here of threads."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self.states = States()
        self.engine: TakesThreads | None = None
        self.sender: TakesDeliveries | None = None

    def is_at(self, thread: ThreadId) -> bool:
        """Tell whether the engine of this process is at work on a thread."""
        return self.engine is not None and self.engine.is_at(thread)

    def send_lease_ms(self) -> int | None:
        """Tell for how long to lease deliveries; None if nobody here would send them now."""
        return None if self.sender is None else self.sender.lease_ms()

    def pass_on(self, deliveries: Sequence[Delivery]) -> None:
        """Give away the deliveries that a commit has leased."""
        if deliveries and self.sender is not None:
            self.sender.take(deliveries)
