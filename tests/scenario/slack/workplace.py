"""A workplace: people in Slack (the double), and a real `parley serve` that they work with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from channels.slack.double import SlackDouble
from channels.slack.double.records import Message
from channels.slack.double.workspace import Workspace
from tests.scenario.gateway.killable_server import KillableServer, killable_server

Way = Literal["http", "socket"]
_Seen = TypeVar("_Seen")

AGENTS = '''
import asyncio, os, re
from agent_core import Agent, ScriptedModel, ToolContext, call, calls, contact_human, says, tool

def write(line):
    """Durable before it returns: what the outside world would see."""
    with open("ledger.txt", "a") as ledger:
        ledger.write(line + "\\n")
        ledger.flush()
        os.fsync(ledger.fileno())

@tool(approval=True, approvers=["otto"])
async def refund(ctx: ToolContext, order: str, amount: float) -> str:
    """Pay the customer back."""
    write(f"{order} {amount} {ctx.idempotency_key}")
    return f"Refunded {amount:.2f} EUR for {order}."

@tool(approval=True, approvers=["lead"], quorum=2, not_requester=True)
async def bonus(ctx: ToolContext, amount: int) -> str:
    """Pay a bonus."""
    write(f"bonus {amount} {ctx.idempotency_key}")
    return f"Paid {amount} EUR."

def decide(request):
    text = str(request.messages)
    if not any("tool_calls" in message for message in request.messages):
        if "form" in request.messages[-1]["content"]:
            schema = {
                "type": "object",
                "properties": {
                    "size": {"type": "string", "enum": ["S", "L"], "title": "Size"},
                    "count": {"type": "integer", "title": "How many"},
                    "code": {"type": "string", "title": "Code", "pattern": "^[A-Z]{3}$"},
                },
                "required": ["size", "count", "code"],
            }
            return calls(
                call("contact_human", question="What do you need?", kind="form", schema=schema)
            )
        if "which" in request.messages[-1]["content"]:
            return calls(
                call("contact_human", question="Which?", kind="choice", options=["red", "blue"])
            )
        if "bonus" in text:
            return calls(call("bonus", amount=500))
        if "order" in text:
            order = re.findall(r"order (\\d+)", text)[-1]
            return calls(call("refund", order=order, amount=59.9))
        return says(f"You said: {request.messages[-1]['content']}")
    last = request.messages[-1]
    return says(f"Done. {last['content']}")

desk = Agent("desk", tools=[refund, bonus, contact_human], model=ScriptedModel(decide))
'''

PARLEY_TOML = """
[[people]]
name = "otto"
slack = "T1:UOTTO"
roles = ["approver", "lead"]

[[people]]
name = "ann"
slack = "T1:UANN"
roles = ["lead"]

[[people]]
name = "eve"
slack = "T1:UEVE"
roles = ["lead"]
"""


@dataclass
class Workplace:
    """Slack, the server, and what people see."""

    slack: SlackDouble
    team: Workspace
    server: KillableServer
    way: Way

    async def start(self) -> None:
        """Start the server, and wait until Slack can talk to it."""
        await self.server.start()
        if self.way == "socket":
            await self.until(lambda: self.slack.sockets.is_connected)
        else:
            await self.server.ready()

    async def restart(self) -> None:
        """Kill the server, and start it again."""
        await self.server.stop()
        await self.start()

    async def until(self, look: Callable[[], _Seen | None], seconds: float = 30) -> _Seen:
        """Wait until something is to be seen in Slack."""
        return await self.slack.until(look, within=seconds)

    async def mention(self, text: str = "refund order 1042", user: str = "UANN") -> Message:
        """Mention the bot in the channel."""
        return await self.team.says(user, "C1", f"<@UBOT> {text}")

    def replies(self, root: Message) -> list[Message]:
        """Give what the bot has said in a thread."""
        return self.team.posted("C1", root.ts)

    async def reply(self, root: Message, number: int = 1) -> Message:
        """Wait for the bot's reply of that number in a thread."""

        def look() -> Message | None:
            return next(iter(self.replies(root)[number - 1 : number]), None)

        return await self.until(look)

    async def settled(self, card: Message, words: str) -> Message:
        """Wait until a card says how it ended."""

        def look() -> Message | None:
            now = self.team.message("C1", card.ts)
            return now if words in str(now.blocks) else None

        return await self.until(look)

    @property
    def ledger(self) -> list[str]:
        """Give what was really paid."""
        return [" ".join(line.split()[:2]) for line in self.server.lines("ledger.txt")]


def buttons(message: Message) -> set[str]:
    """Name what can be clicked in a message."""
    return {
        element["action_id"]
        for block in message.blocks
        if block["type"] == "actions"
        for element in block["elements"]
    }


@asynccontextmanager
async def workplace(
    folder: Path, way: Way, *, more: Mapping[str, str] | None = None
) -> AsyncIterator[Workplace]:
    """Furnish Slack, and set the server up, with more settings; nothing runs yet."""
    async with SlackDouble(signing_secret="shhh", app_token="xapp-1") as slack:
        team = slack.workspace("T1", name="Acme", bot_token="xoxb-1")
        for user in ("UANN", "UOTTO", "UEVE"):
            team.user(user, name=user[1:].lower(), email=f"{user[1:].lower()}@example.com")
        team.channel("C1", name="general", members=["UANN", "UOTTO", "UEVE", "UBOT"])
        slack.retries.delays = (0.1, 0.4, 1.0)
        settings = {
            "SLACK_BOT_TOKEN": "xoxb-1",
            "SLACK_API_URL": slack.api_url.rstrip("/"),
            "PARLEY_CONFIG": "parley.toml",
            **(
                {"SLACK_APP_TOKEN": "xapp-1"}
                if way == "socket"
                else {"SLACK_SIGNING_SECRET": "shhh"}
            ),
            **(more or {}),
        }
        async with killable_server(folder, agents=AGENTS, settings=settings) as server:
            (folder / "parley.toml").write_text(PARLEY_TOML)
            slack.request_url = f"{server.url}/slack/events" if way == "http" else None
            yield Workplace(slack, team, server, way)
