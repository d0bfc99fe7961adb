"""Logs for the pure tests, written by the library itself in a world driven by hand."""

from __future__ import annotations

from agent_core import Agent, HandDrivenWorld, ScriptedModel, Waiting, call, calls, says, tool
from agent_core.models.model import ModelReply
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.fold import fold
from agent_core.thread.fork import fork
from agent_core.thread.questions import QuestionId
from agent_core.thread.timers import due

ORIGIN = "web:th_1"
NOW = Millis(1_767_225_600_000)


@tool(approval=True, approvers=["otto"])
async def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool
async def look() -> str:
    """Look."""
    return "seen"


async def asking(*turns: ModelReply, origin: str = ORIGIN, waiting: Waiting | None = None) -> Log:
    """Run an agent up to its questions."""
    clock = HandDrivenWorld()
    turns = turns or (calls(call("pay", amount=1), call("pay", amount=2)), says("done"))
    agent = Agent(
        "agent",
        tools=[pay, look],
        model=ScriptedModel(turns),
        world=clock.world,
        waiting=waiting or Waiting(),
    )
    thread = agent.launch("hello", requester="lisa", origin=origin, thread="th_1")
    await thread.run()
    return Log(agent, clock, list(thread.events))


class Log:
    """A log that can be driven on."""

    def __init__(self, agent: Agent, clock: HandDrivenWorld, events: list[Event]) -> None:
        """Take over what there is."""
        self.agent = agent
        self.clock = clock
        self.events = events

    @property
    def open(self) -> list[QuestionId]:
        """The questions that are open."""
        return list(fold(self.events).open_questions)

    def add(self, *events: Event) -> Log:
        """Append."""
        self.events += events
        return self

    def fire(self, seconds: int) -> Log:
        """Let time pass, and append what the timers say."""
        self.clock.pass_time(seconds)
        return self.add(*due(fold(self.events), self.clock.moment))

    def forked(self) -> Log:
        """Copy the log, with its open questions asked anew."""
        copy = fork(
            self.events,
            at_seq=None,
            thread=ThreadId("th_2"),
            now=self.clock.moment,
            new_question=lambda: QuestionId(self.clock.world.new_id("q")),
        )
        return Log(self.agent, self.clock, copy)
