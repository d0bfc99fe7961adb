"""Watching the real server by its API, as any other program could: its threads, logs, questions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from gateway.http.client import ApiError, Client
from gateway.playground.scene import Json, Scene, Seen
from gateway.playground.server_process import ServerProcess

_BETWEEN_LOOKS = 0.25
_MOST = 20
"""Threads that are watched: the newest."""


@dataclass
class Watch:
    """Looks again and again; what it saw last is in `scene`."""

    client: Client
    server: ServerProcess
    on_change: Callable[[], None]
    outside: Callable[[], object]
    """What the tools have done to the world: it changes while they run, before any event."""
    _threads: dict[str, Seen] = field(default_factory=dict)
    _questions: list[Json] = field(default_factory=list)
    _world: object = None

    @property
    def scene(self) -> Scene:
        """Give what has been seen so far; while the server is away, what it was before."""
        threads = sorted(self._threads.values(), key=lambda seen: str(seen.thread["created_at"]))
        return Scene(lives=tuple(self.server.lives), threads=threads, questions=self._questions)

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                await self._look()
            except ApiError:  # it was killed, or is starting: nothing has changed but that
                pass
            else:
                self.server.answered()
            await asyncio.sleep(_BETWEEN_LOOKS)

    async def _look(self) -> None:
        before = (self._threads.copy(), self._questions, self._world)
        listed = (await self.client.get("/v1/threads", {"limit": _MOST})).data["items"]
        for thread in listed:
            known = self._threads.get(thread["id"])
            if known is None or known.thread != thread or not _is_quiet(known):
                self._threads[thread["id"]] = await self._seen(thread)
        self._questions = (await self.client.get("/v1/questions", {"status": "open"})).data["items"]
        self._world = self.outside()
        if before != (self._threads, self._questions, self._world):
            self.on_change()

    async def _seen(self, thread: Json) -> Seen:
        path = f"/v1/threads/{thread['id']}"
        events = (await self.client.get(f"{path}/events", {"limit": 200})).data["items"]
        deliveries = (await self.client.get(f"{path}/deliveries")).data["items"]
        return Seen(thread=thread, events=events, deliveries=deliveries)


def _is_quiet(seen: Seen) -> bool:
    """Tell whether nothing is left to be sent or settled."""
    questions = [str(one["id"]) for one in seen.questions]
    is_told = all(one["status"] != "pending" for one in seen.deliveries)
    return is_told and (not seen.is_over or all(map(seen.is_settled, questions)))
