"""A small IMAP server: one account, as many folders as one asks for, and trouble on demand.

It speaks what clients need to watch a mailbox (RFC 3501, IDLE by RFC 2177, XOAUTH2), keeps mail in
memory, and can go down, fall silent, or lose its UIDVALIDITY as servers do.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from tests.doubles.imap_folders import Folder
from tests.doubles.imap_session import Session


@dataclass
class ImapServer:
    """The server, and what a test may do to it."""

    user: str = "agent@example.com"
    password: str = "secret"
    token: str = ""
    """The access token that XOAUTH2 must bring; without one, only passwords are taken."""
    tls: ssl.SSLContext | None = None
    implicit_tls: bool = False
    folders: dict[str, Folder] = field(default_factory=lambda: {"INBOX": Folder()})
    port: int = 0
    speaks: asyncio.Event = field(default_factory=asyncio.Event)
    """While it is cleared, connections and commands are taken, and nothing is answered."""
    logins: int = 0
    commands: list[str] = field(default_factory=list)
    _server: asyncio.Server | None = None
    _sessions: dict[Session, asyncio.Task[None]] = field(default_factory=dict)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def url(self) -> str:
        """Where it is, as `IMAP_URL` has it."""
        scheme = "imaps" if self.implicit_tls else "imap" if self.tls else "imap+plain"
        user = self.user.replace("@", "%40")
        return f"{scheme}://{user}:{self.password}@127.0.0.1:{self.port}/INBOX"

    @property
    def inbox(self) -> Folder:
        """The folder that mail comes to."""
        return self.folders["INBOX"]

    async def start(self) -> None:
        """Listen; after a stop, on the same port."""
        tls = self.tls if self.implicit_tls else None
        self.speaks.set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=tls)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Go down: connections are cut, mail is kept."""
        if self._server is not None:
            self._server.close()
        for session in self._sessions:
            session.cut()
        if self._sessions:
            await asyncio.wait(self._sessions.values())
        self._server = None

    async def deliver(self, raw: bytes, folder: str = "INBOX") -> int:
        """Put a mail into a folder, and tell who waits there."""
        uid = self.folders[folder].add(raw).uid
        await self.tell()
        return uid

    async def tell(self) -> None:
        """Wake who waits for a change."""
        for session in list(self._sessions):
            with suppress(ConnectionError):
                await session.tell_of(self.folders)
        async with self._changed:
            self._changed.notify_all()

    async def until(self, look: Callable[[], object], within: float = 30) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(within), self._changed:
            await self._changed.wait_for(look)

    async def heard(self, command: str) -> None:
        """Note a command, and tell who waits for it."""
        self.commands.append(command)
        async with self._changed:
            self._changed.notify_all()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = Session(self, reader, writer)
        task = asyncio.current_task()
        assert task is not None
        self._sessions[session] = task
        try:
            await session.run()
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            pass
        finally:
            del self._sessions[session]
            writer.close()


@asynccontextmanager
async def imap_server(
    *, token: str = "", tls: ssl.SSLContext | None = None, implicit_tls: bool = False
) -> AsyncIterator[ImapServer]:
    """Run a server for a while."""
    server = ImapServer(token=token, tls=tls, implicit_tls=implicit_tls)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
