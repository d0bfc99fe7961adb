"""Intake for channels: one effect for each message, and only those decide who may."""

from __future__ import annotations

import asyncio

import pytest

from agent_core.thread.events import (
    AnswerRefused,
    Attachment,
    MessageReceived,
    QuestionAnswered,
    ThreadId,
    ThreadLaunched,
)
from channels.inbound import Stop
from channels.people import Actor
from storage.values import Wish
from tests.unit.gateway.front_door import (
    ANN,
    BOT,
    GUEST,
    OTTO,
    PLACE,
    FrontDoor,
    asks,
    front_door,
)

YES = {"approved": True}


async def threads(door: FrontDoor) -> list[str]:
    """Give all threads."""
    return [row.id for row in (await door.store.threads(Wish())).items]


# --- words ----------------------------------------------------------------------------------------


async def test_mention_begins_a_thread_where_it_was_said() -> None:
    """Its answers go back there, and who wrote is who began it."""
    async with front_door(works=False) as door:
        received = await door.says("hello", attachments=(Attachment(name="a.txt", text="x"),))
        launched, said = await door.here.log(ThreadId(received.thread))

    assert (received.effect, received.is_new) == ("taken", True)
    assert isinstance(launched, ThreadLaunched)
    assert (launched.origin, launched.requester) == (PLACE, ANN.id)
    assert isinstance(said, MessageReceived)
    assert (said.text, [file.name for file in said.attachments]) == ("hello", ["a.txt"])


async def test_copy_of_a_message_has_no_second_effect() -> None:
    """By its key, whatever else is different; also while the thread has moved on."""
    async with front_door() as door:
        first = await door.says("hello", key="same")
        again = await door.says("hello", key="same")
        await door.here.rested(ThreadId(first.thread))
        late = await door.says("hello", key="same", is_addressed=False)
        log = await door.here.log(ThreadId(first.thread))

    assert (again.effect, again.thread) == ("copy", first.thread)
    assert (late.effect, late.thread) == ("copy", first.thread)
    assert sum(isinstance(event, MessageReceived) for event in log) == 1


async def test_many_copies_at_once_make_one_thread() -> None:
    """Slack sends a mention twice, in any order, and again when it is impatient."""
    async with front_door(works=False) as door:
        received = await asyncio.gather(*(door.says("hello", key="same") for _ in range(20)))
        (thread,) = await threads(door)

    assert {one.thread for one in received} == {thread}
    assert sorted(one.effect for one in received) == ["copy"] * 19 + ["taken"]


async def test_two_mentions_at_once_in_one_place_make_one_thread() -> None:
    """The second is said in the thread that the first began."""
    async with front_door(works=False) as door:
        received = await asyncio.gather(*(door.says(f"number {n}") for n in range(10)))
        (thread,) = await threads(door)
        log = await door.here.log(ThreadId(thread))

    assert {one.thread for one in received} == {thread}
    assert sum(isinstance(event, MessageReceived) for event in log) == 10


async def test_words_that_are_not_for_the_agent_begin_nothing() -> None:
    """People talk to each other, too."""
    async with front_door(works=False) as door:
        received = await door.says("lunch?", is_addressed=False)

        assert (received.effect, await threads(door)) == ("ignored", [])


async def test_reply_in_the_agents_thread_needs_no_mention() -> None:
    """It is in that conversation already."""
    async with front_door(works=False) as door:
        first = await door.says("hello")
        reply = await door.says("and this", OTTO, is_addressed=False)
        last = await door.last(ThreadId(first.thread))

    assert (reply.effect, reply.thread) == ("taken", first.thread)
    assert isinstance(last, MessageReceived)
    assert (last.text, last.sender) == ("and this", OTTO.id)


async def test_bots_are_never_heard() -> None:
    """Two of them would talk for ever."""
    async with front_door(works=False) as door:
        received = await door.says("hello", BOT)

        assert (received.effect, received.words, await threads(door)) == ("ignored", "", [])


async def test_outsider_begins_nothing_and_is_told() -> None:
    """Politely if they meant us, silently if not."""
    async with front_door(works=False) as door:
        mention = await door.says("hello", GUEST)
        await door.says("hello")
        aside = await door.says("me too", GUEST, is_addressed=False)

    assert (mention.effect, "this organisation" in mention.words) == ("refused", True)
    assert (aside.effect, aside.words) == ("ignored", "")


