"""A correspondence: people with mailboxes, a post office, and a real `parley serve`."""

from __future__ import annotations

import itertools
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from channels.email.double.letters import Letter, reply, write
from tests.doubles.post_office import AGENT, AUTHSERV_ID, PostOffice, post_office
from tests.scenario.gateway.cli_installation import free_port
from tests.scenario.gateway.killable_server import KillableServer, killable_server

Way = Literal["imap", "lmtp", "smtp"]

SHORT_LEASE = 1_500
"""Short enough to wait for, long enough for a busy machine."""
_MARKERS = itertools.count(1)
MARKER = "marker@example.com"
ANN, OTTO = "ann@example.com", "otto@example.com"

AGENTS = '''
import os, re
from agent_core import Agent, ScriptedModel, ToolContext, call, calls, contact_human, says, tool

@tool(approval=True, approvers=["otto"])
async def refund(ctx: ToolContext, order: str, amount: float) -> str:
    """Pay the customer back."""
    with open("ledger.txt", "a") as ledger:  # what the outside world would see
        ledger.write(f"{order} {amount} {ctx.idempotency_key}\\n")
        ledger.flush()
        os.fsync(ledger.fileno())
    return f"Refunded {amount:.2f} EUR for {order}."

def decide(request):
    last = request.messages[-1]["content"]
    if any("tool_calls" in message for message in request.messages):
        return says(f"Done. {last}")
    if "which" in last:
        return calls(
            call("contact_human", question="Which?", kind="choice", options=["red", "blue"])
        )
    if "order" in last:
        order = re.findall(r"order (\\d+)", last)[-1]
        return calls(call("refund", order=order, amount=59.9))
    return says(f"You said: {last}")

desk = Agent("desk", tools=[refund, contact_human], model=ScriptedModel(decide))
'''

PARLEY_TOML = """
[[people]]
name = "otto"
email = ["otto@example.com", "otto@home.example"]
roles = ["approver"]

[email]
mails_per_hour = 12
"""


@dataclass
class Correspondence:
    """Who writes to whom."""

    office: PostOffice
    server: KillableServer

    async def start(self, *, lease_ms: int = 0) -> None:
        """Start the server, and wait until it takes mail."""
        await self.server.start(lease_ms=lease_ms)
        await self.server.ready()

    async def restart(self) -> None:
        """Kill the server, and start it again."""
        await self.server.stop()
        await self.start(lease_ms=SHORT_LEASE)

    async def writes(
        self,
        sender: str,
        text: str,
        *,
        subject: str = "Refund",
        headers: Mapping[str, str] | None = None,
        is_forged: bool = False,
    ) -> bytes:
        """Write to the agents."""
        mail = write(sender, AGENT, text, subject=subject, headers=dict(headers or {}))
        return await self.office.post(mail, is_forged=is_forged)

    async def replies(
        self,
        letter: Letter,
        text: str,
        *,
        sender: str = "",
        headers: Mapping[str, str] | None = None,
        is_forged: bool = False,
    ) -> bytes:
        """Reply to a letter, as a mail program does."""
        mail = reply(letter, text, sender=sender, headers=dict(headers or {}))
        return await self.office.post(mail, is_forged=is_forged)

    async def letter(self, email: str, words: str, number: int = 1) -> Letter:
        """Wait for somebody's letter with these words, the first or a later one."""

        def look() -> Letter | None:
            return next(iter(self.letters(email, words)[number - 1 :]), None)

        return await self.office.until(look)

    def letters(self, email: str, words: str = "") -> list[Letter]:
        """Give somebody's letters with these words."""
        return [one for one in self.office.letters(email) if words in one.text]

    async def quiet(self) -> None:
        """Wait until everything that has come was taken, by writing after it."""
        marker = f"marker {next(_MARKERS)}"
        await self.writes(MARKER, marker)
        await self.letter(MARKER, marker)

    @property
    def ledger(self) -> list[str]:
        """Give what was really paid."""
        return [" ".join(line.split()[:2]) for line in self.server.lines("ledger.txt")]

    def events(self, kind: str) -> int:
        """Count events of a type in all threads."""
        [(count,)] = self.server.rows(
            "SELECT count(*) FROM events WHERE body LIKE ?", f'%"{kind}"%'
        )
        return int(count)

    @property
    def threads(self) -> int:
        """Count the threads."""
        [(count,)] = self.server.rows("SELECT count(*) FROM threads")
        return int(count)


@asynccontextmanager
async def correspondence(
    folder: Path,
    way: Way = "imap",
    *,
    settings: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Correspondence]:
    """Open the post office, and set the server up, with more settings; nothing runs yet."""
    door = "" if way == "imap" else f"{way}://127.0.0.1:{free_port()}"
    async with post_office(door=door, tls=tls) as office:
        ours = {
            "EMAIL_ADDRESS": AGENT,
            "SMTP_URL": office.smtp_url,
            "EMAIL_AUTHSERV_ID": AUTHSERV_ID,
            "PARLEY_CONFIG": "parley.toml",
            **({"EMAIL_LISTEN": door} if door else {}),
            "IMAP_URL": office.imap.url,
            **(settings or {}),
        }
        async with killable_server(folder, agents=AGENTS, settings=ours, has_key=False) as server:
            (folder / "parley.toml").write_text(PARLEY_TOML)
            yield Correspondence(office, server)
