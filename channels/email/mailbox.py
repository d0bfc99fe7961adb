"""Watching a mailbox over IMAP: nothing is skipped, whatever happens to us or to the server.

A mail is marked seen when it is durable. Where we stand (UIDVALIDITY and the last number) is kept,
so that days offline are caught up. A connection that died often shows only as silence: every call
has a deadline, and we look again each minute though nobody told us to. One process of many
watches; should two do it for a moment, each mail still has one effect.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
import secrets
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar, cast

from agent_core.errors import ParleyError
from channels.email.imap import ImapLine, LoginRefused, MailboxTrouble, parse_imap_url
from channels.email.mail import Envelope
from channels.email.options import EmailOptions
from channels.email.positions import Position, Positions
from channels.intake import Memory

_log = logging.getLogger("parley.email")
_T = TypeVar("_T")

MOST_BYTES: Final = 10_000_000
_DAY: Final = 24 * 3_600.0
_IN_A_ROW: Final = 3
"""So many that can't be taken, one after the other: it is not the mails, so we wait."""
_TRIES: Final = 5
_SAVED_EACH: Final = 20
_STRANDED_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long things may take."""

    call_seconds: float = 30.0
    """For the server to answer; and twice that for a whole call."""
    look_seconds: float = 55.0
    """Until we look again though nobody told us to."""
    retry_seconds: float = 10.0
    """Until we look again, where something could not be taken or the server can't tell of news."""
    first_delay: float = 1.0
    longest_delay: float = 120.0
    lease_seconds: float = 30.0


class Ingests(Protocol):
    """Takes mail, as `Ingest` does."""

    async def ingest(self, raw: bytes, envelope: Envelope | None = None) -> object:
        """Take a mail, or raise what says that it could not be taken now."""
        ...

    async def put_aside(self, raw: bytes, reason: str, digest: str) -> object:
        """Put a mail aside that could not even be looked at."""
        ...


class Tokens(Protocol):
    """Gives access tokens, as `oauth.AccessTokens` does."""

    async def token(self) -> str:
        """Give a token that is good for a while."""
        ...

    def forget(self) -> None:
        """Fetch another next time."""
        ...