async def test_without_a_route_people_are_told_what_is_missing() -> None:
    """Nothing is lost in silence."""
    async with front_door(works=False, routes={}) as door:
        received = await door.says("hello")

    assert received.effect == "refused"
    assert "[routes]" in received.words


async def test_cancelled_conversation_says_so() -> None:
    """A thread that was cancelled takes no more messages."""
    async with front_door() as door:
        thread, _ = await door.asked()
        await door.here.gateway.cancel(thread, by="ann")
        received = await door.says("go on")

    assert (received.effect, "cancelled" in received.words) == ("refused", True)


async def test_edit_of_a_taken_message_is_a_correction() -> None:
    """The agent hears what it says now; an edit of anything else is nothing to us."""
    async with front_door(works=False) as door:
        first = await door.says("refund 10", key="m")
        edit = await door.edits("m", "refund 20")
        other = await door.edits("never seen", "x")
        last = await door.last(ThreadId(first.thread))

    assert (edit.effect, other.effect) == ("taken", "ignored")
    assert isinstance(last, MessageReceived)
    assert last.text.startswith("Correction")
    assert last.text.endswith("refund 20")


# --- answers in words -----------------------------------------------------------------------------


async def test_words_answer_the_one_question_that_takes_them() -> None:
    """From whoever is asked, in the place where it was asked."""
    async with front_door(script=asks("Which size?")) as door:
        thread, (question,) = await door.asked()
        received = await door.says("large", is_addressed=False)
        await door.here.rested(thread)
        answered = [one for one in await door.here.log(thread) if isinstance(one, QuestionAnswered)]

    assert received.effect == "taken"
    assert [(one.question, one.value, one.by) for one in answered] == [(question, "large", ANN.id)]


async def test_bystander_answers_nothing() -> None:
    """What they say is kept, and the question stays open."""
    async with front_door(script=asks("Which size?")) as door:
        thread, (question,) = await door.asked()
        await door.says("small!", OTTO, is_addressed=False)
        row = await door.here.gateway.question(question)
        last = await door.last(thread)

    assert row.status == "open"
    assert isinstance(last, MessageReceived)
    assert last.text == "small!"


async def test_plain_yes_of_an_approver_approves() -> None:
    """As a click on the button would."""
    async with front_door() as door:
        thread, _ = await door.asked()
        await door.says("yes", OTTO, is_addressed=False)
        view = await door.here.rested(thread)

    assert (view.status, view.result) == ("finished", "done")


@pytest.mark.parametrize(("late_by", "status"), [(-1, "open"), (0, "answered"), (1, "answered")])
async def test_yes_from_before_the_question_approves_nothing(late_by: int, status: str) -> None:
    """A message that was held up on its way was about something else: it is only a message."""
    async with front_door() as door:
        _, (question,) = await door.asked()
        asked_at = (await door.here.gateway.question(question)).asked_at
        said_at = round(asked_at.timestamp() * 1000) + late_by
        received = await door.says("yes", OTTO, is_addressed=False, said_at=said_at)

        assert received.effect == "taken"
        assert (await door.here.gateway.question(question)).status == status


async def test_yes_of_somebody_else_is_only_a_message() -> None:
    """Also of the one who began it: the tool names its approvers."""
    async with front_door() as door:
        _, (question,) = await door.asked()
        received = await door.says("yes", ANN, is_addressed=False)

        assert received.effect == "taken"
        assert (await door.here.gateway.question(question)).status == "open"


async def test_yes_that_nobody_vouches_for_approves_nothing() -> None:
    """An approval needs proof of who it is; words alone are kept."""
    forged = Actor(id=OTTO.id, is_authenticated=False)
    async with front_door() as door:
        _, (question,) = await door.asked()
        await door.says("yes", forged, is_addressed=False)
        click = await door.decides(question, YES, forged)

        assert click.effect == "refused"
        assert (await door.here.gateway.question(question)).status == "open"


async def test_unclear_yes_is_asked_which_one() -> None:
    """Two questions take it: neither is answered, and both are named."""
    async with front_door(script=asks("Ship it?", "Tell the customer?", kind="yes/no")) as door:
        thread, both = await door.asked()
        received = await door.says("yes", is_addressed=False)
        before = await door.here.gateway.thread(thread)

    assert received.effect == "refused"
    assert all(words in received.words for words in ("Which one", "Ship it?", "Tell the customer?"))
    assert [one.id for one in before.questions] == both


