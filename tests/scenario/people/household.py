"""A house with three doors: Slack (the double), mail (a post office) and the API, and real servers.

Otto is asked in Slack and by mail at once, Olga by mail alone; threads come from a pipeline.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from channels.email.double.letters import Letter, reply
from channels.slack.double import SlackDouble
from channels.slack.double.records import Message
from channels.slack.double.workspace import Workspace
from tests.doubles.post_office import AGENT, AUTHSERV_ID, PostOffice, post_office
from tests.scenario.gateway.killable_server import KillableServer, killable_server
from tests.scenario.slack.workplace import buttons

OTTO, OLGA = "otto@example.com", "olga@example.com"
YES = {"approved": True}
SECRET = "0123456789abcdef0123456789abcdef"
SHORT_LEASE = 1_500
_BETWEEN_LOOKS = 0.05
_Seen = TypeVar("_Seen")

AGENTS = '''
import os, re
from agent_core import Agent, ScriptedModel, ToolContext, Waiting, call, calls, says, tool

@tool(approval=True, approvers=["approver"])
async def refund(ctx: ToolContext, order: str) -> str:
    """Pay the customer back."""
    file = os.open("ledger.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{order}\\n".encode())
    os.fsync(file)
    os.close(file)
    return f"Refunded {order}."

def decide(request):
    if any("tool_calls" in message for message in request.messages):
        return says("Done. " + str(request.messages[-1]["content"]))
    order = re.findall(r"order (\\w+)", str(request.messages))[-1]
    return calls(call("refund", order=order))

desk = Agent("desk", tools=[refund], model=ScriptedModel(decide))
hasty = Agent(
    "hasty",
    tools=[refund],
    model=ScriptedModel(decide),
    waiting={"normal": Waiting(expires_after=5, on_expiry="deny")},
)
'''

PARLEY_TOML = """
[[people]]
name = "otto"
slack = "T1:UOTTO"
email = "otto@example.com"
roles = ["approver"]
prefer = ["slack", "email"]
ask = "all"

