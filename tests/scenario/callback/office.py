"""A whole gateway with a clock that is moved by hand, and a receiver that it may reach."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from agent_core import (
    Agent,
    ModelReply,
    ModelRequest,
    ScriptedModel,
    call,
    calls,
    says,
    tool,
)
from agent_core.loop.hand_driven import HandDrivenWorld
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.tools.contact_human import contact_human
from channels.callback.allowing import AllowList, parse_allowance
from channels.callback.channel import CallbackChannel
from channels.callback.guard import Guard
from channels.callback.options import CallbackOptions
from channels.callback.signing import derive_key, show_secret
from channels.channel import Channel
from channels.notebook import Notebook
from channels.web.channel import WebChannel
from gateway.channel_wiring import memory_of, open_channels
from gateway.control.callbacks import Callbacks
from gateway.control.keys import new_key
from gateway.control.local import LocalGateway
from gateway.http.app import make_app, run_app
from gateway.http.channel_routes import mount
from gateway.http.options import HttpOptions
from gateway.outbox.sender import Sender, SenderOptions
from gateway.people.directory import Directory
from gateway.people.routing import Routing
from gateway.settings.config import Person
from gateway.shortcuts.hints import Hints
from gateway.work.engine import Engine, EngineOptions
from storage.memory import MemoryStore
from storage.values import Delivery
from tests.scenario.callback.receiver import Receiver, receiver
from tests.unit.gateway.http.house import Answer

SECRET = b"s" * 32
SHARED = show_secret(derive_key(SECRET))
"""What the receiver was given, by `parley callbacks secret`."""
PEOPLE = (
    Person(name="otto", roles=("approver",)),
    Person(name="grace", email=("grace@example.org",), roles=("operator",)),
)
QUICK = EngineOptions(lease_ms=60_000, poll_seconds=0.02)


@tool(approval=True)
async def refund(order: str) -> str:
    """Pay the customer back."""
    return f"paid back {order}"


@tool(approval=True, approvers=["ci"], not_requester=True)
async def deploy(place: str) -> str:
    """Bring it to where people use it."""
    return f"deployed to {place}"


def decide(request: ModelRequest) -> ModelReply:
    """Do as the last words say."""
    last = request.messages[-1]
    words = str(last["content"])
    if last["role"] == "user" and "refund" in words:
        return calls(call("refund", order="A1"))
    if last["role"] == "user" and "deploy" in words:
        return calls(call("deploy", place="shop"))
    if last["role"] == "user" and "ask otto" in words:
        return calls(call("contact_human", question="Blue?", to=["otto"]))
    if last["role"] == "user" and "ask" in words:
        return calls(call("contact_human", question="Which colour?"))
    if "break" in words:
        raise RuntimeError("broken")
    return says(f"done: {words}")


@dataclass
class Office:
    """The gateway, its store and clock, the receiver, and a client."""

    store: MemoryStore
    clock: HandDrivenWorld
    receiver: Receiver
    callbacks: Callbacks
    url: str
    key: str
    session: aiohttp.ClientSession
    email: Notebook
    """What the operator gets."""

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
    ) -> Answer:
        """Make a request."""
        headers = {"Authorization": f"Bearer {self.key}"}
        url = f"{self.url}{path}"
        async with self.session.request(method, url, json=body, headers=headers) as response:
            return Answer(response.status, response.headers.copy(), await response.text())

    async def respond(self, response_url: str, body: object, method: str = "POST") -> Answer:
        """Use a response URL, at the address where this gateway really is."""
        place = f"{self.url}{urlsplit(response_url).path}"
        async with self.session.request(method, place, json=body) as response:
            return Answer(response.status, response.headers.copy(), await response.text())

    async def launch(self, text: str, **more: object) -> str:
        """Launch with the receiver as callback."""
        body = {"agent": "desk", "text": text, "callback_url": self.receiver.url, **more}
        answer = await self.call("POST", "/v1/threads", body)
        assert answer.status == 201, answer
        return str(answer.json["id"])

    async def deliveries(self, thread: str) -> list[Delivery]:
        """Give what is for the callback."""
        rows = await self.store.deliveries(ThreadId(thread))
        return [row for row in rows if row.address.startswith("callback:")]

    async def until(self, thread: str, *statuses: str) -> list[Delivery]:
        """Wait until the callback's deliveries stand so, and none is under way."""
        async with asyncio.timeout(20):
            while True:
                rows = await self.deliveries(thread)
                if [row.status for row in rows] == list(statuses) and not any(
                    row.lease_until for row in rows
                ):
                    return rows
                await asyncio.sleep(0.005)

    async def until_tried(self, thread: str, attempts: int) -> Delivery:
        """Wait until the first delivery was tried so often, and put back or ended."""
        async with asyncio.timeout(20):
            while True:
                rows = await self.deliveries(thread)
                if rows and rows[0].attempts == attempts and rows[0].lease_until is None:
                    return rows[0]
                await asyncio.sleep(0.005)

    async def log(self, thread: str) -> Sequence[Event]:
        """Give a thread's log."""
        return await self.store.events(ThreadId(thread))


@asynccontextmanager
async def office(**more: Any) -> AsyncIterator[Office]:  # noqa: ANN401 (options of the channel)
    """Open it."""
    agents = {
        "desk": Agent("desk", tools=[refund, deploy, contact_human], model=ScriptedModel(decide))
    }
    start = Millis(time.time_ns() // 1_000_000)  # receivers compare with their own clocks
    clock = HandDrivenWorld(start)
    world = clock.world
    people = Directory(PEOPLE)
    async with AsyncExitStack() as stack:
        store = MemoryStore()
        await store.open()
        stack.push_async_callback(store.close)
        key, row = new_key("ci", ["admin"], now=start)
        await store.add_key(row)
        got = await stack.enter_async_context(receiver())
        guard = Guard(AllowList([parse_allowance(f"127.0.0.1:{got.port}")]))
        options = CallbackOptions(secret_key=SECRET, guard=guard, **more)
        callback = CallbackChannel(options, clock=lambda: clock.moment / 1000)
        email = Notebook(name="email")
        channels: dict[str, Channel] = {
            "web": WebChannel(),
            "callback": callback,
            "email": email,
        }
        routing = Routing(people, frozenset(channels))
        hints = Hints(store)
        gateway = LocalGateway(store, agents, hints, world=world, routing=routing, guard=guard)
        await stack.enter_async_context(
            open_channels(channels, gateway, store, people, {}, secret=SECRET, receives=True)
        )
        sender = Sender(
            store,
            channels,
            hints,
            people=people,
            world=world,
            options=SenderOptions(poll_seconds=0.02),
        )
        engine = Engine(store, agents, hints, world=world, options=QUICK, routing=routing)
        tasks = [asyncio.create_task(one.run()) for one in (hints, sender, engine)]
        stack.push_async_callback(_stop, tasks)
        callbacks = Callbacks(store, memory_of(store, "callback", SECRET), world=world)
        http = HttpOptions(requests_per_second=1e9, burst=10**9)
        app = make_app(gateway, store, http, callbacks=callbacks)
        mount(app, channels.values(), http)
        runner = await run_app(app, "127.0.0.1", 0)
        stack.push_async_callback(runner.cleanup)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield Office(store, clock, got, callbacks, url, key, session, email)


async def _stop(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
