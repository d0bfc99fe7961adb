"""One of two processes that decide about the same questions at the same moment.

    python -m tests.scenario.gateway.racer DATABASE_URL NAME

The jobs come as one line of JSON; then it says `ready`, and begins at the next line. It tells of
each job whether it got through, and if not, in which words it was refused.
"""

from __future__ import annotations

import asyncio
import json
import sys

from agent_core.errors import Refused
from agent_core.loop.journal import Overtaken
from agent_core.loop.world import World
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.timers import due
from gateway.control.local import LocalGateway
from gateway.shortcuts.hints import Hints
from gateway.work.threads import commit_outside, read_thread
from storage.store import Store
from storage.urls import open_store

_AHEAD_MS = 2 * 3_600_000


class Racer:
    """Somebody in a hurry."""

    def __init__(self, store: Store, name: str) -> None:
        """Stand at a gateway of their own."""
        self._store = store
        self._name = name
        self._world = World()
        self._gateway = LocalGateway(store, {}, Hints(store))

    async def run(self, job: dict[str, str]) -> str:
        """Do it; gives nothing, or the words of the refusal."""
        try:
            await self._do(job)
        except Refused as exc:
            return str(exc)
        return ""

    async def _do(self, job: dict[str, str]) -> None:
        match job["do"]:
            case "approve" | "deny" as do:
                value = {"approved": do == "approve"}
                await self._gateway.answer(job["question"], value, by=self._name)
            case "cancel":
                await self._gateway.cancel(job["thread"], by=self._name)
            case "expire":
                await self._fire(ThreadId(job["thread"]))

    async def _fire(self, thread: ThreadId) -> None:
        """Fire what is due, as a worker does: on what was looked at, or not at all.

        Its clock is ahead, so that the answer is in time by the other's: else nothing would race.
        """
        while True:
            known = await read_thread(self._store, thread)
            assert known is not None
            now = Millis(self._world.now() + _AHEAD_MS)
            events: list[Event] = [*due(known.state, now)]
            if not events:
                raise Refused("nothing is due any more")
            try:
                await commit_outside(self._store, known.state, events, now=now, known=known)
            except Overtaken:
                continue
            return


async def main(url: str, name: str) -> None:
    """Run the jobs, and tell."""
    store = open_store(url, shared=True)
    await store.open()
    racer = Racer(store, name)
    jobs = json.loads(sys.stdin.readline())
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    told = await asyncio.gather(*(racer.run(job) for job in jobs))
    await store.close()
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
