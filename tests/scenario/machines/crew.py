"""What the stories of many machines share: agents that tell where they run, and a caller."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.scenario.gateway.machines import Machines, machines
from tests.scenario.gateway.stubborn_customer import Caller

AGENTS = '''
import asyncio, os
from agent_core import Agent, ScriptedModel, ToolContext, call, calls, contact_human, says, tool

def write(line):
    file = os.open("ledger.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, f"{line} {os.getpid()}\\n".encode())
    finally:
        os.close(file)

async def dwell(what, seconds=60):
    """Take long, and tell if that is cut short."""
    write(f"begin {what}")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        write(f"stopped {what}")
        raise
    write(f"end {what}")

def said(request):
    return request.messages[-1]["content"]

async def think(request):
    await dwell(said(request))

@tool(interruptible=True)
async def dig(ctx: ToolContext, what: str) -> str:
    """Dig, and stop when told to."""
    await dwell(what)
    return "dug"

@tool
async def ship(ctx: ToolContext, what: str) -> str:
    """Ship; it can't be stopped, nor taken back."""
    await dwell(what, 1.0)
    return "shipped"

def with_tool(name):
    def decide(request):
        if any("tool_calls" in message for message in request.messages):
            return says("done")
        return calls(call(name, what=said(request)))
    return ScriptedModel(decide)

def ask(request):
    if any("tool_calls" in message for message in request.messages):
        return says("thanks")
    return calls(call("contact_human", question="Shall I?", to=["otto"]))

thinker = Agent("thinker", model=ScriptedModel(lambda _: says("thought"), before_reply=think))
digger = Agent("digger", tools=[dig], model=with_tool("dig"))
depot = Agent("depot", tools=[ship], model=with_tool("ship"))
clerk = Agent("clerk", tools=[contact_human], model=ScriptedModel(ask))
echo = Agent("echo", model=ScriptedModel(lambda request: says(said(request))))
'''


class Crew(Caller[Machines]):
    """Somebody with a key to all of the machines."""

    async def launch(self, agent: str, text: str, **more: object) -> str:
        """Begin a thread."""
        body = {"agent": agent, "text": text, **more}
        thread = await self.call("POST", "/v1/threads", body, key=f"launch-{agent}-{text}")
        return str(thread["id"])

    async def thread(self, thread: str) -> Any:  # noqa: ANN401 (any JSON)
        """Look at a thread."""
        return await self.call("GET", f"/v1/threads/{thread}")

    async def status(self, thread: str, *wanted: str) -> Any:  # noqa: ANN401 (any JSON)
        """Wait until a thread has one of these statuses, and give it."""
        async with asyncio.timeout(30):
            while True:
                found = await self.call("GET", f"/v1/threads/{thread}?wait=1")
                if found["status"] in wanted:
                    return found

    async def events(self, thread: str) -> list[Any]:
        """Read a whole log."""
        page = await self.call("GET", f"/v1/threads/{thread}/events?limit=1000")
        return list(page["items"])

    async def written(self, line: str) -> int:
        """Wait until a process has written this line; give the process."""
        return int((await self._line(lambda one: one.rpartition(" ")[0] == line)).split()[-1])

    async def _line(self, is_it: Callable[[str], bool]) -> str:
        async with asyncio.timeout(30):
            while True:
                for line in self.server.lines("ledger.txt"):
                    if is_it(line):
                        return line
                await asyncio.sleep(0.01)


@asynccontextmanager
async def crew(folder: Path, roles: str, **more: Any) -> AsyncIterator[Crew]:  # noqa: ANN401 (of machines)
    """Start machines of these roles, and give who calls them."""
    chance = random.Random(7)  # noqa: S311
    more.setdefault("agents", AGENTS)
    async with (
        machines(folder / "shared", roles.split(), chance, **more) as site,
        aiohttp.ClientSession() as session,
    ):
        await asyncio.gather(*(door.ready() for door in site.doors))
        yield Crew(site, session)
