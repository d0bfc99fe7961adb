"""Operators: hold, resume, cancel, fork, retry, move, halt; and in the end they tidy up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, TypeAlias

from agent_core.thread.events import ThreadId
from agent_core.thread.questions import QuestionId
from tests.simulation.gateway.courier import Courier
from tests.simulation.gateway.database import Database
from tests.simulation.gateway.machine import Machine
from tests.simulation.gateway.network import Network
from tests.simulation.gateway.trace import Trace

Act: TypeAlias = Callable[[Machine], Awaitable[Any]]
_BY = "ops"


class Operators:
    """Those who look after it."""

    def __init__(
        self, chance: Random, courier: Courier, database: Database, network: Network, trace: Trace
    ) -> None:
        self._chance = chance
        self._courier = courier
        self._database = database
        self._network = network
        self._trace = trace

    async def work(self) -> None:
        """Do something now and then, until the weather is calm."""
        while mean := self._network.weather.operators:
            await asyncio.sleep(self._chance.expovariate(1 / mean))
            await self._do_something()

    async def _do_something(self) -> None:
        threads = list(self._database.tables.threads)
        if not threads:
            return
        name, act = self._drawn(self._chance.choice(threads))
        self._trace.fault("operator", f"operator: {name}")
        await self._courier.ask("", act, by=_BY, most=2)
        if name == "halt":
            await asyncio.sleep(self._chance.expovariate(1 / 10))
            await self._courier.ask("", lambda one: one.gateway.lift(by=_BY), by=_BY)

    def _drawn(self, thread: ThreadId) -> tuple[str, Act]:
        acts: dict[str, Act] = {
            "pause": lambda one: one.gateway.pause(thread, by=_BY),
            "resume": lambda one: one.gateway.resume(thread, by=_BY, instruction="go on"),
            "cancel": lambda one: one.gateway.cancel(thread, by=_BY, reason="enough"),
            "retry": lambda one: one.gateway.retry(thread, by=_BY),
            "fork": lambda one: one.gateway.fork(thread, by=_BY),
            "move": lambda one: one.gateway.move(thread, "email", by=_BY),
            "halt": lambda one: one.gateway.halt("stop it", by=_BY),
        }
        questions = [
            one.id for one in self._database.tables.questions.values() if one.thread == thread
        ]
        if questions:
            key = self._chance.choice(questions)
            acts["take back"] = lambda one: one.gateway.take_back(key, by=_BY)
            acts["withdraw"] = lambda one: one.gateway.withdraw(key, by=_BY)
        name = self._chance.choice([*acts])
        return name, acts[name]

    # The end

    async def tidy_up(self) -> None:
        """Lift the halt, and let go on what was held."""
        if self._database.tables.halt:
            await self._courier.ask("", lambda one: one.gateway.lift(by=_BY), by=_BY)
        for row in list(self._database.tables.threads.values()):
            if row.status == "paused":
                await self._resume(row.id)

    async def _resume(self, thread: ThreadId) -> None:
        await self._courier.ask("", lambda one: one.gateway.resume(thread, by=_BY), by=_BY)

    async def answer_all(self) -> None:
        """Answer what nobody has answered."""
        for row in list(self._database.tables.questions.values()):
            if row.status == "open" and row.body["kind"] != "event":
                await self._answer(row.id, _answer(row.body))

    async def _answer(self, question: QuestionId, value: object) -> None:
        await self._courier.ask(
            "", lambda one: one.gateway.answer(question, value, by="desk"), by="desk"
        )


def _answer(body: dict[str, Any]) -> object:
    match body["kind"]:
        case "approval":
            return {"approved": False}
        case "choice":
            names = [one["name"] for one in body["options"]]
            return "skip" if "skip" in names else names[-1]
    return "nothing"
