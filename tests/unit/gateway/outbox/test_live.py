"""An agent at work, shown live by the channel that its thread began in."""

from __future__ import annotations

from agent_core import Agent, ScriptedModel, says
from agent_core.thread.events import ThreadId
from gateway.control.views import Launch
from storage.memory import MemoryStore
from tests.unit.gateway.workshop import workshop


class Onlooker:
    """Watches an agent work."""

    def __init__(self) -> None:
        """Have seen nothing."""
        self.seen: list[tuple[str, ...]] = []

    def working(self, thread: str, address: str) -> None:
        """See it begin."""
        self.seen.append(("working", thread, address))

    def wrote(self, thread: str, address: str, text: str) -> None:
        """See what it says."""
        self.seen.append(("wrote", thread, address, text))

    def rested(self, thread: str, address: str) -> None:
        """See it rest."""
        self.seen.append(("rested", thread, address))


async def test_channel_of_the_thread_is_shown_the_agent_at_work() -> None:
    """From the first step to the last word, and nobody else's threads."""
    onlooker = Onlooker()
    agent = Agent("agent", model=ScriptedModel([says("hello")]))
    async with workshop(MemoryStore(), agent) as here:
        here.engine(live={"slack": onlooker})
        launch = Launch(agent="agent", text="hi")
        shown, _ = await here.gateway.launch(launch, by="ann", origin="slack:T1:C1:1.1")
        await here.rested(ThreadId(shown.id))
        await here.rested(await here.launch())

    place = (shown.id, "slack:T1:C1:1.1")
    assert onlooker.seen == [("working", *place), ("wrote", *place, "hello"), ("rested", *place)]
