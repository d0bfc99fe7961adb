"""The inbox on a real socket, in this process: a store, agents on a scripted model, people.

Everything that is served is the product; only the model is scripted, and nothing is sent anywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from aiohttp import web

from agent_core import (
    Agent,
    ModelReply,
    ModelRequest,
    ScriptedModel,
    ToolContext,
    call,
    calls,
    contact_human,
    says,
    tool,
)
from agent_core.loop.world import World
from channels.identity import IdentityProvider, Mailer
from gateway.control.local import LocalGateway
from gateway.control.memory import SealedMemory
from gateway.control.views import Launch, ThreadView
from gateway.http.app import DESK, make_app, run_app
from gateway.http.connections import DeadlineRunner
from gateway.http.options import HttpOptions
from gateway.inbox.app import mount
from gateway.inbox.cookies import SESSION
from gateway.inbox.secrets import digest
from gateway.inbox.sessions import OWNER, Sessions
from gateway.inbox.site import Site
from gateway.inbox.wiring import make_site
from gateway.people.directory import Directory
from gateway.people.routing import Routing
from gateway.settings.config import Person
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from gateway.work.engine import Engine
from storage.memory import MemoryStore
from storage.store import Store
from storage.values import ApiKey, KeyId, Scope

SECRET = b"s" * 32
PEOPLE = (
    Person(name="ann", email=("ann@example.com",)),
    Person(name="otto", email=("otto@example.com",), roles=("approver",)),
    Person(name="olga", email=("olga@example.com",), roles=("approver",)),
    Person(name="root", email=("root@example.com",), roles=("admin",)),
)
"""Ann asks for things; otto and olga approve them; root looks after the house."""


@tool(approval=True, approvers=["approver"])
async def refund(ctx: ToolContext, order: str, amount: float, reason: str = "") -> str:
    """Pay the customer back."""
    del ctx
    return f"Refunded {amount:.2f} for order {order}{f' ({reason})' if reason else ''}."


@tool(approval=True, approvers=["approver"], quorum=2)
async def wire(ctx: ToolContext, to: str, amount: int) -> str:
    """Wire money."""
    del ctx
    return f"Wired {amount} to {to}."


ADDRESS_FORM = {
    "type": "object",
    "title": "Where to?",
    "properties": {
        "street": {"type": "string", "title": "Street", "minLength": 3},
        "floor": {"type": "integer", "title": "Floor", "minimum": 0},
        "lift": {"type": "boolean", "title": "Is there a lift?"},
        "size": {"enum": ["small", "large"], "title": "Size of the parcel"},
    },
    "required": ["street", "size"],
}


def decide(request: ModelRequest) -> ModelReply:
    """Do what the first word of the newest message says."""
    newest = list(takewhile(lambda one: one["role"] != "user", reversed(request.messages)))
    if newest:
        return says("Done.", input_tokens=1200, output_tokens=80, cost=0.0042)
    said = next(str(m["content"]) for m in reversed(request.messages) if m["role"] == "user")
    match said.split()[0].strip(":.,").lower():
        case "refund":
            return calls(call("refund", order="1042", amount=59.9, reason="arrived broken"))
        case "wire":
            return calls(call("wire", to="ACME", amount=5000))
        case "ship":
            form = {"kind": "form", "question": "Where should it go?", "schema": ADDRESS_FORM}
            return calls(call("contact_human", to=["approver"], **form))
        case "choose":
            options = [
                {"name": "blue", "description": "Looks calm"},
                {"name": "green", "description": "Costs less"},
            ]
            ask = {
                "kind": "choice",
                "question": "Which colour?",
                "options": options,
                "urgency": "high",
            }
            return calls(call("contact_human", to=["approver"], **ask))
        case "ask":
            ask = {"kind": "text", "question": "What is the customer's name?"}
            return calls(call("contact_human", to=["approver"], **ask))
        case "fail":
            raise RuntimeError("the model is away")
    return says(f"You said: {said}", input_tokens=300, output_tokens=12, cost=0.0007)


def make_agents() -> dict[str, Agent]:
    """Give the agents of the house."""
    model = ScriptedModel(decide)
    tools = [refund, wire, contact_human]
    return {name: Agent(name, tools=tools, model=model) for name in ("desk", "release")}


@dataclass
class Door:
    """Where people come in: it can be shut, and opened again at the same address."""

    app: Callable[[], web.Application]
    port: int = 0
    runner: DeadlineRunner | None = None

    async def open(self) -> None:
        """Serve."""
        self.runner = await run_app(self.app(), "127.0.0.1", self.port)
        self.port = self.runner.addresses[0][1]

    async def shut(self) -> None:
        """Cut everybody off."""
        if self.runner is not None:
            await self.runner.cleanup()
        self.runner = None


@dataclass
class InboxHouse:
    """A running inbox."""

    url: str
    store: Store
    gateway: LocalGateway
    sessions: Sessions
    door: Door

    async def launch(self, text: str, *, by: str = "ann", agent: str = "desk") -> ThreadView:
        """Begin a thread and wait until it rests."""
        thread, _ = await self.gateway.launch(Launch(agent=agent, text=text), by=by)
        return await self.gateway.wait(thread.id, seconds=20)

    async def rested(self, thread: str) -> ThreadView:
        """Wait until a thread rests again."""
        return await self.gateway.wait(thread, seconds=20)

    async def sign_in(self, name: str, how: Literal["email", "slack"] = "email") -> dict[str, str]:
        """Give the cookie of somebody who has signed in."""
        identity = f"email:{name}@example.com"
        return {SESSION: await self.sessions.begin(how, identity=identity, name=name)}

    async def sign_in_with_key(self, name: str, *scopes: Scope) -> dict[str, str]:
        """Give the cookie of who holds such a key."""
        key = ApiKey(
            id=KeyId(f"k_{name}"),
            name=name,
            hash=digest(name),
            scopes=scopes,
            created_at=World().now(),
        )
        await self.store.add_key(key)
        return {SESSION: await self.sessions.begin("key", identity=key.hash, name=name)}


@asynccontextmanager
async def inbox_house(
    *,
    store: Store | None = None,
    agents: Mapping[str, Agent] | None = None,
    options: HttpOptions | None = None,
    people: tuple[Person, ...] = PEOPLE,
    channels: frozenset[str] = frozenset(),
    works: bool = True,
    mailer: Mailer | None = None,
    slack: IdentityProvider | None = None,
) -> AsyncIterator[InboxHouse]:
    """Open an inbox on a free port; without `works` no agent runs.

    In `channels` people are told of questions elsewhere; nobody sends it.
    """
    store, agents = store or MemoryStore(), agents or make_agents()
    await store.open()
    hints, nearby, directory = Hints(store), Nearby(), Directory(people)
    routing = Routing(directory, channels)
    gateway = LocalGateway(store, agents, hints, nearby=nearby, routing=routing)
    engine = Engine(store, agents, hints, nearby=nearby, routing=routing)
    memory = SealedMemory(store, OWNER, SECRET)

    def serve() -> web.Application:
        app = make_app(gateway, store, options or HttpOptions(shutdown_grace=0.2))

        async def make() -> Site:
            url = f"http://127.0.0.1:{door.port}"
            return make_site(
                app[DESK],
                store,
                directory,
                memory,
                secret=SECRET,
                public_url=url,
                world=World(),
                mailer=mailer,
                slack=slack,
            )

        mount(app, make)
        return app

    door = Door(serve)
    await door.open()
    tasks = [asyncio.create_task(hints.run())]
    tasks += [asyncio.create_task(engine.run())] if works else []
    try:
        url = f"http://127.0.0.1:{door.port}"
        yield InboxHouse(url, store, gateway, Sessions(memory, World().now), door)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await door.shut()
        await store.close()
