"""A few children that read mail, so that no mail can hold up another for long.

A child is used again and again; one that takes too long, or dies, is replaced, and its mail is put
aside with the reason.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Self, TypeAlias, assert_never

import msgspec

from agent_core.errors import ParleyError
from channels.email.mail import Envelope, ReadingOptions, ReadMail
from channels.email.reading import rejected, without_secret
from channels.email.recognition import recognise
from channels.email.wire import (
    LENGTH,
    LONGEST,
    Done,
    FromChild,
    Job,
    Ready,
    Record,
    Wanted,
    frame,
    from_child,
)

TxtSource: TypeAlias = Callable[[str], Awaitable[bytes | None]]
"""Gives the TXT record under a name, or nothing."""

_START: Final = 30.0
_MAILS: Final = 500
"""After so many a child is replaced: what libraries keep in memory goes with it."""
_COMMAND: Final = ("-P", "-m", "channels.email.worker")


class ReaderUnavailable(ParleyError):
    """No mail can be read at the moment; the one at hand must not be lost: try later."""


class ChildBroken(Exception):
    """A child died, or said what no child says."""


async def _no_records(_name: str) -> bytes | None:
    return None


class MailReader:
    """Reads mail in child processes. Use it as `async with MailReader(options) as reader`."""

    def __init__(
        self,
        options: ReadingOptions,
        *,
        size: int = 2,
        seconds: float = 2.0,
        lookup: TxtSource = _no_records,
        command: tuple[str, ...] = _COMMAND,
    ) -> None:
        self._options = options
        self._told = without_secret(options)
        self._seconds = seconds
        self._lookup = lookup
        self._command = command
        self._idle: asyncio.LifoQueue[_Child | None] = asyncio.LifoQueue()
        for _ in range(size):
            self._idle.put_nowait(None)  # a place for a child, which is started when it is needed
        self._all: set[_Child] = set()

    async def __aenter__(self) -> Self:
        """Begin; children are started when they are needed."""
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """End all children."""
        await self.close()

    async def read(self, raw: bytes, envelope: Envelope | None = None) -> ReadMail:
        """Read a mail within the time limit, or put it aside.

        Raises `ReaderUnavailable` if there is no child to read it: that is not the mail's fault.
        """
        if len(raw) > self._options.limits.bytes:  # not even worth the pipe
            told = f"larger than {self._options.limits.bytes:,} bytes"
            return rejected(told, hashlib.sha256(raw).hexdigest())
        place = await self._idle.get()
        try:
            mail, place = await self._read(place, Job(raw, envelope, self._told, self._seconds))
        except BaseException:
            self._idle.put_nowait(None)
            raise
        self._idle.put_nowait(place)
        if mail.kind == "rejected" and not mail.digest:
            return msgspec.structs.replace(mail, digest=hashlib.sha256(raw).hexdigest())
        return recognise(mail, self._options)

    async def _read(self, place: _Child | None, job: Job) -> tuple[ReadMail, _Child | None]:
        """Read with the child at a place, and give who is there afterwards."""
        child = place or await self._start()
        try:
            mail = await self._exchange(child, job)
        except TimeoutError:
            mail = rejected(f"reading it took longer than {self._seconds:g} seconds")
        except ChildBroken as exc:
            if child is place:  # it may have died while it waited, through no fault of this mail
                await self._end(child)
                return await self._read(None, job)
            mail = rejected(f"reading it ended its process ({exc})")
        finally:
            kept = await self._after(child)
        return mail, kept

    async def close(self) -> None:
        """End all children."""
        for child in list(self._all):
            await self._end(child)

    async def _exchange(self, child: _Child, job: Job) -> ReadMail:
        async with asyncio.timeout(self._seconds):
            await child.send(job)
            while True:
                match await child.receive():
                    case Done(mail):
                        child.is_free, child.mails = True, child.mails + 1
                        return mail
                    case Wanted(name):
                        await child.send(Record(await self._lookup(name)))
                    case Ready():
                        raise ChildBroken("it spoke out of turn")
                    case other:
                        assert_never(other)

    async def _start(self) -> _Child:
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, *self._command, stdin=PIPE, stdout=PIPE
            )
        except OSError as exc:
            raise ReaderUnavailable(f"no process can be started: {exc.strerror}") from exc
        child = _Child(process)
        self._all.add(child)
        try:
            async with asyncio.timeout(_START):
                await child.started()
        except (ChildBroken, TimeoutError) as exc:
            await self._end(child)
            raise ReaderUnavailable(f"the process that reads mail does not start ({exc})") from exc
        return child

    async def _after(self, child: _Child) -> _Child | None:
        """Keep a child that is free; one that is not hangs or is gone, and can only be ended."""
        if child.is_free and child.mails < _MAILS:
            return child
        await self._end(child)
        return None

    async def _end(self, child: _Child) -> None:
        self._all.discard(child)
        await child.end()


class _Child:
    """One process, and whether it waits for work."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.is_free = False
        self.mails = 0

    async def send(self, message: Job | Record) -> None:
        """Send a message."""
        self.is_free = False
        pipe = self._process.stdin
        if pipe is None:
            raise ChildBroken("it has no input")
        try:
            pipe.write(frame(message))
            await pipe.drain()
        except (BrokenPipeError, ConnectionResetError) as exc:
            raise ChildBroken("it is gone") from exc

    async def started(self) -> None:
        """Wait until it has loaded what it needs."""
        if not isinstance(await self.receive(), Ready):
            raise ChildBroken("it spoke out of turn")
        self.is_free = True

    async def receive(self) -> FromChild:
        """Wait for a message."""
        pipe = self._process.stdout
        if pipe is None:
            raise ChildBroken("it has no output")
        try:
            length = int.from_bytes(await pipe.readexactly(LENGTH), "big")
            if length > LONGEST:
                raise ChildBroken("it said too much")
            return from_child(await pipe.readexactly(length))
        except asyncio.IncompleteReadError as exc:
            raise ChildBroken("it died") from exc
        except (msgspec.DecodeError, msgspec.ValidationError) as exc:
            raise ChildBroken("it said what can't be read") from exc

    async def end(self) -> None:
        """Kill it: it holds nothing that could be lost."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