class Mailbox:
    """Watches one mailbox."""

    def __init__(
        self,
        options: EmailOptions,
        ingest: Ingests,
        memory: Memory,
        tokens: Tokens | None = None,
        *,
        pace: Pace | None = None,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take who gives access tokens, where logging in is by XOAUTH2; and whom to trust."""
        self._server = parse_imap_url(options.imap_url)
        self._ingest = ingest
        self._tokens = tokens
        self._pace = pace or Pace()
        self._tls = tls
        self._clock = clock
        self._positions = Positions(memory, self._server)
        self._position = Position(validity=0, uid=0, at=0.0)
        self._holder = secrets.token_hex(8)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mailbox")
        self._task: asyncio.Task[None] | None = None
        self._trouble = "the mailbox was not opened yet"
        self._failures = 0

    # Coming and going

    async def start(self) -> None:
        """Begin to watch; the first connection is made in the background."""
        self._task = asyncio.create_task(self._watch_for_ever(), name="mailbox")

    async def stop(self) -> None:
        """Stop watching, and let another process do it."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait([self._task])
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._task = None

    def health(self) -> str:
        """Give nothing when all is well, else what is wrong."""
        if self._task is None or self._task.done():
            return "the mailbox is not watched"
        return self._trouble

    # Watching

    async def _watch_for_ever(self) -> None:
        while True:
            try:
                await self._watch()
            except ParleyError as exc:  # the mailbox, the token server, or our own store
                if isinstance(exc, LoginRefused) and self._tokens is not None:
                    self._tokens.forget()
                self._troubled(exc)
            except Exception as exc:  # noqa: BLE001 - nobody else would watch again
                _log.exception("mailbox not watched")
                self._troubled(MailboxTrouble(f"a defect of ours ({type(exc).__name__})"))
            await asyncio.sleep(self._delay())

    def _troubled(self, exc: ParleyError) -> None:
        self._trouble = str(exc)
        self._failures += 1
        _log.warning("mailbox not watched", extra={"error": str(exc), "failures": self._failures})

    def _delay(self) -> float:
        """Wait longer after each failure, and not all of us at the same moment."""
        pace = self._pace
        longest = min(pace.longest_delay, pace.first_delay * 2 ** min(self._failures, 16))
        return float(longest * random.uniform(0.5, 1.0))  # noqa: S311 (not for secrets)

    async def _watch(self) -> None:
        """Watch as long as the connection and the right to it last."""
        if not await self._positions.hold(self._holder, self._pace.lease_seconds):
            self._trouble, self._failures = "", 0  # another process does it
            return await asyncio.sleep(self._pace.lease_seconds / 3)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._hold())
                tasks.create_task(self._session())
        except* ParleyError as group:
            raise _first(group) from group
        finally:
            await asyncio.shield(self._positions.let_go(self._holder))
        return None

    async def _hold(self) -> None:
        while True:
            await asyncio.sleep(self._pace.lease_seconds / 3)
            if not await self._positions.hold(self._holder, self._pace.lease_seconds):
                raise MailboxTrouble("another process watches the mailbox")

    async def _session(self) -> None:
        line = ImapLine(self._server, seconds=self._pace.call_seconds, tls=self._tls)
        try:
            token = await self._tokens.token() if self._tokens else ""
            await self._call(line, line.open, token)
            uids = await self._begin(line)
            while True:
                is_all = await self._catch_up(line, uids)
                self._trouble, self._failures = "", 0
                await self._wait(line, self._pace.look_seconds if is_all else 0.0)
                uids = await self._call(line, line.uids_after, self._position.uid)
        finally:
            line.close()

    async def _wait(self, line: ImapLine, seconds: float) -> None:
        if not seconds or not await self._call(line, line.wait, seconds, more=seconds):
            await asyncio.sleep(self._pace.retry_seconds)

    # Where we stand

    async def _begin(self, line: ImapLine) -> list[int]:
        """Find out where we stand, and give what must be looked at."""
        kept = self._position if self._position.validity else await self._positions.load()
        if kept is not None and kept.validity == line.validity:
            self._position = kept
            return await self._call(line, line.uids_after, kept.uid)
        # The numbers mean nothing any more, or never did. Mails of before are known by their keys;
        # and of a mailbox that we never saw, nobody expects us to answer last year's.
        since = self._clock() - _DAY if kept is None else kept.at - 2 * _DAY
        uids = await self._call(line, lambda: line.uids_since(since, unseen=kept is None))
        # Those are still to be tried, as if they had failed: a crash must not lose the rest.
        self._position = Position(
            validity=line.validity,
            uid=line.next_uid - 1,
            at=self._clock(),
            failing=dict.fromkeys(uids, 0),
        )
        await self._positions.save(self._position)
        return []

    # Mails

    async def _catch_up(self, line: ImapLine, uids: list[int]) -> bool:
        """Take mails, new ones first; tell whether there is nothing left to try again."""
        failed: dict[int, bool] = {}
        taken = in_a_row = 0
        for uid in dict.fromkeys((*uids, *self._position.again())):
            try:
                await self._take(line, uid)
            except MailboxTrouble:
                # Should it be this mail that ends the connection, the others come first next time.
                self._position = self._position.without(uid, counts=True)
                raise
            except Exception as exc:  # noqa: BLE001 - one mail must never hold up the others
                _log.warning("mail not taken", extra={"error": type(exc).__name__})
                failed[uid] = isinstance(exc, ParleyError)
                in_a_row += 1
            else:
                taken, in_a_row = taken + 1, 0
                self._position = self._position.past(uid, self._clock())
                if taken % _SAVED_EACH == 0:
                    await self._positions.save(self._position)
            if in_a_row == _IN_A_ROW:
                break
        self._count(failed, others=taken > 0)
        await self._positions.save(self._position)
        return not self._position.failing

    def _count(self, failed: dict[int, bool], *, others: bool) -> None:
        """Hold a failure against a mail if it is its own: a bug, or while others were taken."""
        for uid, is_ours in failed.items():
            self._position = self._position.without(uid, counts=others or not is_ours)

    async def _take(self, line: ImapLine, uid: int) -> None:
        if self._position.failing.get(uid, 0) >= _TRIES:
            return await self._put_aside(uid, f"failed {_TRIES} times")
        size = await self._call(line, line.size, uid)
        if size is None:
            return None  # somebody has deleted it
        if size > MOST_BYTES:
            return await self._put_aside(uid, "larger than 10 MB")
        raw = await self._call(line, line.raw, uid)
        if raw is not None:
            await self._ingest.ingest(raw, None)
            await self._call(line, line.mark_seen, uid)
        return None

    async def _put_aside(self, uid: int, reason: str) -> None:
        """Leave a mail in the mailbox, and note that it is there."""
        name = f"{self._server.folder} {self._position.validity} {uid}"
        digest = hashlib.sha256(name.encode()).hexdigest()
        told = f"{reason}: left in the mailbox, as number {uid} of {self._server.folder}"
        await self._ingest.put_aside(b"", told, digest)

    # Calls

    async def _call(
        self,
        line: ImapLine,
        work: Callable[..., _T],
        *given: object,
        more: float = 0.0,
    ) -> _T:
        """Do something that blocks, in the thread; what takes too long is cut off."""
        running = asyncio.get_running_loop().run_in_executor(self._thread, work, *given)
        try:
            async with asyncio.timeout(2 * self._pace.call_seconds + more):
                return await asyncio.shield(running)
        except TimeoutError:
            raise MailboxTrouble("the mail server takes too long to answer") from None
        finally:
            if not running.done():
                line.cut()
                await asyncio.wait([running], timeout=_STRANDED_SECONDS)
                running.cancel()


def _first(group: BaseExceptionGroup[ParleyError]) -> ParleyError:
    """Give the first of several errors that came at once."""
    one: BaseException = group
    while isinstance(one, BaseExceptionGroup):
        one = one.exceptions[0]
    return cast("ParleyError", one)  # it was caught as such
