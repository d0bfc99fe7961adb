"""The agent that all machines run: its tools leave traces outside, its model is not to be trusted.

What to do stands in the words that it is given: `m7: pay; book; ask` pays, books and asks, each
with the word's own name (`m7`), by which the effects are found again. One agent serves every
machine: which of them runs it is known by who has the turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

from agent_core import Agent, Escalation, ModelReply, ModelRequest, ToolContext, Waiting, tool
from agent_core.errors import ModelRejected, ModelUnavailable
from agent_core.models import OnText, RequestedCall
from agent_core.models.scripted import call, calls, says
from agent_core.thread.questions import OnExpiry
from agent_core.tools.tool import Tool
from tests.simulation.gateway.loop import current
from tests.simulation.gateway.mutations import Mutation
from tests.simulation.gateway.network import Network
from tests.simulation.gateway.outside import Outside, Ran

NAME = "agent"
ORDERS = ("pay", "pay", "book", "ask", "await_event", "shaky", "plain")
_ENDS: tuple[OnExpiry, ...] = ("deny", "escalate", "tell_agent", "wait")


class SimModel:
    """Does as the words say; by chance it is late, down, or talks nonsense."""

    def __init__(self, chance: Random, network: Network) -> None:
        self._chance = chance
        self._network = network

    async def reply(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:  # noqa: ARG002 (nobody watches)
        """Take a turn."""
        chance = self._chance
        await asyncio.sleep(chance.uniform(0.01, 1.5))
        if chance.random() < self._network.weather.model:
            return await self._trouble()
        return _reply(request)

    async def _trouble(self) -> ModelReply:
        match self._chance.randrange(6):
            case 0 | 1:
                raise ModelUnavailable("overloaded")
            case 2:
                await asyncio.sleep(self._chance.uniform(5, 40))
                raise ModelUnavailable("no answer")
            case 3:
                raise ModelRejected("not in this way")
            case 4:
                return calls(RequestedCall("teleport", "{}"), RequestedCall("pay", "{not json"))
            case _:
                twice = call("book", token="twice")
                return calls(twice, twice, text="\0 I am certain.")


def _reply(request: ModelRequest) -> ModelReply:
    last = request.messages[-1]
    text = str(last["content"]) if last["role"] == "user" else ""
    token, found, orders = text.partition(":")
    wanted = [one.strip() for one in orders.split(";") if one.strip() in ORDERS]
    if not found or not wanted:
        return says("Done.")
    return calls(*(call(one, token=f"{token.strip()}.{n}") for n, one in enumerate(wanted)))


class Works:
    """The tools: what they do is seen outside."""

    def __init__(
        self,
        chance: Random,
        network: Network,
        outside: Outside,
        now: Callable[[], float],
        mutation: Mutation,
    ) -> None:
        self._chance = chance
        self._network = network
        self._outside = outside
        self._now = now
        self._mutation = mutation

    def tools(self) -> list[Tool]:
        """Make the tools, with the rules of this seed."""
        chance = self._chance
        quorum = chance.choice((1, 1, 2))
        rules: dict[str, Any] = {
            "approval": True,
            "approvers": ("approvers",),
            "waiting": self._waiting(),
        }
        return [
            tool(
                name="pay",
                compensate=self._undo,
                quorum=quorum,
                not_requester=chance.random() < 0.3,
                idempotent=self._mutation.repeats_tools,
                timeout=20,
                **rules,
            )(self._pay),
            tool(name="book", idempotent=True, interruptible=True, retries=1, **rules)(self._book),
            tool(name="ask", waiting=self._waiting())(self._ask),
            tool(name="await_event", waiting=self._waiting())(self._await_event),
            tool(name="shaky", retries=2)(self._shaky),
            tool(name="plain", idempotent=True)(self._plain),
        ]

    def _waiting(self) -> Waiting:
        chance = self._chance
        return Waiting(
            remind_after=chance.choice((None, 20, 60)),
            remind_times=chance.choice((1, 2)),
            expires_after=chance.choice((None, 30, 90, 180)),
            on_expiry=chance.choice(_ENDS),
            escalate_to=(Escalation(("leads",), chance.choice((None, 40))),),
        )

    async def _pay(self, ctx: ToolContext, token: str) -> str:
        """Pay something."""
        await self._take_time()
        self._note("pay", ctx, token)
        await self._take_time()
        return f"paid {token}"

    async def _undo(self, ctx: ToolContext, token: str) -> None:  # noqa: ARG002 (as `pay` has it)
        await self._take_time()
        self._outside.undone.append(ctx.idempotency_key)

    async def _book(self, ctx: ToolContext, token: str) -> str:
        """Book something."""
        await self._take_time()
        self._note("book", ctx, token)
        await self._take_time()
        return f"booked {token}"

    async def _ask(self, ctx: ToolContext, token: str) -> str:
        """Ask somebody something."""
        prompt, leads = f"What of {token}?", ("leads",)
        if len(token) % 2:
            return str(await ctx.ask(prompt, kind="choice", options=("red", "blue"), to=leads))
        return str(await ctx.ask(prompt, to=leads))

    async def _await_event(self, ctx: ToolContext, token: str) -> None:
        """Wait for something outside."""
        await ctx.pause_for("event", f"Waiting for {token}", key=token)

    async def _shaky(self, ctx: ToolContext, token: str) -> str:  # noqa: ARG002 (as all have it)
        """Do something that may go wrong."""
        await self._take_time()
        if self._chance.random() < 0.4:
            raise OSError("it broke")
        return token

    def _plain(self, token: str) -> str:
        """Do something in a thread."""
        return token

    async def _take_time(self) -> None:
        if self._chance.random() < self._network.weather.tools:
            if self._chance.random() < 0.3:
                raise RuntimeError("it went wrong")
            await asyncio.sleep(self._chance.uniform(1, 30))
        await asyncio.sleep(self._chance.uniform(0.001, 0.5))

    def _note(self, name: str, ctx: ToolContext, token: str) -> None:
        self._outside.ran.append(
            Ran(name, ctx.thread.id, ctx.call, ctx.idempotency_key, token, current(), self._now())
        )


def make_agent(works: Works, chance: Random, network: Network) -> Agent:
    """Make the agent of a seed."""
    return Agent(NAME, tools=works.tools(), model=SimModel(chance, network))
