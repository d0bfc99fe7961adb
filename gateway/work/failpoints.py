"""Failpoints, for tests only: the server kills itself, as `kill -9` would, at a chosen write.

`PARLEY_FAILPOINT=commit:before:17` dies right before the store's 17th `commit` of this process,
`commit:after:17` right after the 17th has become durable and before anybody is told. The writes
that can be named so are `OPERATIONS`. `commit:before:2:ToolReturned` counts only commits with such
an event. Without the variable nothing here is in the way.

`PARLEY_FAILPOINT_LEASE_MS=500` makes leases short and looks for due work often, so that a test,
or somebody before the playground, need not wait for what a dead process held.
`PARLEY_FAILPOINT_APART=1` lets no part of a process hand anything to another, as if each were in a
process of its own. `PARLEY_FAILPOINT_FREEZES=1` stops the process in place of killing it (SIGSTOP)
until somebody lets it go on; a claim counts then if it found something.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, cast, get_args

from agent_core.thread.events import Event
from gateway.outbox.sender import SenderOptions
from gateway.settings.environment import SettingsError
from gateway.shortcuts.nearby import Nearby
from gateway.work.engine import EngineOptions
from storage.store import Store
from storage.values import Commit

FAILPOINT = "PARLEY_FAILPOINT"
LEASE_MS = "PARLEY_FAILPOINT_LEASE_MS"
APART = "PARLEY_FAILPOINT_APART"
FREEZES = "PARLEY_FAILPOINT_FREEZES"
OPERATIONS = ("commit", "claim", "renew", "release", "claim_deliveries", "end_deliveries")
_EVENTS = frozenset(kind.__name__ for kind in get_args(Event))
_LONGEST_DELAY = 4.0
"""Seconds: each kill counts as a try, and nobody waits for minutes in a test."""
_POLL_SECONDS = 0.1
_MAILBOX_SECONDS, _SHORT_MAILBOX_SECONDS = 30.0, 1.5


@dataclass(frozen=True)
class Failpoint:
    """Where to die: before or after the `number`th call of an operation, with such an event."""

    operation: str
    before: bool
    number: int
    event: str = ""
    freezes: bool = False

    def counts(self, args: Sequence[object]) -> bool:
        """Tell whether a call is one of those that are counted."""
        if not self.event:
            return True
        (commit,) = args
        return isinstance(commit, Commit) and any(
            type(event).__name__ == self.event for event in commit.events
        )


class FailingStore:
    """Passes everything on to a store, until the process dies of it."""

    def __init__(self, store: Store, point: Failpoint) -> None:
        self._store = store
        self._point = point
        self._calls = count(1)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the store has)
        """Give what the store has; the chosen operation with death around it."""
        found = getattr(self._store, name)
        return self._deadly(found) if name == self._point.operation else found

    def _deadly(
        self, operation: Callable[..., Coroutine[Any, Any, object]]
    ) -> Callable[..., Coroutine[Any, Any, object]]:
        async def run(*args: object, **kwargs: object) -> object:
            counts = self._point.counts(args)
            if counts and self._point.before:
                self._count()
            result = await operation(*args, **kwargs)
            if self._point.freezes and not result:
                return result  # with empty hands there is nothing to be late with
            if counts and not self._point.before:  # one that was refused has no after
                self._count()
            return result

        return run

    def _count(self) -> None:
        if next(self._calls) == self._point.number:
            os.kill(os.getpid(), signal.SIGSTOP if self._point.freezes else signal.SIGKILL)


def rigged(store: Store, environ: Mapping[str, str] = os.environ) -> Store:
    """Give the store itself, or one that will die if the environment says so."""
    text = environ.get(FAILPOINT, "")
    if not text:
        return store
    point = replace(parse(text), freezes=bool(environ.get(FREEZES)))
    return cast("Store", FailingStore(store, point))


def parse(text: str) -> Failpoint:
    """Read `OPERATION:before|after:NUMBER`, or refuse to start."""
    match text.split(":"):
        case [operation, ("before" | "after") as side, number] if (
            operation in OPERATIONS and _is_counted(number)
        ):
            return Failpoint(operation, side == "before", int(number))
        case ["commit", ("before" | "after") as side, number, event] if (
            event in _EVENTS and _is_counted(number)
        ):
            return Failpoint("commit", side == "before", int(number), event)
    raise SettingsError(
        f"{FAILPOINT} can't be used: it is for tests, and looks like commit:before:17 "
        f"or commit:after:17, with one of {', '.join(OPERATIONS)}"
    )


def engine_options(environ: Mapping[str, str] = os.environ) -> EngineOptions:
    """Give the engine's options: its own, or those for a test that can't wait."""
    lease_ms = _lease_ms(environ)
    if lease_ms is None:
        return EngineOptions()
    return EngineOptions(lease_ms=lease_ms, poll_seconds=_POLL_SECONDS)


def sender_options(environ: Mapping[str, str] = os.environ) -> SenderOptions:
    """Give the sender's options: its own, or those for a test that can't wait."""
    lease_ms = _lease_ms(environ)
    if lease_ms is None:
        return SenderOptions()
    return SenderOptions(
        lease_ms=lease_ms, poll_seconds=_POLL_SECONDS, longest_delay=_LONGEST_DELAY
    )


def mailbox_lease_seconds(environ: Mapping[str, str] = os.environ) -> float:
    """Give for how long a mailbox belongs to one process; short for a test that can't wait."""
    return _MAILBOX_SECONDS if _lease_ms(environ) is None else _SHORT_MAILBOX_SECONDS


def beside(nearby: Nearby, environ: Mapping[str, str] = os.environ) -> Nearby:
    """Give what the parts of a process share, or to each its own."""
    return Nearby() if environ.get(APART) else nearby


def _lease_ms(environ: Mapping[str, str]) -> int | None:
    text = environ.get(LEASE_MS, "")
    if not text:
        return None
    if not _is_counted(text):
        raise SettingsError(f"{LEASE_MS} can't be used: it is for tests, and looks like 500")
    return int(text)


def _is_counted(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) > 0
