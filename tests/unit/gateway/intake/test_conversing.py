"""Conversing: answers in words of those who may, and of those who may not."""

from __future__ import annotations

from agent_core import call, calls, says
from agent_core.thread.events import AnswerRefused, MessageReceived, QuestionAnswered
from channels.people import Actor
from tests.unit.gateway.front_door import ANN, OTTO, asks, front_door

PAY_TWICE = [calls(call("pay", amount=1), call("pay", amount=2)), says("done")]


async def test_yes_of_somebody_else_is_told_whom_it_is_for() -> None:
    """Politely, to them alone; the attempt is in the log, and so is what they said."""
    async with front_door() as door:
        thread, (question,) = await door.asked()
        received = await door.says("yes", ANN, is_addressed=False)
        *_, refused, heard = await door.here.log(thread)

    assert (received.effect, received.is_unclear) == ("taken", True)
    assert received.words.startswith("This question is for otto: you may not answer it")
    assert isinstance(refused, AnswerRefused)
    assert (refused.question, refused.by) == (question, ANN.id)
    assert isinstance(heard, MessageReceived)


async def test_bystanders_chatter_is_left_alone() -> None:
    """What people say to each other is no attempt at an answer."""
    async with front_door() as door:
        await door.asked()
        chatter = await door.says("I wonder about that", ANN, is_addressed=False)
    async with front_door(script=asks("Which size?", to=["otto"])) as door:
        thread, _ = await door.asked()
        words = await door.says("large, I think", ANN, is_addressed=False)
        log = await door.here.log(thread)

    assert (chatter.words, words.words) == ("", "")
    assert not [one for one in log if isinstance(one, AnswerRefused)]


async def test_approver_without_proof_is_told_what_is_missing() -> None:
    """Not that they may not: that nobody can tell it is them."""
    forged = Actor(id=OTTO.id, is_authenticated=False)
    async with front_door() as door:
        await door.asked()
        received = await door.says("yes", forged, is_addressed=False)

    assert "needs proof that it is you" in received.words


async def test_reply_to_a_question_of_others_is_told_so() -> None:
    """Also where it takes any words: the mail says which question it replies to."""
    async with front_door(script=asks("Which size?", to=["otto"])) as door:
        thread, (question,) = await door.asked()
        received = await door.says("large", ANN, thread=thread, question=question)
        view = await door.here.gateway.question(question)

    assert "for otto" in received.words
    assert view.status == "open"


async def test_one_of_two_is_answered_by_its_number() -> None:
    """As the one who asked which was told."""
    async with front_door(script=PAY_TWICE) as door:
        thread, (_, second) = await door.asked()
        asked = await door.says("yes", OTTO, is_addressed=False)
        received = await door.says("2: yes", OTTO, is_addressed=False)
        answered = [one for one in await door.here.log(thread) if isinstance(one, QuestionAnswered)]

    assert asked.effect == "refused"
    assert '"1: yes"' in asked.words
    assert received.effect == "taken"
    assert [one.question for one in answered] == [second]


async def test_number_keeps_its_question_when_another_is_settled() -> None:
    """The first was decided meanwhile: the second is still number two."""
    async with front_door(script=PAY_TWICE) as door:
        thread, (first, second) = await door.asked()
        await door.decides(first, {"approved": False})
        gone = await door.says("1: yes", OTTO, is_addressed=False)
        await door.says("2: yes", OTTO, is_addressed=False)
        answered = [one for one in await door.here.log(thread) if isinstance(one, QuestionAnswered)]

    assert "Question 1 is not open" in gone.words
    assert [(one.question, one.value) for one in answered] == [
        (first, {"approved": False}),
        (second, {"approved": True}),
    ]


async def test_late_reply_stays_in_the_log() -> None:
    """With who was first; the words are kept."""
    async with front_door() as door:
        thread, (question,) = await door.asked()
        await door.decides(question, {"approved": False})
        await door.here.rested(thread)
        await door.says("yes", OTTO, thread=thread, question=question)
        log = await door.here.log(thread)

    (refused,) = [one for one in log if isinstance(one, AnswerRefused)]
    assert f"it was answered by {OTTO.id}" in refused.reason
