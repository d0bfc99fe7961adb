"""Mail and the whole gateway: who may decide by mail, and what a forger or a loop achieves."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from agent_core.thread.events import (
    AnswerRefused,
    MessageReceived,
    QuestionAnswered,
    ThreadLaunched,
)
from tests.unit.channels.email.letterbox import FORGED, PROVEN
from tests.unit.channels.email.letters import letter
from tests.unit.gateway.front_door import asks
from tests.unit.gateway.post_room import post_room

EVE = "eve@example.net"
EVES = "Authentication-Results: mx.example.com; dmarc=pass header.from=example.net"


async def test_mail_launches_and_a_reply_answers() -> None:
    """The log says who, and how we know."""
    async with post_room() as room:
        question = await room.asked("Subject: Pay it")
        done = await room.replies(question, "Yes", PROVEN)
        log = await room.log()

    assert done.effect == "taken"
    launched, said = log[:2]
    assert isinstance(launched, ThreadLaunched)
    assert launched.requester == "email:ada@example.org"
    assert isinstance(said, MessageReceived)
    assert said.text == "Subject: Pay it\n\nYes."
    [answered] = [event for event in log if isinstance(event, QuestionAnswered)]
    assert answered.value == {"approved": True}
    assert (answered.by, answered.how) == (
        "email:ada@example.org",
        "dmarc example.org by mx.example.com",
    )


async def test_approval_without_proof_decides_nothing_and_is_explained() -> None:
    """The words are kept for the agent; the question stays open."""
    async with post_room() as room:
        question = await room.asked()
        await room.replies(question, "yes")
        log = await room.log()

    assert not any(isinstance(event, QuestionAnswered) for event in log)
    assert "yes" in [event.text for event in log if isinstance(event, MessageReceived)]
    [note] = room.box.pad.sent
    assert note.to == "ada@example.org"


@pytest.mark.parametrize("proof", [(), (EVES,)])
async def test_stolen_address_of_a_question_helps_nobody(proof: tuple[str, ...]) -> None:
    """The token is needed, but who has it must be asked, too; nothing of theirs is passed on."""
    async with post_room() as room:
        question = await room.asked()
        before = len(await room.log())
        done = await room.replies(question, "yes", *proof, sender=EVE)
        log = await room.log()

    assert done.effect == "refused"
    new = log[before:]
    assert not any(isinstance(event, QuestionAnswered | MessageReceived) for event in new)
    assert all(isinstance(event, AnswerRefused) for event in new)
    assert len(room.box.pad.sent) == len(proof)


async def test_forged_mail_of_the_right_person_decides_nothing_in_silence() -> None:
    """Our own server says that it is forged."""
    async with post_room() as room:
        question = await room.asked()
        before = await room.log()
        done = await room.replies(question, "yes", FORGED)
        after = await room.log()

    assert (done.effect, after, room.box.pad.sent) == ("aside", before, [])


async def test_results_of_another_server_prove_nothing() -> None:
    """Anybody can write such a header."""
    forged = "Authentication-Results: mx.example.net; dmarc=pass header.from=example.org"
    async with post_room() as room:
        question = await room.asked()
        await room.replies(question, "yes", forged)
        log = await room.log()

    assert not any(isinstance(event, QuestionAnswered) for event in log)


async def test_who_learnt_of_a_message_id_has_no_part_in_its_thread() -> None:
    """References lead to the place, and not into it; and no mail of ours goes to them."""
    async with post_room(script=asks("which colour?")) as room:
        await room.asked()
        before = await room.log()
        raw = letter(
            EVES,
            "Message-ID: <e1@example.net>",
            "In-Reply-To: <m0@example.org>",
            sender=f"From: {EVE}",
            body="red\n",
        )
        done = await room.box.drop(raw)
        after = await room.log()
        place = await room.box.conversations.place_of(["<m0@example.org>"])
        known = await room.box.conversations.of(place)

    assert (done.effect, after) == ("refused", before)
    assert known is not None
    assert EVE not in {one.email for one in known.participants}


async def test_person_in_copy_may_join_the_conversation() -> None:
    """The writer has brought them in, with proof."""
    bob = "Authentication-Results: mx.example.com; dmarc=pass header.from=example.org"
    async with post_room(script=asks("which colour?")) as room:
        await room.asked("Cc: Bob <bob@example.org>")
        raw = letter(
            bob,
            "Message-ID: <b1@example.org>",
            "In-Reply-To: <m0@example.org>",
            sender="From: bob@example.org",
            body="I like blue.\n",
        )
        done = await room.box.drop(raw)
        log = await room.log()

    assert done.effect == "taken"
    said = [event.text for event in log if isinstance(event, MessageReceived)]
    assert "I like blue." in said


@pytest.mark.parametrize(("seconds", "answers"), [(-3_600, 0), (0, 1)])
async def test_yes_from_before_the_question_is_no_answer(seconds: float, answers: int) -> None:
    """A mail that was long on its way is about something else, unless it names the question."""
    async with post_room() as room:
        await room.asked()
        room.box.now = time.time()
        reply = letter(
            PROVEN,
            "Message-ID: <late@example.org>",
            "In-Reply-To: <m0@example.org>",
            f"Date: {formatdate(room.box.now + seconds)}",
            body="yes\n",
        )
        await room.box.drop(reply)
        log = await room.log()

    assert sum(isinstance(event, QuestionAnswered) for event in log) == answers


async def test_out_of_office_never_answers_a_question_in_words() -> None:
    """Nor is it answered: that is how loops begin."""
    async with post_room(script=asks("which colour?")) as room:
        question = await room.asked()
        before = await room.log()
        done = await room.replies(
            question, "I am away until Monday.", PROVEN, "Auto-Submitted: auto-replied"
        )
        after = await room.log()

    assert (done.effect, after, room.box.pad.sent) == ("aside", before, [])


async def test_late_answer_is_told_who_was_first() -> None:
    """And the agent gets what they wrote."""
    async with post_room(script=asks("which colour?")) as room:
        question = await room.asked()
        await room.replies(question, "red", PROVEN)
        done = await room.replies(question, "no, blue", PROVEN, name="m2")
        log = await room.log()

    assert done.effect == "taken"
    assert "answered by" in room.box.pad.sent[-1].text
    assert "no, blue" in [event.text for event in log if isinstance(event, MessageReceived)]
