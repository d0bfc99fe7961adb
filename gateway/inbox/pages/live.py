"""What pages share while people look: a room for each thread, one board for the queue."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec
from msgspec import Struct

from agent_core.thread.events import Event, ThreadId
from gateway.control.service import NotFound
from gateway.control.showing import show_thread
from gateway.inbox.house import House
from gateway.inbox.pages.board import Board
from gateway.inbox.pages.entries import Entry
from gateway.inbox.pages.pieces import tell
from gateway.inbox.pages.rooms import Piece, Rooms
from gateway.inbox.visitor import Visitor

_PIECE = 200


class Head(Struct, frozen=True, kw_only=True, gc=False):
    """What stands above a timeline, as it is after its last entry."""

    status: str
    seq: int
    tokens: int
    cost: float
    waiting: int
    """How many questions are open."""


class Live:
    """Follows threads and the queue for whoever looks."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.rooms = Rooms(self._follow)
        self.board = Board(house.store, house.gateway.stirred, self._is_asked)

    async def since(self, thread: str, after: int) -> list[Piece]:
        """Give all that has happened after an event."""
        pieces: list[Piece] = []
        while True:
            events = await self._house.store.events(ThreadId(thread), after=after, limit=_PIECE)
            if not events:
                return pieces
            pieces.append(await self._piece(thread, events, after + 1))
            after += len(events)

    async def _follow(self, thread: str) -> AsyncIterator[Piece]:
        row = await self._house.store.thread(ThreadId(thread))
        if row is None:
            raise NotFound(f"there is no thread {thread!r}")
        after = row.seq
        yield Piece(first=after + 1, last=after, body=b"")
        async for events in self._house.gateway.following(thread, after=after):
            yield await self._piece(thread, events, after + 1)
            after += len(events)

    async def _piece(self, thread: str, events: Sequence[Event], first: int) -> Piece:
        row = await self._house.store.thread(ThreadId(thread))
        if row is None:
            raise NotFound(f"there is no thread {thread!r}")
        entries = await tell(self._house, row.id, row.agent, events, first)
        view = show_thread(row, self._house.now())
        head = Head(
            status=view.status,
            seq=row.seq,
            tokens=view.usage.input_tokens + view.usage.output_tokens,
            cost=view.usage.cost,
            waiting=len(view.questions),
        )
        written = [*map(_written, entries), _message("head", msgspec.json.encode(head))]
        return Piece(first=first, last=first + len(events) - 1, body=b"".join(written))

    def _is_asked(self, visitor: Visitor, audience: Sequence[str]) -> bool:
        return self._house.sight.is_asked(visitor, audience)


def queue_message(waiting: bytes) -> bytes:
    """Write what waits, for the queue's stream."""
    return _message("queue", waiting)


def _written(entry: Entry) -> bytes:
    return b"id: %d\n%b" % (entry.seq, _message("entry", msgspec.json.encode(entry)))


def _message(event: str, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event.encode(), data)
