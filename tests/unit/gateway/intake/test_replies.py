"""Replies that bring proof of the thread and the question they belong to, as mail does."""

from __future__ import annotations

from agent_core.thread.events import MessageReceived, QuestionAnswered, ThreadId
from channels.people import Actor
from tests.unit.gateway.front_door import asks, front_door

MAIL = "email:otto@example.com:00000000000000aa"
OTTO = Actor(id="email:otto@example.com", email="otto@example.com", how="dmarc example.com")
UNPROVEN = Actor(id="email:otto@example.com", is_authenticated=False)
STRANGER = Actor(id="email:eve@example.org", email="eve@example.org")


async def test_reply_with_proof_goes_into_its_thread_from_any_place() -> None:
    """A colleague whom the operator knows takes part from where they are."""
    async with front_door(works=False) as door:
        first = await door.says("hello")
        reply = await door.says("me too", OTTO, place=MAIL, thread=first.thread)
        last = await door.last(ThreadId(first.thread))

    assert (reply.effect, reply.thread) == ("taken", first.thread)
    assert isinstance(last, MessageReceived)
    assert (last.text, last.sender) == ("me too", OTTO.id)


async def test_proof_of_a_thread_that_is_gone_begins_another() -> None:
    """It was purged since; what somebody writes is not lost with it."""
    async with front_door(works=False, routes={"email": "agent"}) as door:
        received = await door.says("hello", OTTO, place=MAIL, thread="th_gone")

    assert (received.effect, received.is_new) == ("taken", True)


async def test_stranger_with_the_threads_address_is_refused() -> None:
    """Whoever a mail was passed on to does not belong to the conversation for that."""
    async with front_door(works=False) as door:
        first = await door.says("hello")
        reply = await door.says("let me in", STRANGER, place=MAIL, thread=first.thread)
        log = await door.here.log(ThreadId(first.thread))

    assert (reply.effect, reply.is_stranger, len(log)) == ("refused", True, 2)
    assert "no part in this conversation" in reply.words


async def test_known_name_without_proof_of_who_it_is_is_a_stranger() -> None:
    """Anybody can write any From."""
    async with front_door(works=False) as door:
        first = await door.says("hello")
        reply = await door.says("it is me", UNPROVEN, place=MAIL, thread=first.thread)

    assert (reply.effect, reply.is_stranger) == ("refused", True)


async def test_who_was_brought_in_may_speak() -> None:
    """Those in Cc are in the conversation."""
    async with front_door(works=False) as door:
        first = await door.says("hello", others=(STRANGER.id,))
        reply = await door.says("thanks", STRANGER, place=MAIL, thread=first.thread)

    assert (reply.effect, reply.is_stranger) == ("taken", False)


async def test_reply_answers_the_question_it_replies_to() -> None:
    """Also where several are open: the reply knows which. The log keeps how they were known."""
    script = asks("Colour?", "Size?", to=["otto"])
    async with front_door(script=script) as door:
        thread, (_colour, size) = await door.asked()
        reply = await door.says("large", OTTO, place=MAIL, thread=thread, question=size)
        await door.here.released(thread)
        answered = [one for one in await door.here.log(thread) if isinstance(one, QuestionAnswered)]

    assert reply.effect == "taken"
    assert [(one.question, one.value, one.how) for one in answered] == [
        (size, "large", "dmarc example.com")
    ]


async def test_unclear_reply_is_kept_and_told_what_is_expected() -> None:
    """Nothing is guessed: the question stays open, the agent gets the text later."""
    async with front_door(script=None) as door:
        thread, (question,) = await door.asked()
        reply = await door.says("hm, perhaps", OTTO, place=MAIL, thread=thread, question=question)
        last = await door.last(thread)

    assert (reply.effect, reply.is_unclear) == ("taken", True)
    assert 'Reply "yes" or "no"' in reply.words
    assert isinstance(last, MessageReceived)
    assert last.text == "hm, perhaps"


async def test_reply_to_a_settled_question_is_a_message() -> None:
    """There is nothing left to be unclear about."""
    async with front_door() as door:
        thread, (question,) = await door.asked()
        await door.decides(question, {"approved": False}, OTTO)
        await door.here.rested(thread)
        reply = await door.says("fine", OTTO, place=MAIL, thread=thread, question=question)

    assert (reply.effect, reply.is_unclear, reply.words) == ("taken", False, "")
