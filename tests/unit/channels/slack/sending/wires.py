"""The real SDK at the double, over real sockets, with everything that sends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from channels.outgoing import Outgoing, OutgoingKind, QuestionCard
from channels.recording import DictMemory
from channels.slack.clients import SingleWorkspace
from channels.slack.connections import Connections
from channels.slack.double import Message, SlackDouble, Workspace
from channels.slack.double.grants import ALL_SCOPES
from channels.slack.live import Live
from channels.slack.pacing import Pace
from channels.slack.sending import Sending
from channels.slack.shows import LiveOptions

SECRET = b"a secret"
QUICK = LiveOptions(status_after=0.0, stream_after=0.0, append_every=0.0, grace=0.05)
CARD = QuestionCard(
    id="q_1", thread="th_1", kind="approval", prompt="Pay?", tool="pay", arguments={"n": 1}
)


@dataclass(kw_only=True)
class Wires:
    """A workspace with a conversation in it, and what speaks there."""

    slack: SlackDouble
    team: Workspace
    root: str
    connections: Connections
    memory: DictMemory = field(default_factory=DictMemory)
    pace: Pace = field(default_factory=lambda: Pace(seconds=0.0))
    options: LiveOptions = QUICK
    live: Live = field(init=False)
    sending: Sending = field(init=False)

    def __post_init__(self) -> None:
        """Put the parts together."""
        self.restart()

    def restart(self) -> None:
        """Begin anew as another process does: only the memory and Slack are still there."""
        clients = SingleWorkspace("xoxb-1", self.connections)
        self.live = Live(clients, pace=self.pace, options=self.options)
        self.live.begin(self.memory)
        self.sending = Sending(clients, secret=SECRET, live=self.live, pace=self.pace)

    @property
    def address(self) -> str:
        """Give the conversation's address."""
        return f"slack:T1:C1:{self.root}"

    @property
    def said(self) -> list[Message]:
        """Give what the app said in the conversation."""
        return self.team.posted("C1", self.root)

    def result(self, text: str, *, attempt: int = 1, address: str = "") -> Outgoing:
        """Write a result on its way."""
        return self.message("thread.finished", text=text, attempt=attempt, address=address)

    def message(
        self,
        kind: OutgoingKind,
        *,
        text: str = "",
        question: QuestionCard | None = None,
        attempt: int = 1,
        address: str = "",
        ident: str = "th_1.9",
    ) -> Outgoing:
        """Write any message on its way."""
        return Outgoing(
            id=ident,
            thread="th_1",
            address=address or self.address,
            kind=kind,
            text=text,
            question=question,
            attempt=attempt,
        )


@asynccontextmanager
async def wired(
    *,
    options: LiveOptions = QUICK,
    pace: Pace | None = None,
    scopes: Iterable[str] = ALL_SCOPES,
) -> AsyncIterator[Wires]:
    """Furnish a double, let somebody say something, and give what can speak there."""
    async with SlackDouble() as slack:
        slack.world.echoes = False
        team = slack.workspace("T1", bot_token="xoxb-1", scopes=scopes)
        team.user("U1", name="ann")
        team.channel("C1", members=["U1", "UBOT"])
        team.channel("C2", members=["U1", "UBOT"])
        team.channel("C9", members=["U1", "UBOT"], archived=True)
        team.channel("C8", members=["U1"])
        root = (await team.says("U1", "C1", "<@UBOT> pay Ada back")).ts
        connections = Connections(slack.api_url)
        wires = Wires(
            slack=slack,
            team=team,
            root=root,
            connections=connections,
            options=options,
            pace=pace or Pace(seconds=0.0),
        )
        try:
            yield wires
        finally:
            await wires.live.close()
            await connections.close()
