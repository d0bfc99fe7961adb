"""What the commands that let go share: what they are asked, and how they open the store."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import typer

from agent_core.loop.world import World
from gateway.audit.beginning import begun
from gateway.audit.key import audit_seal
from gateway.cli.doing import screen
from gateway.cli.doing.local import with_store
from gateway.control.keys import kept_secret
from gateway.control.memory import SealedMemory
from gateway.retention.purging import ENDED
from gateway.settings.ages import parse_age
from gateway.settings.environment import Settings, load
from storage.seals import Seal
from storage.store import Store
from storage.values import CachedStatus

_T = TypeVar("_T")


def age_of(text: str) -> int:
    """Read --older-than."""
    try:
        return parse_age(text)
    except ValueError as exc:
        raise typer.BadParameter(f"--older-than: {exc}") from exc


def statuses_of(text: str) -> tuple[CachedStatus, ...]:
    """Read --status."""
    wanted = [one.strip() for one in text.split(",") if one.strip()]
    chosen = tuple(one for one in ENDED if one in wanted)
    if len(chosen) != len(set(wanted)):
        raise typer.BadParameter(f"--status is one or more of {', '.join(ENDED)}, not {text!r}")
    return chosen or ENDED


def opened(work: Callable[[Store, Seal, SealedMemory], Awaitable[_T]]) -> _T:
    """Do something with the store, if its chains are of our key: else they would be broken."""
    secret = kept_secret(load(Settings))
    seal = audit_seal(secret)

    async def checked(store: Store) -> _T:
        await begun(store, seal, now=World().now())
        return await work(store, seal, SealedMemory(store, "email", secret))

    return with_store(checked, seal=seal)


def confirm(what: str, *, yes: bool) -> None:
    """Let somebody say yes, if nobody has yet."""
    if yes:
        return
    screen.say(f"this will {what}")
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody can be asked here: say --yes, or --dry-run to look only")
    typer.confirm("Go on?", abort=True, err=True)


def whoever() -> str:
    """Name who sits at the keyboard."""
    try:
        return f"cli {getpass.getuser()}"
    except (KeyError, OSError):  # no name for this user id
        return "cli"
