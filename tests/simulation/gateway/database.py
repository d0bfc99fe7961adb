"""One database for all machines: the in-memory twin, behind a network.

Each machine has a `Link` in place of a store. Hints go by wires of their own: lost, late, twice.
What is written is looked at by the `Referee` in the very moment.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from random import Random
from typing import Any

from agent_core.thread.events import ThreadId
from gateway.audit.key import audit_seal
from storage.errors import StoreUnreachable
from storage.hints import Hints, Listener
from storage.memory import MemoryStore, MemoryTables
from storage.memory.audit import MemoryAudit
from storage.values import Commit, Committed, Delivery, Hint, ThreadRow
from tests.simulation.gateway.mutations import Mutation
from tests.simulation.gateway.network import Network
from tests.simulation.gateway.trace import Trace

SECRET = b"a secret of the simulation's own"
_TELLING = 4
"""How much more often the answer to a commit is lost: there is most to learn from it."""


class Relay(Hints):
    """Passes hints on to every machine, as well as the weather lets it."""

    def __init__(self, network: Network, chance: Random, trace: Trace) -> None:
        super().__init__()
        self.listeners: dict[str, Listener] = {}
        self._network = network
        self._chance = chance
        self._trace = trace

    def tell(self, hints: Iterable[Hint]) -> None:
        """Send each machine what the database has to say."""
        told, weather = list(hints), self._network.weather
        for name, listener in self.listeners.items() if told else ():
            if self._chance.random() < weather.hints_lost:
                self._trace.fault(name, "hint lost")
                continue
            odd = self._chance.random() < weather.hints_odd
            for _ in range(2 if odd else 1):
                wait = self._chance.uniform(0.0, 8.0) if odd else self._chance.uniform(0.0, 0.003)
                self._network.later(wait, lambda one=listener: one.hear(told))  # type: ignore[misc]  # bound now
            if odd:
                self._trace.fault(name, "hint late, twice")


class Referee:
    """Looks at every write as it is made: nobody writes with a lease that was taken."""

    def __init__(self, tables: MemoryTables) -> None:
        self.wrong: list[str] = []
        self._tables = tables

    def row(self, thread: ThreadId) -> ThreadRow | None:
        """Give a thread as it is right now."""
        return self._tables.threads.get(thread)

    def committed(self, who: str, commit: Commit, before: ThreadRow | None) -> None:
        """Look at a write that was taken."""
        if commit.epoch is None:
            return
        if before is None or before.epoch != commit.epoch or before.lease_until is None:
            self.wrong.append(f"{who} wrote to {commit.thread} after its lease had been taken")


class Database:
    """What all machines share."""

    def __init__(self, network: Network, chance: Random, trace: Trace) -> None:
        self.tables = MemoryTables()
        self.seal = audit_seal(SECRET)
        self.store = MemoryStore(self.tables, seal=self.seal)
        self.relay = Relay(network, chance, trace)
        self.referee = Referee(self.tables)
        self.network = network
        self.trace = trace
        self.is_down = False

    async def open(self) -> None:
        """Get ready."""
        await self.store.open()
        self.tables.hints.append(self.relay)

    def pending(self) -> list[Delivery]:
        """Give what is still to be sent."""
        return [one for one in self.tables.deliveries.values() if one.status == "pending"]


class Link:
    """A machine's store: every call crosses the network."""

    def __init__(self, database: Database, who: str, mutation: Mutation) -> None:
        self.is_cut = False
        self._database = database
        self._who = who
        self._mutation = mutation
        self._listener = Listener()

    def hear(self) -> None:
        """Be told of hints from now on; a machine that begins again takes its own place."""
        self._database.relay.listeners[self._who] = self._listener

    def wakes(self) -> Listener:
        """Listen for hints."""
        return self._listener

    def audit(self) -> MemoryAudit:
        """Look at what is there."""
        return self._database.store.audit()

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Give any other method of a store, with a network in between."""
        method = getattr(self._database.store, name)

        async def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (whatever the store has)
            database = self._database
            if self.is_cut or database.is_down:
                raise StoreUnreachable("the database can't be reached")

            def act() -> object:
                return self._act(name, method, args, kwargs)

            network = database.network
            loses = network.weather.store_loses * (_TELLING if name == "commit" else 1)
            return await network.call(
                self._who, f"store.{name}", act, loses=loses, error=StoreUnreachable
            )

        return call

    def _act(
        self, name: str, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        """Do it, at the database."""
        if self.is_cut or self._database.is_down:
            raise StoreUnreachable("the database can't be reached")
        commit = args[0] if name == "commit" else None
        before = self._database.referee.row(commit.thread) if commit is not None else None
        if commit is not None:
            args = (self._mutation.commit(commit, before),)
        given = at_once(method(*args, **kwargs))
        if isinstance(given, Committed) and commit is not None:
            self._database.referee.committed(self._who, commit, before)
        if name not in _LOOKS:
            self._database.trace.note(self._who, name, _about(name, args, given))
        return given


_LOOKS = frozenset({"load", "thread", "question", "halted", "recall", "inbox", "deliveries"})
_QUIET = frozenset({"claim", "claim_deliveries", "renew", "sweep", "queued"})


def _about(name: str, args: tuple[Any, ...], given: object) -> str:
    if name == "commit":
        kinds = ",".join(type(one).__name__ for one in args[0].events)
        return f"{args[0].thread} {kinds} {type(given).__name__}"
    if name in _QUIET:
        return str(len(given) if isinstance(given, list) else given)
    return ""


def at_once(call: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 (whatever the store has)
    """Run a method of the twin, which never waits."""
    try:
        call.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the twin has waited for something")
