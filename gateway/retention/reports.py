"""What was done, or would be, when somebody is erased. Values only."""

from __future__ import annotations

import msgspec


class Erased(msgspec.Struct, frozen=True):
    """A thread in which they were."""

    thread: str
    entries: int
    """Events and messages whose words changed."""


class Busy(msgspec.Struct, frozen=True):
    """A thread in which they can't be erased now."""

    thread: str
    why: str
    questions: tuple[str, ...] = ()
    """Those that wait for them alone, or must tell them from others: four eyes, a quorum."""


class Left(msgspec.Struct, frozen=True):
    """A thread in whose free text they still occur, or are quoted: somebody must look."""

    thread: str
    count: int


class Report(msgspec.Struct, kw_only=True):
    """All of it."""

    name: str
    """What stands in their place."""
    dry_run: bool = False
    done: bool = False
    threads: list[Erased] = msgspec.field(default_factory=list)
    busy: list[Busy] = msgspec.field(default_factory=list)
    unreadable: list[str] = msgspec.field(default_factory=list)
    """Threads whose logs are damaged: nobody can tell what is in them."""
    mails: int = 0
    places: int = 0
    copies: int = 0
    left: list[Left] = msgspec.field(default_factory=list)
    mails_left: int = 0
    """Kept mails of others that name their address."""
    keys: list[str] = msgspec.field(default_factory=list)
    """API keys named after them, that still work."""
    scoured: bool = False
    """The database's files hold nothing of it any more, as far as we can tell."""
