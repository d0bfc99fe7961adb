"""The way beyond one PostgreSQL, on paper: how workers claim from several shards. A simulation.

Every transaction touches one thread, so threads can be spread over shards by their id; only a claim
looks for any thread that is due, and has to ask a shard. Who asks which? `all`: each worker asks
one shard after the other. `home`: each has a home among them, and asks another one only when that
has nothing.

Servers and workers are queues with the times that `bench.machines` measured; hints are not in it,
so an idle worker polls. All by a seed, in virtual time.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.gateway.tables import table

_CLAIM_MS = 0.3
"""Of a server, for a claim that finds something or not."""
_POLL_MS = 20.0
_BATCH = 8
_SLOTS = 32
"""Threads that a worker has under way at once."""


@dataclass(frozen=True, kw_only=True)
class Times:
    """What one thread costs, in milliseconds."""

    server: float
    worker: float


@dataclass
class Shard:
    """A PostgreSQL: what is due, and until when it is busy."""

    cores: int
    due: deque[float] = field(default_factory=deque)
    """When each became due."""
    free_at: list[float] = field(default_factory=list)

    def serve(self, now: float, ms: float) -> float:
        """Take the first core that is free; give when it is done."""
        self.free_at = self.free_at or [0.0] * self.cores
        begin = max(now, heapq.heappop(self.free_at))
        heapq.heappush(self.free_at, begin + ms)
        return begin + ms


@dataclass
class Counts:
    """What came of a run."""

    done: int = 0
    claims: int = 0
    in_vain: int = 0
    waits: list[float] = field(default_factory=list)


class Town:
    """Shards, workers, and what happens when."""

    def __init__(self, *, shards: int, workers: int, policy: str, times: Times, seed: int) -> None:
        self.shards = [Shard(cores=2) for _ in range(shards)]
        self.counts = Counts()
        self._times = times
        self._policy = policy
        self._busy_until = [0.0] * workers
        self._under_way = [0] * workers
        self._turns = [itertools.count(worker) for worker in range(workers)]
        self._chance = random.Random(seed)  # noqa: S311 (chance that can be repeated)
        self._agenda: list[tuple[float, int, Callable[[float], None]]] = []
        self._ties = itertools.count()

    def run(self, *, rate: float, seconds: float) -> Counts:
        """Let threads become due at this rate, anywhere, and workers claim them."""
        end = seconds * 1000
        moment = 0.0
        while moment < end:
            moment += self._chance.expovariate(rate) * 1000
            self._at(moment, self._arrive)
        for worker in range(len(self._turns)):
            self._at(self._chance.uniform(0, _POLL_MS), self._claimer(worker))
        while self._agenda and self._agenda[0][0] < end:
            now, _, happens = heapq.heappop(self._agenda)
            happens(now)
        return self.counts

    def _at(self, moment: float, happens: Callable[[float], None]) -> None:
        heapq.heappush(self._agenda, (moment, next(self._ties), happens))

    def _arrive(self, now: float) -> None:
        self._chance.choice(self.shards).due.append(now)

    def _claimer(self, worker: int) -> Callable[[float], None]:
        def claim(now: float) -> None:
            room = min(_BATCH, _SLOTS - self._under_way[worker])
            found = self._ask(worker, now, room) if room else []
            for shard, since in found:
                self._advance(worker, shard, since, now)
            self._at(now + (0.5 if found else _POLL_MS), claim)

        return claim

    def _ask(self, worker: int, now: float, room: int) -> list[tuple[Shard, float]]:
        """Ask one shard; with a home, another one too if that has nothing."""
        order = [next(self._turns[worker]) % len(self.shards)]
        if self._policy == "home":
            order.insert(0, worker % len(self.shards))
        for number in dict.fromkeys(order):
            shard = self.shards[number]
            self.counts.claims += 1
            shard.serve(now, _CLAIM_MS)
            if shard.due:
                taken = [shard.due.popleft() for _ in range(min(room, len(shard.due)))]
                return [(shard, since) for since in taken]
            self.counts.in_vain += 1
        return []

    def _advance(self, worker: int, shard: Shard, since: float, now: float) -> None:
        """Work on it: the worker's own time, then its shard's."""
        self.counts.waits.append(now - since)
        self._under_way[worker] += 1
        thought = max(now, self._busy_until[worker]) + self._times.worker
        self._busy_until[worker] = thought

        def finish(_now: float) -> None:
            self._under_way[worker] -= 1
            self.counts.done += 1

        self._at(shard.serve(thought, self._times.server), finish)


def main() -> int:
    """Simulate each size under each policy, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.machines.shards", description=__doc__)
    parser.add_argument("--server-ms", type=float, default=2.2, help="of PostgreSQL, each thread")
    parser.add_argument("--worker-ms", type=float, default=2.4, help="of a worker, each thread")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--load", type=float, default=0.8, help="of what the workers can do")
    asked = parser.parse_args()
    times = Times(server=asked.server_ms, worker=asked.worker_ms)
    rows = [
        _row(shards, workers, policy, times, asked)
        for shards, workers in ((1, 2), (2, 4), (4, 8), (16, 32), (64, 128))
        for policy in ("all", "home")
    ]
    heads = (
        "shards",
        "workers",
        "policy",
        "due/s",
        "done/s",
        "claims a thread",
        "in vain",
        "p99 ms",
    )
    print(table(heads, rows))
    return 0


def _row(
    shards: int, workers: int, policy: str, times: Times, asked: argparse.Namespace
) -> list[str]:
    rate = asked.load * workers * 1000 / times.worker
    town = Town(shards=shards, workers=workers, policy=policy, times=times, seed=1)
    counts = town.run(rate=rate, seconds=asked.seconds)
    waits = sorted(counts.waits)
    return [
        f"{shards}",
        f"{workers}",
        policy,
        f"{rate:,.0f}",
        f"{counts.done / asked.seconds:,.0f}",
        f"{counts.claims / max(counts.done, 1):.2f}",
        f"{100 * counts.in_vain / max(counts.claims, 1):.0f} %",
        f"{waits[int(0.99 * (len(waits) - 1))]:,.1f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