async def test_files_that_come_with_an_answer_are_kept() -> None:
    """The answer is words; the files follow as a message."""
    async with front_door(script=asks("Which size?")) as door:
        thread, _ = await door.asked()
        await door.says("see there", attachments=(Attachment(name="sizes.csv"),))
        await door.here.rested(thread)
        log = await door.here.log(thread)

    files = [one.attachments for one in log if isinstance(one, MessageReceived)][-1]
    assert [file.name for file in files] == ["sizes.csv"]


# --- decisions ------------------------------------------------------------------------------------


async def test_click_of_an_approver_decides() -> None:
    """The tool runs, and the log says who."""
    async with front_door() as door:
        thread, (question,) = await door.asked()
        received = await door.decides(question, YES)
        view = await door.here.rested(thread)
        row = await door.here.gateway.question(question)

    assert (received.effect, view.result) == ("taken", "done")
    assert (row.answered_by, row.answer) == (OTTO.id, YES)


async def test_click_of_somebody_else_is_refused_and_noted() -> None:
    """They are told whom it is for; the attempt stays in the log."""
    async with front_door() as door:
        thread, (question,) = await door.asked()
        received = await door.decides(question, YES, ANN)
        last = await door.last(thread)
        row = await door.here.gateway.question(question)

    assert (received.effect, "for otto" in received.words) == ("refused", True)
    assert isinstance(last, AnswerRefused)
    assert (last.by, row.status) == (ANN.id, "open")


async def test_second_click_is_told_who_was_first() -> None:
    """And the log keeps it; the first one counts."""
    async with front_door() as door:
        thread, (question,) = await door.asked()
        await door.decides(question, {"approved": False}, comment="not now")
        received = await door.decides(question, YES)
        await door.here.rested(thread)
        row = await door.here.gateway.question(question)
        refused = [one for one in await door.here.log(thread) if isinstance(one, AnswerRefused)]

    assert received.effect == "refused"
    assert f"answered by {OTTO.id}" in received.words
    assert (row.answer, row.comment, len(refused)) == ({"approved": False}, "not now", 1)


async def test_redelivered_click_is_a_copy() -> None:
    """Not a second answer that would be refused."""
    async with front_door() as door:
        _, (question,) = await door.asked()
        await door.decides(question, YES, key="click")
        again = await door.decides(question, YES, key="click")

    assert (again.effect, again.words) == ("copy", "")


async def test_many_clicks_at_once_make_one_decision() -> None:
    """The first valid one wins, everywhere."""
    async with front_door() as door:
        thread, (question,) = await door.asked()
        received = await asyncio.gather(*(door.decides(question, YES) for _ in range(10)))
        await door.here.rested(thread)
        log = await door.here.log(thread)

    assert sorted(one.effect for one in received) == ["refused"] * 9 + ["taken"]
    assert sum(isinstance(event, QuestionAnswered) for event in log) == 1


async def test_answer_of_the_wrong_shape_can_be_mended() -> None:
    """The question stays open, and the words say what would fit."""
    async with front_door() as door:
        _, (question,) = await door.asked()
        received = await door.decides(question, {"approved": "maybe"})

        assert (received.effect, received.is_shape) == ("refused", True)
        assert (await door.here.gateway.question(question)).status == "open"


async def test_question_that_is_not_here_is_said_to_be_gone() -> None:
    """Clear words for a button from another life."""
    async with front_door(works=False) as door:
        received = await door.decides("q_none", YES)

    assert (received.effect, "not here" in received.words) == ("refused", True)


# --- orders ---------------------------------------------------------------------------------------


async def test_status_tells_what_is_under_way() -> None:
    """And what it waits for; others' threads are not shown."""
    async with front_door() as door:
        thread, _ = await door.asked()
        mine = await door.orders("status")
        theirs = await door.orders("status", actor=OTTO)

    assert thread in mine.words
    assert "waits for an answer" in mine.words
    assert theirs.words == "Nothing of yours is under way."


async def test_pause_and_resume_find_the_only_thread() -> None:
    """Without its id, and with an instruction."""
    async with front_door(works=False) as door:
        thread = (await door.says("hello")).thread
        paused = await door.orders("pause")
        held = await door.here.gateway.thread(thread)
        resumed = await door.orders("resume", "be brief")
        last = await door.last(ThreadId(thread))

    assert (paused.thread, held.status, resumed.thread) == (thread, "paused", thread)
    assert getattr(last, "instruction", "") == "be brief"


