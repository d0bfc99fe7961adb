"""Regret: whoever approved takes that back in words, until it runs."""

from __future__ import annotations

import pytest

from agent_core.thread.events import ApprovalTakenBack, MessageReceived, ThreadId
from channels.people import Actor
from tests.unit.gateway.front_door import ANN, OTTO, FrontDoor, front_door

YES, NO = {"approved": True}, {"approved": False}
OTTO_BY_MAIL = Actor(id="email:otto@example.com", email="otto@example.com")


async def decided(door: FrontDoor, value: object = YES) -> ThreadId:
    """Decide about what is held, so that nothing runs yet."""
    thread, (question,) = await door.asked()
    await door.here.gateway.pause(thread, by="ann")
    await door.decides(question, value, OTTO)
    return thread


async def open_questions(door: FrontDoor, thread: ThreadId) -> int:
    """Count what is asked at the moment."""
    return len((await door.here.gateway.thread(thread)).questions)


@pytest.mark.parametrize(
    ("actor", "text"),
    [
        (OTTO, "I take it back!"),
        (OTTO_BY_MAIL, "take that back"),
        (OTTO, "Ich nehme das zurück."),
    ],
    ids=["as they approved", "another identity", "another language"],
)
async def test_whoever_approved_takes_it_back_before_it_runs(actor: Actor, text: str) -> None:
    """By any identity of theirs; it is asked anew."""
    async with front_door() as door:
        thread = await decided(door)
        received = await door.says(text, actor, is_addressed=False)
        log = await door.here.log(thread)
        asked = await open_questions(door, thread)

    assert (received.effect, received.words, asked) == ("taken", "", 1)
    (taken,) = [one for one in log if isinstance(one, ApprovalTakenBack)]
    assert taken.by == actor.id


@pytest.mark.parametrize(
    ("actor", "text", "value"),
    [
        (ANN, "I take it back", YES),
        (OTTO, "I take it back to the shop", YES),
        (OTTO, "I take it back", NO),
        (Actor(id=OTTO.id, is_authenticated=False), "I take it back", YES),
    ],
    ids=["somebody else", "other words", "it was a denial", "no proof"],
)
async def test_other_words_and_other_people_take_nothing_back(
    actor: Actor, text: str, value: object
) -> None:
    """They are kept for the agent as what they are."""
    async with front_door() as door:
        thread = await decided(door, value)
        received = await door.says(text, actor, is_addressed=False)
        last = await door.last(thread)

    assert received.effect == "taken"
    assert isinstance(last, MessageReceived)
    assert last.text == text


async def test_too_late_is_told_and_the_agent_hears_of_it() -> None:
    """It may know how to undo what has run."""
    async with front_door() as door:
        thread, (question,) = await door.asked()
        await door.decides(question, YES, OTTO)
        await door.here.rested(thread)
        await door.here.released(thread)
        received = await door.says("I take it back", OTTO, is_addressed=False)
        said = [one for one in await door.here.log(thread) if isinstance(one, MessageReceived)]

    assert received.words.startswith("It is too late to take that back: pay is over")
    assert "I take it back" in [one.text for one in said]
