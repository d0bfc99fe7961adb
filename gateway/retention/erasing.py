"""Erasing somebody: look where they are, refuse while others wait for them, then thread by thread.

Each thread is one transaction, on the condition that nobody works on it. Whatever cuts this off,
the same command again finishes it: the pseudonym is the same, and what was done is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from agent_core.errors import Refused
from agent_core.loop.journal import Overtaken
from agent_core.loop.world import World
from agent_core.thread import commands
from agent_core.thread.events import Event, ThreadId
from agent_core.thread.questions import QuestionId
from channels.email.forgetting import forget_person
from channels.intake import Memory
from gateway.audit.export import every_log
from gateway.retention.mentions import Mentions, may_name
from gateway.retention.persona import Persona, new_tag
from gateway.retention.plans import Plan, events_of, plan, question_ids
from gateway.retention.reports import Busy, Erased, Left, Report
from gateway.retention.rewriting import also_known, rooms_of, said_by
from gateway.work.threads import commit_outside, read_thread
from storage.errors import Unreadable
from storage.sealed import SealedLog
from storage.seals import Seal
from storage.store import Store

_OWNER = "erasure"
_PAUSE_SECONDS = 0.1
_MOST_WAVES = 3
"""An agent that asks for them anew whenever that is withdrawn costs a model's turn each time."""
_ASKS_AGAIN = "its agent asks for them again each time: cancel it first"
_WITHDRAWN = "whoever was asked is not here any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done."""

    them: Persona
    by: str
    reason: str = ""
    also_waiting: bool = False


@dataclass(frozen=True, slots=True)
class Erasing:
    """Erases people."""

    store: Store
    seal: Seal
    mails: Memory
    """What the email channel remembers with."""
    world: World = field(default_factory=World)
    patience_seconds: float = 60.0
    """How long to wait for whoever works on a thread."""

    async def find(self, identities: frozenset[str]) -> Persona:
        """Give the person, with every account that the logs know them by, and their pseudonym."""
        them = Persona(tag="", identities=identities)
        while True:
            known = them
            async for _, events in self._concerned(them):
                known = known.known_as(also_known(events, known))
            if known == them:
                return replace(them, tag=await self._tag(them))
            them = known

    async def look(self, order: Order) -> Report:
        """Tell what would be done, and what stands in the way."""
        report = Report(name=order.them.name, dry_run=True)
        async for log, _ in self._concerned(order.them, report):
            planned = await self._plan(log, order)
            if planned.rewrite is not None:
                report.threads.append(Erased(log.thread, planned.entries))
            if planned.busy:
                report.busy.append(Busy(log.thread, planned.busy, planned.to_withdraw))
        forgotten = await forget_person(self.mails, order.them.emails, dry_run=True)
        report.mails, report.mails_left = forgotten
        await self._name_keys(order.them, report)
        return report

    async def carry_out(self, order: Order) -> Report:
        """Erase them, and tell what was done and what is left."""
        them, report = order.them, Report(name=order.them.name)
        await self._remember(them)
        mentions = Mentions(them)
        async for log, events in self._concerned(them, report):
            mentions.remember(log.thread, said_by(events, them))
            if rooms := rooms_of(events, them):  # before: afterwards nothing leads to them
                report.places += await self.store.retention().forget_places(rooms)
            await self._erase_in(log.thread, order, report)
        await self._forget(them, report)
        async for log in every_log(self.store):
            if count := mentions.count(log):
                report.left.append(Left(log.thread, count))
        report.scoured = await self.store.retention().scour()
        report.done = not report.busy
        return report

    async def _erase_in(self, thread: ThreadId, order: Order, report: Report) -> None:
        """Erase them in a thread as soon as nobody works on it."""
        deadline = asyncio.get_running_loop().time() + self.patience_seconds
        waves: list[frozenset[QuestionId]] = []
        while (log := await self.store.audit().log(thread)) is not None:
            planned = await self._plan(log, order)
            if planned.rewrite is None:
                return
            if order.also_waiting and planned.to_withdraw:
                if not waves or not waves[-1].issuperset(planned.to_withdraw):
                    waves.append(frozenset(planned.to_withdraw))
                if len(waves) > _MOST_WAVES:
                    report.busy.append(Busy(thread, _ASKS_AGAIN, planned.to_withdraw))
                    return
                await self._withdraw(thread, planned.to_withdraw, order)
            elif await self.store.retention().rewrite(planned.rewrite):
                report.threads.append(Erased(thread, planned.entries))
                return
            if asyncio.get_running_loop().time() > deadline:
                report.busy.append(Busy(thread, "somebody works on it all the time"))
                return
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _withdraw(
        self, thread: ThreadId, questions: tuple[QuestionId, ...], order: Order
    ) -> None:
        """Take back what only they could answer: the agent hears of it, and may ask others."""
        known = await read_thread(self.store, thread)
        if known is None:
            return
        now = self.world.now()
        with suppress(Overtaken, Refused):  # somebody was faster: it is looked at again
            events = commands.withdraw(
                known.state, questions[0], at=now, by=order.by, reason=_WITHDRAWN
            )
            await commit_outside(self.store, known.state, events, now=now, known=known)

    async def _plan(self, log: SealedLog, order: Order) -> Plan:
        row = await self.store.thread(log.thread)
        if row is None:
            return Plan(rewrite=None)
        asked = [
            found
            for one in question_ids(events_of(log))
            if (found := await self.store.question(one)) is not None
        ]
        return plan(
            log,
            row,
            {one.id: one for one in asked if one.thread == log.thread},
            order.them,
            seal=self.seal,
            now=self.world.now(),
            by=order.by,
            reason=order.reason,
        )

    async def _concerned(
        self, them: Persona, report: Report | None = None
    ) -> AsyncIterator[tuple[SealedLog, list[Event]]]:
        """Give the threads that may have something of theirs."""
        async for log in every_log(self.store):
            if not may_name(log, them):
                continue
            try:
                events = events_of(log)
            except (Unreadable, UnicodeDecodeError):
                if report is not None:
                    report.unreadable.append(log.thread)
                continue
            yield log, events

    async def _forget(self, them: Persona, report: Report) -> None:
        """Forget what is kept beside the threads."""
        retention = self.store.retention()
        addresses = [one for one in them.identities if ":" in one]
        await retention.forget_parties(sorted(them.identities))
        report.places += await retention.forget_places(addresses)
        sources = [f"api:{one}" for one in them.identities]
        words = [one for one in them.identities if ":" in one or "@" in one]
        report.copies = await retention.forget_senders(sources, words)
        report.mails, report.mails_left = await forget_person(self.mails, them.emails)
        await self._name_keys(them, report)

    async def _name_keys(self, them: Persona, report: Report) -> None:
        keys = await self.store.keys()
        report.keys = [
            one.name for one in keys if one.revoked_at is None and them.is_them(one.name)
        ]

    # The pseudonym

    async def _tag(self, them: Persona) -> str:
        """Give the pseudonym that they had before, by whichever identity, or a new one."""
        now = self.world.now()
        for one in sorted(them.identities):
            if (tag := await self.store.recall(_OWNER, self._hashed(one), now=now)) is not None:
                return tag.decode()
        return new_tag(self.seal, them.identities)

    async def _remember(self, them: Persona) -> None:
        """Keep the pseudonym by keyed hashes of what they are known as."""
        for one in them.identities:
            name = self._hashed(one)
            await self.store.keep(_OWNER, name, them.tag.encode(), now=self.world.now())

    def _hashed(self, identity: str) -> str:
        return "who:" + self.seal(f"erased identity\0{identity}".encode()).hex()
