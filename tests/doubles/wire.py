"""A wire to PostgreSQL that can be cut, can go dead, and can lose an answer.

It listens on a port of loopback and passes everything on to the server's socket, which may be
another one later. Clients see what a network does to them: a reset, silence, or the end of a
connection between a commit and its answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit

_PIECE = 1 << 16


class Wire:
    """One wire; every connection over it can be looked at from here."""

    def __init__(self, server: str) -> None:
        """Lead to the server of this URL, which has a socket in a folder."""
        self.server = server
        self._server: asyncio.Server | None = None
        self._ends: set[asyncio.StreamWriter] = set()
        self._flows: dict[asyncio.StreamWriter, asyncio.Event] = {}
        """Which connections pass anything on."""
        self._hangs = False
        self._is_cut = False
        self._loses: Callable[[bytes], bool] | None = None
        self.lost = asyncio.Event()
        """An answer was lost as `lose_answer_to` asked for."""

    @property
    def url(self) -> str:
        """Where clients connect, with the database of the server's URL."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return f"postgresql://postgres@127.0.0.1:{port}{urlsplit(self.server).path}?sslmode=disable"

    def cut(self) -> None:
        """Reset every connection, and take no more."""
        self._is_cut = True
        self.reset()

    def mend(self, server: str = "") -> None:
        """Let everything through again, to this server if it is another one."""
        self.server = server or self.server
        self._is_cut = self._hangs = False
        for flow in self._flows.values():
            flow.set()

    def reset(self) -> None:
        """Reset every connection; new ones are taken."""
        for end in self._ends:
            end.transport.abort()

    def hang(self) -> None:
        """Pass nothing on, in either direction, and let nobody know."""
        self._hangs = True
        self.forget()

    def forget(self) -> None:
        """Let the connections that there are hang, as behind a firewall that has forgotten them."""
        for flow in self._flows.values():
            flow.clear()

    def lose_answer_to(self, is_it: Callable[[bytes], bool]) -> None:
        """Pass the next request that `is_it` on, and cut its connection when the answer comes."""
        self._loses = is_it

    async def serve(self) -> None:
        """Open the port."""
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)

    async def close(self) -> None:
        """Close the port and all connections."""
        assert self._server is not None
        self._server.close()
        self.reset()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._ends.add(writer)
        flow = self._flows[writer] = asyncio.Event()
        if not self._hangs:
            flow.set()
        try:
            if not self._is_cut:
                await flow.wait()
                await self._pass_on(reader, writer, flow)
        except OSError:
            pass  # one of the two is gone, which is what we are here for
        finally:
            del self._flows[writer]
            self._ends.discard(writer)
            writer.transport.abort()

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flow: asyncio.Event
    ) -> None:
        from_server, to_server = await asyncio.open_unix_connection(_socket(self.server))
        self._ends.add(to_server)
        doomed = asyncio.Event()
        ways = (
            asyncio.create_task(self._requests(reader, to_server, flow, doomed)),
            asyncio.create_task(self._answers(from_server, writer, flow, doomed)),
        )
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self._ends.discard(to_server)
            to_server.transport.abort()

    async def _requests(
        self,
        reader: asyncio.StreamReader,
        server: asyncio.StreamWriter,
        flow: asyncio.Event,
        doomed: asyncio.Event,
    ) -> None:
        while piece := await reader.read(_PIECE):
            await flow.wait()
            if self._loses is not None and self._loses(piece):
                self._loses = None
                doomed.set()
            server.write(piece)
            await server.drain()

    async def _answers(
        self,
        server: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        flow: asyncio.Event,
        doomed: asyncio.Event,
    ) -> None:
        while piece := await server.read(_PIECE):
            await flow.wait()
            if doomed.is_set() and _is_end(piece):
                self.lost.set()
                return
            if not doomed.is_set():
                writer.write(piece)
                await writer.drain()


def _is_end(piece: bytes) -> bool:
    """Tell whether the server is done: ReadyForQuery, outside of a transaction."""
    return piece.endswith(b"Z\x00\x00\x00\x05I")


def _socket(server: str) -> str:
    [folder] = parse_qs(urlsplit(server).query)["host"]
    return f"{folder}/.s.PGSQL.5432"


@asynccontextmanager
async def wire(server: str) -> AsyncIterator[Wire]:
    """Give a wire to a server, for a while."""
    made = Wire(server)
    await made.serve()
    try:
        yield made
    finally:
        with suppress(OSError):
            await made.close()
