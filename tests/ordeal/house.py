"""Where the ordeal takes place: several servers on one store, Slack, a post office and a model."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from channels.slack.double import SlackDouble
from channels.slack.double.workspace import Workspace
from tests.doubles.post_office import AGENT, AUTHSERV_ID, PostOffice, post_office
from tests.doubles.postgres import upgraded
from tests.doubles.postgres_server import PostgresServer, postgres_server
from tests.ordeal.brain import Brain, brain
from tests.scenario.gateway.machines import Machines, machines
from tests.scenario.slack.workplace import buttons

Kind: TypeAlias = Literal["sqlite", "postgres"]

PEOPLE = [f"p{number}" for number in range(24)]
"""Slack takes a post a second into one's direct messages: with few of them, all would wait."""
_BOUNCING = frozenset({"p3", "p11"})
"""Mail to them comes back: they are to be asked in Slack then."""
_ROLES = {"sqlite": ["all"], "postgres": ["web", "all", "worker", "worker"]}

_AGENTS = '''
import asyncio, os
from agent_core import Agent, ToolContext, contact_human, tool

async def take_effect(tool, order, ctx):
    await asyncio.sleep(0.02)
    line = f"{tool} {order} {ctx.thread.id} {ctx.idempotency_key}\\n"
    file = os.open("ledger.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, line.encode())
        os.fsync(file)
    finally:
        os.close(file)
    await asyncio.sleep(0.02)
    return f"{tool} {order}"

@tool(approval=True)
async def pay(ctx: ToolContext, order: str) -> str:
    """Pay the customer back."""
    return await take_effect("pay", order, ctx)

@tool
async def book(ctx: ToolContext, order: str) -> str:
    """Write it into the books."""
    return await take_effect("book", order, ctx)

desk = Agent("desk", tools=[contact_human, pay, book])
'''


@dataclass
class House:
    """Everything that can fail, and what it is checked by."""

    kind: Kind
    site: Machines
    slack: SlackDouble
    team: Workspace
    office: PostOffice
    brain: Brain
    database: PostgresServer | None
    thawed: asyncio.Event = field(default_factory=asyncio.Event)
    """Nobody is frozen: what a tool was doing, it has done."""

    def cards_with_buttons(self) -> list[str]:
        """Give the cards in Slack that can still be clicked."""
        return [
            f"{person} {message.ts}"
            for person in PEOPLE
            for message in self.team.posted(self.team.dm(_user(person)))
            if buttons(message)
        ]


@asynccontextmanager
async def house(folder: Path, kind: Kind, chance: random.Random) -> AsyncIterator[House]:
    """Furnish it, and start the servers."""
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackDouble(signing_secret="shhh"))
        team = slack.workspace("T1", name="Acme", bot_token="xoxb-1")
        for person in PEOPLE:
            team.user(_user(person), name=person, email=f"{person}@example.com")
        office = await stack.enter_async_context(post_office())
        office.reports |= {f"{person}@example.com": "failed" for person in _BOUNCING}
        model = await stack.enter_async_context(brain(chance, PEOPLE))
        database = stack.enter_context(postgres_server()) if kind == "postgres" else None
        if database is not None:
            await upgraded(database.url)
        site = await stack.enter_async_context(
            machines(
                folder,
                _ROLES[kind],
                chance,
                agents=_AGENTS,
                config="".join(_person(person) for person in PEOPLE),
                settings=_settings(slack, office, model),
                database=database.url if database else f"sqlite:///{folder}/parley.db",
            )
        )
        slack.request_url = f"{site.doors[0].url}/slack/events"
        made = House(kind, site, slack, team, office, model, database)
        made.thawed.set()
        yield made


def _user(person: str) -> str:
    return f"U{person.upper()}"


def _person(person: str) -> str:
    number = PEOPLE.index(person)
    ways = ["email", "slack"] if person in _BOUNCING or number % 3 == 0 else ["slack", "email"]
    return f"""
[[people]]
name = "{person}"
slack = "T1:{_user(person)}"
email = "{person}@example.com"
prefer = {ways}
"""


def _settings(slack: SlackDouble, office: PostOffice, model: Brain) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_API_URL": slack.api_url.rstrip("/"),
        "SLACK_SIGNING_SECRET": "shhh",
        "EMAIL_ADDRESS": AGENT,
        "SMTP_URL": office.smtp_url,
        "IMAP_URL": office.imap.url,
        "EMAIL_AUTHSERV_ID": AUTHSERV_ID,
        "PARLEY_CONFIG": "parley.toml",
        "PARLEY_SECRET_KEY": "0123456789abcdef0123456789abcdef",
        "OPENAI_API_KEY": "sk-double",
        "OPENAI_BASE_URL": model.url,
        "OPENAI_MODEL": "double",
    }
