"""Questions that find people elsewhere: a thread of the API, asked in Slack and by mail.

The channels are notebooks, the store is a real file, and each step may run in another process:
here, in parts that are made anew over the same file.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_core import Agent, ScriptedModel, call, calls, says, tool
from agent_core.thread.events import AnswerRefused, QuestionAnswered, ThreadId
from channels.channel import Channel
from channels.inbound import Decision
from channels.intake import Received
from channels.notebook import Notebook
from channels.people import Actor
from channels.web.channel import WebChannel
from gateway.control.local import LocalGateway
from gateway.control.views import Launch
from gateway.intake.channel_intake import ChannelIntake
from gateway.outbox.sender import Sender, SenderOptions
from gateway.people.directory import Directory
from gateway.people.routing import Routing
from gateway.settings.config import Person
from gateway.shortcuts.hints import Hints
from gateway.work.engine import Engine, EngineOptions
from storage.sqlite.store import SqliteStore
from storage.store import Store
from storage.values import Delivery

PEOPLE = Directory(
    [
        Person(name="otto", slack=("T1:UO",), email=("otto@x.org",), roles=("lead",)),
        Person(name="lea", email=("lea@x.org",), roles=("lead",)),
    ]
)
OTTO = Actor(id="slack:T1:UO", how="slack")
LEA = Actor(id="email:lea@x.org", email="lea@x.org", how="dmarc x.org")
EVE = Actor(id="slack:T1:UE", how="slack")
YES, NO = {"approved": True}, {"approved": False}
QUICK = SenderOptions(poll_seconds=0.01, linger_seconds=0.001)


@tool(approval=True, approvers=["lead"])
def deploy() -> str:
    """Deploy."""
    return "deployed"


def agent() -> Agent:
    """Make the agent that a process has: it deploys if it may."""
    return Agent(
        "release", tools=[deploy], model=ScriptedModel([calls(call("deploy")), says("ok")])
    )


class Process:
    """The parts of one process over the file."""

    def __init__(self, store: Store, slack: Notebook, email: Notebook) -> None:
        """Put them together."""
        agents = {"release": agent()}
        channels: dict[str, Channel] = {"web": WebChannel(), "slack": slack, "email": email}
        routing = Routing(PEOPLE, frozenset(channels))
        self.store = store
        self.hints = Hints(store)
        self.gateway = LocalGateway(store, agents, self.hints, routing=routing)
        self.intake = ChannelIntake(self.gateway, store, PEOPLE, {}, channels=channels)
        self.engine = Engine(
            store, agents, self.hints, options=EngineOptions(poll_seconds=0.02), routing=routing
        )
        self.sender = Sender(store, channels, self.hints, people=PEOPLE, options=QUICK)

    async def clicks(self, question: str, value: object, actor: Actor) -> Received:
        """Press a button, or follow a link."""
        decision = Decision(
            key=f"{actor.id}:{value}", place=actor.id, actor=actor, question=question, value=value
        )
        return await self.intake.receive(decision)

    async def told(self, thread: ThreadId, wanted: int) -> list[Delivery]:
        """Wait until so many messages are at their end."""
        async with asyncio.timeout(20):
            while True:
                rows = await self.store.deliveries(thread)
                if sum(row.status != "pending" for row in rows) >= wanted:
                    return rows
                await asyncio.sleep(0.01)


@asynccontextmanager
async def process(
    file: Path, slack: Notebook, email: Notebook, *, works: bool = True, sends: bool = True
) -> AsyncIterator[Process]:
    """Run a process until it ends; what it has not done, another finds."""
    store = SqliteStore(file)
    await store.open()
    here = Process(store, slack, email)
    parts = [here.hints.run()]
    parts += [here.engine.run()] if works else []
    parts += [here.sender.run()] if sends else []
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        yield here
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await store.close()


async def begin(here: Process) -> ThreadId:
    """Launch over the API."""
    view, _ = await here.gateway.launch(Launch(agent="release", text="go"), by="ci")
    return ThreadId(view.id)


async def asked(here: Process, thread: ThreadId) -> str:
    """Wait for the question."""
    view = await here.gateway.wait(thread, seconds=20)
    (question,) = view.questions
    return question.id


@pytest.mark.parametrize("first", [OTTO, LEA])
async def test_first_answer_from_either_channel_resumes_it_and_all_hear(
    tmp_path: Path, first: Actor
) -> None:
    """Asked in Slack and by mail; each step in a process of its own, as after a crash."""
    file, slack, email = tmp_path / "parley.db", Notebook(name="slack"), Notebook(name="email")
    async with process(file, slack, email, sends=False) as here:
        thread = await begin(here)
        question = await asked(here, thread)
    async with process(file, slack, email, works=False) as here:
        await here.told(thread, 3)
    async with process(file, slack, email, works=False, sends=False) as here:
        taken = await here.clicks(question, YES, first)
    async with process(file, slack, email) as here:
        view = await here.gateway.wait(thread, seconds=20)
        await here.told(thread, 7)
        late = await here.clicks(question, NO, LEA if first is OTTO else OTTO)
        log = await here.gateway.log(thread)

    assert [one.address for one in slack.tried] == ["slack:T1:UO"]
    assert [one.address for one in email.tried] == ["email:lea@x.org"]
    assert (taken.effect, view.status) == ("taken", "finished")
    settled = [one.question for _, one in (*slack.settled, *email.settled)]
    assert [PEOPLE.name(one.answered_by) for one in settled if one] == [PEOPLE.whois(first)] * 2
    assert late.effect == "refused"
    assert f"answered by {first.id}" in late.words
    assert [one.by for one in log if isinstance(one, QuestionAnswered)] == [first.id]


async def test_two_approvers_on_two_processes_make_one_outcome(tmp_path: Path) -> None:
    """Both click at once: one wins, the other is told, and every copy shows the same."""
    file, slack, email = tmp_path / "parley.db", Notebook(name="slack"), Notebook(name="email")
    async with process(file, slack, email) as one:
        two = Process(one.store, slack, email)  # it shares the file, and remembers nothing of it
        thread = await begin(one)
        question = await asked(one, thread)
        await one.told(thread, 3)
        both = await asyncio.gather(one.clicks(question, YES, OTTO), two.clicks(question, NO, LEA))
        await one.gateway.wait(thread, seconds=20)
        await one.told(thread, 7)
        log = await one.gateway.log(thread)

    assert sorted(received.effect for received in both) == ["refused", "taken"]
    (answer,) = [event for event in log if isinstance(event, QuestionAnswered)]
    shown = [copy.question.answer for _, copy in (*slack.settled, *email.settled) if copy.question]
    assert shown == [answer.value, answer.value]


async def test_nobody_else_decides_on_any_way(tmp_path: Path) -> None:
    """Somebody who is not asked is told so, and it is in the log; the question stays open."""
    file, slack, email = tmp_path / "parley.db", Notebook(name="slack"), Notebook(name="email")
    async with process(file, slack, email) as here:
        thread = await begin(here)
        question = await asked(here, thread)
        received = await here.clicks(question, YES, EVE)
        view = await here.gateway.question(question)
        log = await here.gateway.log(thread)

    assert (received.effect, view.status) == ("refused", "open")
    assert "for lead" in received.words
    assert [one.by for one in log if isinstance(one, AnswerRefused)] == [EVE.id]
