"""A `parley serve` on SQLite that can be killed and is started again, with the same folder."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp

from tests.doubles.supervisor import ROOT, Supervisor, supervisor
from tests.scenario.gateway.cli_installation import free_port

SHORT_LEASE = 400

AGENTS = '''
import asyncio, os, re
from agent_core import Agent, ScriptedModel, ToolContext, call, calls, contact_human, says, tool

PAUSE = float(os.environ.get("STORY_PAUSE", "0"))

def write(name, line):
    """Durable before it returns, and whole: what the outside world would see."""
    file = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, (line + "\\n").encode())
        os.fsync(file)
    finally:
        os.close(file)

async def take_effect(tool, order, ctx):
    await asyncio.sleep(PAUSE)
    write("ledger.txt", f"{tool} {order} {ctx.thread.id} {ctx.idempotency_key}")
    await asyncio.sleep(PAUSE)
    return f"{tool} {order}"

@tool(approval=True)
async def pay(ctx: ToolContext, order: str) -> str:
    """Pay the customer back."""
    return await take_effect("pay", order, ctx)

@tool
async def book(ctx: ToolContext, order: str) -> str:
    """Write it into the books."""
    return await take_effect("book", order, ctx)

def order_in(request):
    return re.search(r"order-[\\w-]+", str(request.messages))[0]

def decide(request):
    """Ask, then pay and book in one turn, then tell. Keeps no state: a repeated call is alike."""
    order = order_in(request)
    turns = sum("tool_calls" in message for message in request.messages)
    if turns == 0:
        return calls(
            call("contact_human", question=f"Which account is {order} on?", to=["accounting"])
        )
    if turns == 1:
        return calls(call("pay", order=order), call("book", order=order))
    return says(f"done {order}")

async def think(request):
    write("model.txt", order_in(request))
    if os.path.exists("slow"):
        await asyncio.sleep(60)

@tool
async def ship(ctx: ToolContext, order: str) -> str:
    """Takes its time, and must not be stopped."""
    write("ledger.txt", f"begin {order} {ctx.thread.id} {ctx.idempotency_key}")
    await asyncio.sleep(1.5)
    write("ledger.txt", f"end {order} {ctx.thread.id} {ctx.idempotency_key}")
    return "shipped"

def then_ship(request):
    if any("tool_calls" in message for message in request.messages):
        return says("shipped")
    return calls(call("ship", order=order_in(request)))

desk = Agent("desk", tools=[pay, book, contact_human], model=ScriptedModel(decide))
depot = Agent("depot", tools=[ship], model=ScriptedModel(then_ship))
thinker = Agent(
    "thinker", model=ScriptedModel(lambda request: says("thought"), before_reply=think)
)
'''


@dataclass
class KillableServer:
    """The folder, the address, and whoever starts the server there."""

    folder: Path
    port: int
    key: str
    supervisor: Supervisor
    role: str = "all"
    pid: int = 0
    kills: int = 0

    @property
    def url(self) -> str:
        """Where it listens, again and again."""
        return f"http://127.0.0.1:{self.port}"

    async def start(
        self,
        failpoint: str = "",
        *,
        lease_ms: int = SHORT_LEASE,
        apart: bool = False,
        freezes: bool = False,
    ) -> None:
        """Start a server; clients find out when it answers.

        `apart`: nothing is handed over. `freezes`: at the failpoint it stops, and can go on.
        """
        environ = {
            "PARLEY_FAILPOINT": failpoint,
            "PARLEY_FAILPOINT_LEASE_MS": str(lease_ms or ""),
            "PARLEY_FAILPOINT_APART": "1" if apart else "",
            "PARLEY_FAILPOINT_FREEZES": "1" if freezes else "",
        }
        self.pid = await self.supervisor.start(["serve", "--role", self.role], environ=environ)

    async def ready(self) -> None:
        """Wait until the server takes requests; before that, a signal finds nobody."""
        async with asyncio.timeout(30), aiohttp.ClientSession() as session:
            while True:
                with suppress(aiohttp.ClientError):
                    async with session.get(f"{self.url}/readyz") as answer:
                        if answer.status == HTTPStatus.OK:
                            return
                await asyncio.sleep(0.02)

    async def frozen(self) -> None:
        """Wait until the server has been stopped by a signal."""
        async with asyncio.timeout(30):
            while not _is_stopped(self.pid):  # noqa: ASYNC110 (nobody tells)
                await asyncio.sleep(0.02)

    async def ended(self) -> int:
        """Wait for the end of the server, and give its exit code."""
        code = await self.supervisor.ended()
        self.pid = 0
        self.kills += code == -signal.SIGKILL
        return code

    async def stop(self, how: signal.Signals = signal.SIGKILL) -> int:
        """Stop the server, and give its exit code."""
        os.kill(self.pid, how)
        return await self.ended()

    @property
    def log(self) -> str:
        """What all the servers have logged."""
        return (self.folder / "server.log").read_text()

    def lines(self, name: str) -> list[str]:
        """Give what the tools (ledger.txt) or the model (model.txt) have left behind."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def rows(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        """Look into the database from outside, beside the server."""
        with closing(sqlite3.connect(f"file:{self.folder}/parley.db?mode=ro", uri=True)) as db:
            return db.execute(statement, values).fetchall()


@asynccontextmanager
async def killable_server(
    folder: Path,
    *,
    pause: float = 0.0,
    agents: str = AGENTS,
    settings: Mapping[str, str] | None = None,
    has_key: bool = True,
) -> AsyncIterator[KillableServer]:
    """Make a folder with agents and a key, if one is needed; nothing runs yet."""
    prepare(folder, agents)
    port = free_port()
    ours = ("PARLEY_", "OPENAI_", "SLACK_", "EMAIL_", "SMTP_", "IMAP_", "COLUMNS")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {
        "PYTHONPATH": str(ROOT),
        "PARLEY_AGENTS": "./agents.py",
        "PARLEY_DATABASE_URL": f"sqlite:///{folder}/parley.db",
        "PARLEY_PORT": str(port),
        "PARLEY_LOG": "warning/text",
        "STORY_PAUSE": str(pause),
        **(settings or {}),
    }
    async with supervisor(folder, environ) as watching:
        key = await new_key(folder, watching) if has_key else ""
        async with until_the_end(KillableServer(folder, port, key, watching)) as made:
            yield made


@asynccontextmanager
async def until_the_end(server: KillableServer) -> AsyncIterator[KillableServer]:
    """Leave nothing running."""
    try:
        yield server
    finally:
        if server.pid:
            await server.stop()


def _is_stopped(pid: int) -> bool:
    """Look at a process's state: its third field, after the name in brackets."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def prepare(folder: Path, agents: str) -> None:
    """Make the folder that an operator would have."""
    folder.mkdir()
    (folder / "agents.py").write_text(agents)


async def new_key(folder: Path, watching: Supervisor) -> str:
    """Make a key for everything, as the operator would."""
    told = folder / "key.json"
    await watching.start(["keys", "create", "otto", "--scope", "admin", "--json"], out=str(told))
    assert await watching.ended() == 0
    return str(json.loads(told.read_text())["key"])