[[people]]
name = "olga"
email = "olga@example.com"
roles = ["approver"]
"""


@dataclass
class Household:
    """The doors, who stands before them, and the servers behind."""

    slack: SlackDouble
    team: Workspace
    office: PostOffice
    servers: list[KillableServer]
    session: aiohttp.ClientSession
    database: str

    async def start(self, *, lease_ms: int = SHORT_LEASE) -> None:
        """Start every server, and wait until each takes requests.

        With short leases what a kill left is soon found. With two servers and nobody killed they
        stay as they are: Slack takes a post a second into a channel, and a card whose lease runs
        out while it waits for its turn is posted by the other server as well.
        """
        for server in self.servers:
            await server.start(lease_ms=lease_ms)
            await server.ready()

    async def restart(self) -> None:
        """Kill every server, and start it again."""
        for server in self.servers:
            await server.stop()
        await self.start()

    async def call(
        self, method: str, path: str, body: object = None, *, door: int = -1
    ) -> tuple[int, Any]:
        """Ask the API, the last server's unless another is wanted; again, if it was just killed."""
        server = self.servers[door]
        while True:
            with suppress(aiohttp.ClientConnectionError):
                async with self.session.request(
                    method,
                    f"{server.url}/v1/{path}",
                    json=body,
                    headers={"Authorization": f"Bearer {self.servers[0].key}"},
                ) as answer:
                    return answer.status, await answer.json()
            await asyncio.sleep(_BETWEEN_LOOKS)

    async def launch(self, order: str, agent: str = "desk") -> str:
        """Launch a thread, as a pipeline does."""
        body = {"agent": agent, "text": f"refund order {order}"}
        status, thread = await self.call("POST", "threads", body)
        assert status == 201, thread
        return str(thread["id"])

    async def question(self, thread: str) -> str:
        """Wait for the question that a thread asks; in its log, because it may be over by now."""

        async def look() -> str | None:
            _, log = await self.call("GET", f"threads/{thread}/events")
            asked = (one for one in log["items"] if one["type"] == "QuestionAsked")
            return next((str(one["question"]["id"]) for one in asked), None)

        return await self.seen(look)

    async def answer(
        self, question: str, value: object = None, *, door: int = -1
    ) -> tuple[int, Any]:
        """Answer over the API."""
        path = f"questions/{question}/answer"
        return await self.call("POST", path, {"value": value or YES}, door=door)

    async def ended(self, thread: str) -> list[dict[str, Any]]:
        """Wait until a thread rests for good, and give its log."""

        async def look() -> list[dict[str, Any]] | None:
            _, found = await self.call("GET", f"threads/{thread}")
            if found["status"] not in {"finished", "cancelled", "failed"}:
                return None
            _, log = await self.call("GET", f"threads/{thread}/events")
            return list(log["items"])

        return await self.seen(look)

    async def finished(self, thread: str, order: str) -> list[dict[str, Any]]:
        """Wait for the end; where a kill cut the payment off, somebody says what became of it."""

        async def look() -> list[dict[str, Any]] | None:
            _, found = await self.call("GET", f"threads/{thread}")
            if found["status"] == "finished":
                return await self.ended(thread)
            for one in found["questions"]:
                if one["kind"] == "choice":
                    await self.answer(one["id"], "it_happened" if self.paid(order) else "run_again")
            return None

        return await self.seen(look)

    async def until_just_before(self, moment: str) -> None:
        """Wait until the clock nearly shows this time: it is the clock that is raced with."""
        left = datetime.fromisoformat(moment) - datetime.now(UTC)
        await asyncio.sleep(max(0.0, left.total_seconds() - 0.03))

    async def card(self, order: str) -> Message:
        """Wait for Otto's card in Slack."""

        def look() -> Message | None:
            told = self.team.posted(self.team.dm("UOTTO"))
            return next((one for one in told if order in str(one.blocks)), None)

        return await self.slack.until(look, within=30)

    async def clicks(self, card: Message, *, stale: bool = False) -> None:
        """Let Otto approve in Slack; `stale`: on a screen that still shows the buttons."""
        await self.team.clicks("UOTTO", card, "parley:approve", stale=stale)

    async def settled(self, card: Message) -> str:
        """Wait until nothing can be clicked in the card any more, and give its words."""

        def look() -> Message | None:
            now = self.team.message(self.team.dm("UOTTO"), card.ts)
            return None if buttons(now) else now

        return str((await self.slack.until(look, within=30)).blocks)

    async def letter(self, email: str, words: str) -> Letter:
        """Wait for somebody's letter with these words."""

        def look() -> Letter | None:
            return next((one for one in self.office.letters(email) if words in one.text), None)

        return await self.office.until(look)

    async def follow_up(self, letter: Letter, words: str, number: int = 1) -> Letter:
        """Wait for what came after a letter, in the same conversation."""
        first = letter.header("Message-ID")

        def look() -> Letter | None:
            after = [
                one
                for one in self.office.letters(letter.header("To"))
                if first in one.header("References") and words in one.text
            ]
            return next(iter(after[number - 1 :]), None)

        return await self.office.until(look)

    async def replies(self, letter: Letter, text: str) -> None:
        """Reply to a letter."""
        await self.office.post(reply(letter, text))

    async def seen(self, look: Callable[[], Awaitable[_Seen | None]]) -> _Seen:
        """Wait until a look at the API finds something."""
        async with asyncio.timeout(40):
            while True:
                found = await look()
                if found is not None:
                    return found
                await asyncio.sleep(_BETWEEN_LOOKS)

    def paid(self, order: str) -> int:
        """Count how often an order was really paid."""
        lines = [line for server in self.servers for line in server.lines("ledger.txt")]
        return lines.count(order)


@asynccontextmanager
async def household(
    folder: Path, *, database: str = "", servers: int = 1
) -> AsyncIterator[Household]:
    """Furnish it: Slack comes to the first server, mail is fetched by every one; nothing runs."""
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackDouble(signing_secret="shhh"))
        team = slack.workspace("T1", name="Acme", bot_token="xoxb-1")
        team.user("UOTTO", name="otto", email=OTTO)
        slack.retries.delays = (0.1, 0.4, 1.0)
        office = await stack.enter_async_context(post_office())
        settings = _settings(slack, office, database)
        running = []
        for number in range(servers):
            place = folder.with_name(f"{folder.name}{number}")
            server = await stack.enter_async_context(
                killable_server(place, agents=AGENTS, settings=settings, has_key=number == 0)
            )
            (place / "parley.toml").write_text(PARLEY_TOML)
            running.append(server)
        slack.request_url = f"{running[0].url}/slack/events"
        session = await stack.enter_async_context(aiohttp.ClientSession())
        yield Household(slack, team, office, running, session, database)


def _settings(slack: SlackDouble, office: PostOffice, database: str) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_API_URL": slack.api_url.rstrip("/"),
        "SLACK_SIGNING_SECRET": "shhh",
        "EMAIL_ADDRESS": AGENT,
        "SMTP_URL": office.smtp_url,
        "IMAP_URL": office.imap.url,
        "EMAIL_AUTHSERV_ID": AUTHSERV_ID,
        "PARLEY_CONFIG": "parley.toml",
        "PARLEY_SECRET_KEY": SECRET,
        **({"PARLEY_DATABASE_URL": database} if database else {}),
    }