async def test_order_about_one_of_several_asks_which() -> None:
    """Named by their ids; with the id it is done."""
    async with front_door(works=False) as door:
        one = (await door.says("one")).thread
        two = (await door.says("two", place="slack:T1:C1:1700.2")).thread
        unclear = await door.orders("cancel")
        done = await door.orders("cancel", f"{two} not needed")
        first, second = [(await door.here.gateway.thread(key)).status for key in (one, two)]

    assert unclear.effect == "refused"
    assert one in unclear.words
    assert two in unclear.words
    assert (done.effect, first, second) == ("taken", "queued", "cancelled")


async def test_order_touches_nothing_that_is_under_way_elsewhere() -> None:
    """It is named, and has to be named back."""
    async with front_door(works=False) as door:
        thread = (await door.says("one", place="slack:T1:C2:1700.1")).thread
        received = await door.orders("cancel")
        view = await door.here.gateway.thread(thread)

    assert (received.effect, thread in received.words, view.status) == ("refused", True, "queued")


async def test_only_who_began_it_may_steer() -> None:
    """Others are told whose it is."""
    async with front_door(works=False) as door:
        thread = (await door.says("hello")).thread
        received = await door.orders("cancel", thread, OTTO)
        unknown = await door.orders("cancel", "th_none")
        view = await door.here.gateway.thread(thread)

    assert (received.effect, ANN.id in received.words) == ("refused", True)
    assert (unknown.effect, view.status) == ("refused", "queued")


async def test_help_is_always_there() -> None:
    """Also for strangers."""
    async with front_door(works=False) as door:
        assert "/parley status" in (await door.orders("help", actor=GUEST)).words


@pytest.mark.parametrize("actor", [ANN, OTTO])
async def test_stop_cancels_what_runs_in_the_place(actor: Actor) -> None:
    """For who began it; nobody else."""
    async with front_door(works=False) as door:
        thread = (await door.says("hello")).thread
        received = await door.intake.receive(Stop(key="s", place=PLACE, actor=actor))
        status = (await door.here.gateway.thread(thread)).status
        elsewhere = await door.intake.receive(Stop(key="t", place="slack:T1:C9:1", actor=actor))

    wanted = ("taken", "cancelled") if actor is ANN else ("refused", "queued")
    assert (received.effect, status) == wanted
    assert elsewhere.effect == "ignored"


async def test_source_may_say_who_answers_and_which_agent() -> None:
    """A pipeline is no person: those whom its operator names are asked."""
    async with front_door(script=asks("Deploy?"), routes={}) as door:
        pipeline = Actor(id="webhook:ci")
        first = await door.says("v2 is built", pipeline, agent="agent", audience=("boss",))
        thread = ThreadId(first.thread)
        (question,) = (await door.here.rested(thread)).questions
        forbidden = await door.says("go", pipeline, is_addressed=False)
        allowed = await door.says("go", OTTO, is_addressed=False)
        row = await door.here.gateway.question(question.id)

    assert question.audience == ["boss"]
    assert (forbidden.effect, allowed.effect) == ("taken", "taken")
    assert (row.answer, row.answered_by) == ("go", OTTO.id)


# --- mail -----------------------------------------------------------------------------------------


async def test_choice_is_looked_for_in_ones_own_words() -> None:
    """What is quoted and answered line by line is no answer by itself, but the agent sees it."""
    async with front_door(script=asks("which?", kind="choice", options=["red", "blue"])) as door:
        thread, _ = await door.asked()
        await door.says("> red or blue?\nblue", words="blue")
        answered = await door.last(thread)

    assert isinstance(answered, QuestionAnswered)
    assert answered.value == "blue"


async def test_nobody_walks_into_a_private_conversation() -> None:
    """Who learnt of the place has no part in the thread by that."""
    async with front_door() as door:
        thread, _ = await door.asked()
        before = await door.here.log(thread)
        stranger = Actor(id="email:eve@example.net")
        received = await door.says("let me in", stranger, is_private=True)

        assert (received.effect, received.is_stranger) == ("refused", True)
        assert await door.here.log(thread) == before
