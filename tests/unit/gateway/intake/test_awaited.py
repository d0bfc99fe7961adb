"""Who may answer a question that waits for an event: what happened, and who is asked."""

from __future__ import annotations

import pytest

from agent_core import Agent, ScriptedModel, ToolContext, call, calls, says, tool
from agent_core.thread.events import QuestionAnswered
from channels.people import Actor
from storage.memory import MemoryStore
from tests.unit.gateway.front_door import ANN, GUEST, OTTO, PLACE, FrontDoor
from tests.unit.gateway.workshop import workshop

EVENT = Actor(id="event:deploy/7", how="api key deploys")
VALUE = {"state": "ok"}


@tool
async def deploy(ctx: ToolContext) -> str:
    """Wait for a deployment."""
    await ctx.pause_for("event", "Deployment 7", key="deploy/7")


async def answered(actor: Actor, place: str) -> tuple[str, str]:
    """Let somebody answer from some place; give the effect, and what the log says of it."""
    model = ScriptedModel([calls(call("deploy")), says("done")])
    agent = Agent("agent", tools=[deploy], model=model)
    async with workshop(MemoryStore(), agent) as here:
        here.engine()
        door = FrontDoor(here, (), {"slack": "agent"})
        thread, (question,) = await door.asked("go")
        received = await door.decides(question, VALUE, actor, place=place)
        log = await here.log(thread)
    by = [one.how for one in log if isinstance(one, QuestionAnswered)]
    return received.effect, by[0] if by else ""


async def test_event_of_the_key_answers() -> None:
    """From its own address; the log says how the source is known."""
    assert await answered(EVENT, EVENT.id) == ("taken", "api key deploys")


@pytest.mark.parametrize(
    ("actor", "place"),
    [
        (Actor(id="event:deploy/8"), "event:deploy/8"),
        (Actor(id="event:deploy"), "event:deploy"),
        (EVENT, "webhook:ci:deploy/7"),
        (EVENT, PLACE),
        (Actor(id="webhook:ci"), "event:deploy/7"),
        (OTTO, PLACE),
        (GUEST, PLACE),
    ],
)
async def test_nobody_else_is_taken_for_the_event(actor: Actor, place: str) -> None:
    """Neither another key, nor a channel that names its actor like one, nor a bystander."""
    assert await answered(actor, place) == ("refused", "")


async def test_who_is_asked_may_answer_as_well() -> None:
    """By default who began the thread: a deployment that reports nothing can be told by hand."""
    assert (await answered(ANN, PLACE))[0] == "taken"
