"""A gateway where several people must agree: its people, its tools, and its way in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Container, Sequence
from contextlib import asynccontextmanager

from agent_core import (
    Agent,
    Policy,
    ScriptedModel,
    Tool,
    Waiting,
    call,
    calls,
    contact_human,
    says,
    tool,
)
from agent_core.loop.world import World
from agent_core.models.scripted import Script
from channels.people import Actor
from gateway.people.directory import Directory
from gateway.people.routing import Routing
from gateway.settings.config import Person
from storage.memory import MemoryStore
from storage.store import Store
from tests.unit.gateway.front_door import FrontDoor
from tests.unit.gateway.workshop import workshop

COUNCIL = (
    Person(name="ann", slack=("T1:UANN",), email=("ann@x.org",), roles=("lead",)),
    Person(name="otto", slack=("T1:UOTTO",), email=("otto@x.org",), roles=("lead",)),
    Person(name="lea", slack=("T1:ULEA",), email=("lea@x.org",), roles=("lead",)),
    Person(name="kim", slack=("T1:UKIM",), email=("kim@x.org",), roles=("lead",)),
)
ANN = Actor(id="slack:T1:UANN", name="ann")
OTTO = Actor(id="slack:T1:UOTTO", name="otto")
OTTO_BY_MAIL = Actor(id="email:otto@x.org", email="otto@x.org", name="otto")
ANN_BY_MAIL = Actor(id="email:ann@x.org", email="ann@x.org", name="ann")
LEA = Actor(id="slack:T1:ULEA", name="lea")
KIM = Actor(id="slack:T1:UKIM", name="kim")
EVE = Actor(id="slack:T1:UEVE", name="eve")

YES = {"approved": True}
NO = {"approved": False}
LESS = {"approved": True, "arguments": {"amount": 20}}


def paying(
    policy: Policy,
    *,
    waiting: Waiting | None = None,
    script: Script | None = None,
    tools: Sequence[Tool] = (),
) -> Agent:
    """Make an agent that pays when its leads agree."""

    @tool(
        approval=True,
        approvers=["lead"],
        quorum=policy.quorum,
        not_requester=policy.not_requester,
        veto=policy.veto,
        waiting=waiting,
    )
    def pay(amount: int) -> str:
        """Pay it."""
        return f"paid {amount}"

    turns = script or [calls(call("pay", amount=49)), says("done")]
    return Agent("agent", tools=[pay, contact_human, *tools], model=ScriptedModel(turns))


@asynccontextmanager
async def council(
    policy: Policy,
    *,
    store: Store | None = None,
    world: World | None = None,
    channels: Container[str] = (),
    script: Script | None = None,
    tools: Sequence[Tool] = (),
    people: tuple[Person, ...] = COUNCIL,
) -> AsyncIterator[FrontDoor]:
    """Open the gateway, with an engine at work."""
    agent = paying(policy, script=script, tools=tools)
    routing = Routing(Directory(people), channels)
    async with workshop(store or MemoryStore(), agent, world=world, routing=routing) as here:
        here.engine()
        yield FrontDoor(here, people, {"slack": "agent"})
