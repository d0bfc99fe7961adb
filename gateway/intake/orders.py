"""Orders given in a channel: status, pause, resume, move, cancel, stop. Answered to who asks.

An order without a thread's id is about the one thread of theirs that is under way in that place;
if there are several, they are listed. Only who began a thread, and admins, may steer it.
"""

from __future__ import annotations

from typing import assert_never

from agent_core.errors import Refused, WrongStatus
from agent_core.loop.world import World
from agent_core.thread.events import ThreadId
from channels.inbound import Command, Stop
from channels.intake import Received
from channels.people import Actor
from gateway.control.local import LocalGateway
from gateway.people.directory import Directory
from gateway.people.moving import vouched_address
from storage.store import Store
from storage.values import ThreadRow, Wish

_OVER = frozenset({"finished", "failed", "cancelled"})
_SHOWN = 10
_LOOKED_AT = 200

HELP = """\
`/parley status` – what I am doing for you
`/parley pause [thread]` – hold it
`/parley resume [thread] [instruction]` – let it go on
`/parley move [thread] email` – go on by mail
`/parley cancel [thread]` – stop it for good, and undo what can be undone
To begin something, mention me or write me a direct message."""  # noqa: RUF001 (a dash, as in print)


class Orders:
    """Carries out what people ask of threads, if they may."""

    def __init__(
        self, gateway: LocalGateway, store: Store, people: Directory, world: World
    ) -> None:
        self._gateway = gateway
        self._store = store
        self._people = people
        self._world = world

    async def carry_out(self, order: Command) -> Received:
        """Do it, and give the words to answer with."""
        match order.name:
            case "help":
                return Received(effect="taken", words=HELP)
            case "status":
                return Received(effect="taken", words=await self._status(order.actor))
            case "pause" | "resume" | "cancel" | "move":
                return await self._steer(order)
            case never:
                assert_never(never)

    async def _steer(self, order: Command) -> Received:
        thread, rest = _split(order.argument)
        row = await self._target(order, thread)
        by = order.actor.id
        if order.name == "pause":
            await self._gateway.pause(row.id, by=by)
            words = f"Paused {row.id}. `/parley resume {row.id}` lets it go on."
        elif order.name == "resume":
            await self._gateway.resume(row.id, by=by, instruction=rest)
            words = f"{row.id} goes on."
        elif order.name == "move":
            vouched = vouched_address(order.actor, row.requester)
            await self._gateway.move(row.id, rest.lower(), by=by, vouched=vouched)
            words = f"{row.id} goes on by {rest.lower()}."
        else:
            await self._gateway.cancel(row.id, by=by, reason=rest)
            words = f"Cancelled {row.id}. What can be undone is being undone."
        return Received(effect="taken", thread=row.id, words=words)

    async def stop(self, stop: Stop) -> Received:
        """Cancel what runs in this place."""
        thread = await self._store.thread_at(stop.place)
        row = None if thread is None else await self._store.thread(thread)
        if row is None or row.status in _OVER:
            return Received(effect="ignored")
        self._require(stop.actor, row)
        try:
            await self._gateway.cancel(row.id, by=stop.actor.id, reason="stopped in the channel")
        except WrongStatus:  # it came to its end meanwhile
            return Received(effect="ignored", thread=row.id)
        return Received(effect="taken", thread=row.id)

    async def _status(self, actor: Actor) -> str:
        rows = [row for row in await self._theirs(actor) if row.status not in _OVER]
        if not rows:
            return "Nothing of yours is under way."
        more = len(rows) - _SHOWN
        lines = [f"• {row.id} ({row.agent}): {_standing(row)}" for row in rows[:_SHOWN]]
        return "\n".join([*lines, *([f"… and {more} more"] if more > 0 else [])])

    async def _target(self, order: Command, thread: str) -> ThreadRow:
        if thread:
            row = await self._store.thread(ThreadId(thread))
            if row is None:
                raise Refused(f"There is no thread {thread}. `/parley status` lists yours.")
            self._require(order.actor, row)
            return row
        rows = [row for row in await self._theirs(order.actor) if row.status not in _OVER]
        here = [row for row in rows if f"{row.origin}:".startswith(f"{order.place}:")]
        if len(here) == 1:
            return here[0]
        if not rows:
            raise Refused("Nothing of yours is under way.")
        names = ", ".join(row.id for row in (here or rows)[:_SHOWN])
        raise Refused(f"Which one? `/parley {order.name} THREAD`, with one of: {names}")

    async def _theirs(self, actor: Actor) -> list[ThreadRow]:
        page = await self._store.threads(
            Wish(requester=actor.id, now=self._world.now(), limit=_LOOKED_AT)
        )
        return page.items

    def _require(self, actor: Actor, row: ThreadRow) -> None:
        if not self._people.may_control(actor, row.requester):
            who = self._people.name(row.requester)
            raise Refused(f"{row.id} was begun by {who}: only they and admins can steer it.")


def _split(argument: str) -> tuple[str, str]:
    """Take a thread's id from the front, if there is one."""
    first, _, rest = argument.strip().partition(" ")
    return (first, rest.strip()) if first.startswith("th_") else ("", argument.strip())


def _standing(row: ThreadRow) -> str:
    open_ = row.summary.get("questions", [])
    if row.status == "waiting" and open_:
        return f"waits for an answer: {open_[0]['prompt']}"
    return row.status
