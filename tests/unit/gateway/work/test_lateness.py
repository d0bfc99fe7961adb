"""Lateness: who answers after the moment of expiry is told so, although no timer has fired yet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent_core import (
    Agent,
    Escalation,
    HandDrivenWorld,
    Policy,
    ScriptedModel,
    Waiting,
    call,
    calls,
    contact_human,
    says,
)
from agent_core.errors import AlreadySettled
from agent_core.thread.events import AnswerRefused, MessageReceived, QuestionExpired
from gateway.people.directory import Directory
from gateway.people.routing import Routing
from storage.memory import MemoryStore
from tests.unit.gateway.council import COUNCIL, OTTO, YES, paying
from tests.unit.gateway.front_door import ANN, FrontDoor
from tests.unit.gateway.workshop import stop, workshop

HOUR = Waiting(expires_after=3_600, on_expiry="tell_agent")


@asynccontextmanager
async def late_by(
    seconds: float, agent: Agent | None = None, waiting: Waiting = HOUR
) -> AsyncIterator[tuple[FrontDoor, Any, str]]:
    """Ask, stop every worker, and let the hour pass and some seconds more."""
    clock = HandDrivenWorld()
    agent = agent or paying(Policy(), waiting=waiting)
    routing = Routing(Directory(COUNCIL))
    async with workshop(MemoryStore(), agent, world=clock.world, routing=routing) as here:
        door = FrontDoor(here, COUNCIL, {"slack": "agent"})
        machine = here.engine()
        thread, (question,) = await door.asked()
        await stop(machine.task)
        clock.pass_time(3_600 + seconds)
        yield door, thread, question


async def test_click_after_the_moment_is_refused_and_the_question_expires_by_it() -> None:
    """They are told when it was; the log has the attempt, and everybody sees how it ended."""
    async with late_by(0) as (door, thread, question):
        received = await door.decides(question, YES, OTTO)
        log = await door.here.log(thread)
        row = await door.here.gateway.question(question)

    assert (received.effect, "expired at 20" in received.words) == ("refused", True)
    assert [type(one) for one in log[-2:]] == [QuestionExpired, AnswerRefused]
    assert row.status == "expired"


async def test_click_before_the_moment_counts() -> None:
    """A second is a second."""
    async with late_by(-1) as (door, _thread, question):
        received = await door.decides(question, YES, OTTO)

    assert received.effect == "taken"


async def test_key_of_the_api_is_late_as_well() -> None:
    """By the question's id."""
    async with late_by(1) as (door, thread, question):
        with pytest.raises(AlreadySettled, match="expired at 20"):
            await door.here.gateway.answer(question, YES, by="otto")
        names = await door.here.names(thread)

    assert names[-2:] == ["QuestionExpired", "AnswerRefused"]


async def test_late_yes_is_told_so_and_kept_as_a_message() -> None:
    """Nothing that somebody says is lost."""
    async with late_by(1) as (door, thread, _question):
        received = await door.says("yes", OTTO, is_addressed=False)
        log = await door.here.log(thread)

    assert (received.effect, received.is_unclear) == ("taken", True)
    assert "expired at 20" in received.words
    assert [type(one) for one in log[-3:]] == [QuestionExpired, AnswerRefused, MessageReceived]


def _asking() -> Agent:
    script = [calls(call("contact_human", question="Which?")), says("thanks")]
    return Agent("agent", tools=[contact_human], model=ScriptedModel(script), waiting=HOUR)


async def test_late_answer_in_words_reaches_the_agent_as_a_message() -> None:
    """In the conversation."""
    async with late_by(1, _asking()) as (door, thread, _question):
        received = await door.says("the blue one", ANN)
        last = await door.last(thread)

    assert "It was passed on as a message." in received.words
    assert isinstance(last, MessageReceived)
    assert last.text == "the blue one"


async def test_words_over_the_api_that_come_late_are_a_message() -> None:
    """There, too, nothing is lost."""
    async with late_by(1, _asking()) as (door, thread, _question):
        await door.here.gateway.say(thread, "the blue one", by=ANN.id)
        last = await door.last(thread)

    assert isinstance(last, MessageReceived)


async def test_who_was_asked_first_may_answer_while_others_have_their_turn() -> None:
    """Escalation ends nothing."""
    chain = (Escalation(("kim",)),)
    waiting = Waiting(expires_after=3_600, on_expiry="escalate", escalate_to=chain)
    async with late_by(1, waiting=waiting) as (door, _thread, question):
        received = await door.decides(question, YES, OTTO)

    assert received.effect == "taken"
