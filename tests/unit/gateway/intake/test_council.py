"""Several people decide: on every way in, with every identity, and nobody twice."""

from __future__ import annotations

import asyncio

import pytest

from agent_core import Policy, ToolContext, call, calls, says, tool
from agent_core.errors import AlreadySettled, AlreadyVoted, MayNotDecide, TooLate
from agent_core.thread.events import (
    AnswerRefused,
    QuestionAnswered,
    QuestionWithdrawn,
    ThreadId,
    ThreadLaunched,
    VoteCast,
)
from channels.people import Actor
from gateway.control.service import NotFound
from gateway.control.views import Launch
from gateway.settings.config import Person
from tests.unit.gateway.council import (
    ANN,
    ANN_BY_MAIL,
    COUNCIL,
    EVE,
    KIM,
    LEA,
    LESS,
    NO,
    OTTO,
    OTTO_BY_MAIL,
    YES,
    council,
)
from tests.unit.gateway.front_door import asks

TWO = Policy(quorum=2)
FOUR_EYES = Policy(not_requester=True)


# --- quorum ---------------------------------------------------------------------------------------


async def test_second_person_decides() -> None:
    """One by a button, one in words; the index shows who has said what meanwhile."""
    async with council(TWO) as door:
        thread, (question,) = await door.asked()
        first = await door.decides(question, YES, OTTO)
        between = await door.here.gateway.question(question)
        second = await door.says("yes", LEA, is_addressed=False)
        view = await door.here.rested(thread)
        after = await door.here.gateway.question(question)

    assert (first.effect, second.effect) == ("taken", "taken")
    assert (between.status, between.quorum) == ("open", 2)
    assert [(one.by, one.approved) for one in between.votes] == [(OTTO.id, True)]
    assert (after.status, [one.by for one in after.votes]) == ("answered", [OTTO.id, LEA.id])
    assert view.result == "done"


async def test_same_person_by_another_door_counts_once_and_is_told() -> None:
    """Slack and mail are one otto."""
    async with council(TWO) as door:
        thread, (question,) = await door.asked()
        await door.decides(question, YES, OTTO)
        again = await door.decides(question, YES, OTTO_BY_MAIL, place="email:otto@x.org")
        log = await door.here.log(thread)

    assert (again.effect, "one more person" in again.words) == ("refused", True)
    assert sum(isinstance(event, VoteCast) for event in log) == 1


async def test_somebody_known_by_their_profile_alone_counts_once() -> None:
    """A Slack user whom parley.toml lists by mail only."""
    profiled = Actor(id="slack:T1:UNEW", email="lea@x.org", name="lea")
    async with council(TWO) as door:
        thread, (question,) = await door.asked()
        await door.decides(question, YES, profiled)
        again = await door.decides(question, YES, LEA)
        vote = next(one for one in await door.here.log(thread) if isinstance(one, VoteCast))

    assert again.effect == "refused"
    assert (vote.by, vote.person) == ("slack:T1:UNEW", "lea")


async def test_two_keys_are_two_people_and_one_key_is_one() -> None:
    """The key is the operator's trust in a program; it is still one voice."""
    async with council(TWO) as door:
        _thread, (question,) = await door.asked()
        open_ = await door.here.gateway.answer(question, YES, by="desk")
        with pytest.raises(AlreadyVoted):
            await door.here.gateway.answer(question, YES, by="desk")
        done = await door.here.gateway.answer(question, YES, by="audit")

    assert (open_.status, done.status) == ("open", "answered")


async def test_key_with_a_persons_name_decides_only_what_they_may() -> None:
    """The API is one more way in; a key of nobody's name is the operator's own program."""
    sue = Person(name="sue", email=("sue@x.org",), roles=("operator",))
    async with council(Policy(), people=(*COUNCIL, sue)) as door:
        thread, (question,) = await door.asked()
        with pytest.raises(MayNotDecide, match="for lead: sue may not"):
            await door.here.gateway.answer(question, YES, by="sue")
        refused = await door.last(thread)
        done = await door.here.gateway.answer(question, YES, by="lea")

    assert isinstance(refused, AnswerRefused)
    assert (refused.by, done.status) == ("sue", "answered")


async def test_edit_starts_the_count_anew_and_shows_the_difference() -> None:
    """Only approvals of the very same thing count together."""
    async with council(TWO) as door:
        thread, (question,) = await door.asked()
        await door.decides(question, YES, OTTO)
        await door.decides(question, LESS, LEA)
        between = await door.here.gateway.question(question)
        await door.decides(question, LESS, KIM)
        await door.here.rested(thread)
        after = await door.here.gateway.question(question)
        events = [event.model_dump() for event in await door.here.gateway.events(thread)]

    assert between.status == "open"
    assert [(one.name, one.before, one.after) for one in between.votes[1].changes] == [
        ("amount", 49, 20)
    ]
    assert between.votes[1].arguments == {"amount": 20}
    assert [(one.name, one.before, one.after) for one in after.changes] == [("amount", 49, 20)]
    assert [one["result"] for one in events if one["type"] == "ToolReturned"] == ["paid 20"]


async def test_veto_ends_it_with_its_comment() -> None:
    """The model is told who said no, and why."""
    async with council(TWO) as door:
        thread, (question,) = await door.asked()
        await door.decides(question, YES, OTTO)
        await door.says("no, too much", LEA, is_addressed=False)
        await door.here.rested(thread)
        after = await door.here.gateway.question(question)

    assert (after.status, after.answer, after.comment) == ("answered", NO, "too much")


async def test_nobody_outside_the_audience_votes() -> None:
    """And the attempt is in the log."""
    async with council(TWO) as door:
        thread, (question,) = await door.asked()
        refused = await door.decides(question, YES, EVE)
        last = await door.last(thread)

    assert refused.effect == "refused"
    assert isinstance(last, AnswerRefused)


async def test_many_votes_at_once_have_one_outcome() -> None:
    """Each person presses twice, all at the same time."""
    people = [OTTO, LEA, KIM, OTTO_BY_MAIL, OTTO, LEA, KIM]
    async with council(Policy(quorum=3)) as door:
        thread, (question,) = await door.asked()
        received = await asyncio.gather(*(door.decides(question, YES, one) for one in people))
        log = await door.here.log(thread)

    assert sum(isinstance(event, QuestionAnswered) for event in log) == 1
    assert sum(isinstance(event, VoteCast) for event in log) == 2
    assert [one.effect for one in received].count("taken") == 3


# --- four eyes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [ANN, ANN_BY_MAIL], ids=["slack", "mail"])
async def test_requester_cannot_approve_by_any_door(again: Actor) -> None:
    """A button by either identity; the attempt is in the log."""
    async with council(FOUR_EYES) as door:
        thread, (question,) = await door.asked()
        refused = await door.decides(question, YES, again)
        last = await door.last(thread)
        denied = await door.decides(question, NO, again)

    assert (refused.effect, "somebody else" in refused.words) == ("refused", True)
    assert isinstance(last, AnswerRefused)
    assert (last.by, last.question) == (again.id, question)
    assert denied.effect == "taken"


async def test_requester_cannot_approve_in_words() -> None:
    """What they say is refused, and the attempt is in the log; it is not passed on as a message."""
    async with council(FOUR_EYES) as door:
        thread, _ = await door.asked()
        refused = await door.says("yes", is_addressed=False)
        last = await door.last(thread)

    assert (refused.effect, "somebody else" in refused.words) == ("refused", True)
    assert isinstance(last, AnswerRefused)


async def test_key_that_launched_cannot_approve_its_own() -> None:
    """Another key can."""
    async with council(FOUR_EYES) as door:
        launch = Launch(agent="agent", text="pay it")
        view, _ = await door.here.gateway.launch(launch, by="ci")
        (question,) = (await door.here.rested(ThreadId(view.id))).questions
        with pytest.raises(MayNotDecide):
            await door.here.gateway.answer(question.id, YES, by="ci")
        last = await door.last(ThreadId(view.id))
        done = await door.here.gateway.answer(question.id, YES, by="desk")

    assert isinstance(last, AnswerRefused)
    assert done.status == "answered"


async def test_whoever_launched_with_a_profile_cannot_approve_by_mail() -> None:
    """The log knows who they were when they began it."""
    profiled = Actor(id="slack:T1:UNEW", email="ann@x.org", name="ann")
    async with council(FOUR_EYES) as door:
        received = await door.says("pay it", profiled)
        thread = ThreadId(received.thread)
        (question,) = (await door.here.rested(thread)).questions
        refused = await door.decides(question.id, YES, ANN_BY_MAIL)
        launched = (await door.here.log(thread))[0]

    assert refused.effect == "refused"
    assert isinstance(launched, ThreadLaunched)
    assert (launched.requester, launched.person) == ("slack:T1:UNEW", "ann")


@tool
async def consult(ctx: ToolContext) -> str:
    """Ask the leads, but not whoever asks."""
    return str(await ctx.ask("Which?", to="lead", policy=FOUR_EYES))


async def test_requester_may_go_on_talking_while_others_are_asked_in_words() -> None:
    """What they say is heard as a message, from the channel and over the API; others answer."""
    script = [calls(call("consult")), says("thanks")]
    async with council(FOUR_EYES, script=script, tools=[consult]) as door:
        thread, (question,) = await door.asked()
        heard = await door.says("any news?", is_addressed=False)
        await door.here.gateway.say(thread, "hello?", by="slack:T1:UANN")
        still = await door.here.gateway.question(question)
        answered = await door.says("the red one", OTTO, is_addressed=False)
        after = await door.here.gateway.question(question)

    assert (heard.effect, still.status) == ("taken", "open")
    assert (answered.effect, after.answer) == ("taken", "the red one")


# --- withdrawing ----------------------------------------------------------------------------------


async def test_question_is_withdrawn_and_the_agent_told() -> None:
    """Nobody need answer; who comes later is told so."""
    async with council(TWO) as door:
        thread, (question,) = await door.asked()
        view = await door.here.gateway.withdraw(question, by="desk", reason="wrong order")
        rested = await door.here.rested(thread)
        with pytest.raises(AlreadySettled, match="withdrawn by desk"):
            await door.here.gateway.withdraw(question, by="desk")
        late = await door.decides(question, YES, OTTO)

    assert (view.status, view.answered_by) == ("withdrawn", "desk")
    assert rested.result == "done"
    assert "withdrawn by desk" in late.words


async def test_unknown_question_is_not_found() -> None:
    """For every command about questions."""
    async with council(TWO) as door:
        with pytest.raises(NotFound):
            await door.here.gateway.withdraw("q_none", by="desk")
        with pytest.raises(NotFound):
            await door.here.gateway.take_back("q_none", by="desk")


@pytest.mark.parametrize("words", ["never mind", "Nevermind!", "Vergiss es.", "laisse tomber"])
async def test_never_mind_of_whoever_asked_withdraws_the_question(words: str) -> None:
    """In the conversation, without a mention."""
    async with council(TWO) as door:
        thread, (question,) = await door.asked()
        received = await door.says(words, is_addressed=False)
        await door.here.rested(thread)
        view = await door.here.gateway.question(question)
        log = await door.here.log(thread)

    assert received.effect == "taken"
    assert (view.status, view.answered_by) == ("withdrawn", ANN.id)
    withdrawn = next(one for one in log if isinstance(one, QuestionWithdrawn))
    assert words in withdrawn.reason


async def test_never_mind_of_somebody_else_is_only_words() -> None:
    """The question stays open; the agent hears it later."""
    async with council(TWO) as door:
        thread, (question,) = await door.asked()
        received = await door.says("never mind", OTTO, is_addressed=False)
        view = await door.here.gateway.question(question)
        last = await door.last(thread)

    assert (received.effect, view.status) == ("taken", "open")
    assert type(last).__name__ == "MessageReceived"


async def test_never_mind_with_several_open_asks_which_one() -> None:
    """By its number."""
    async with council(TWO, script=asks("Red?", "Blue?")) as door:
        thread, questions = await door.asked()
        which = await door.says("never mind", is_addressed=False)
        second = await door.says("never mind 2", is_addressed=False)
        view = await door.here.gateway.thread(thread)

    assert (which.effect, "1. Red?" in which.words) == ("refused", True)
    assert second.effect == "taken"
    assert [one.id for one in view.questions] == questions[:1]


# --- taking back ----------------------------------------------------------------------------------


async def test_approval_is_taken_back_while_nothing_has_run() -> None:
    """The thread is paused: it is asked anew, and the second approval lets it run, once."""
    async with council(Policy()) as door:
        thread, (question,) = await door.asked()
        await door.here.gateway.pause(thread, by="ann")
        await door.decides(question, LESS, OTTO)
        back = await door.here.gateway.take_back(question, by="otto", reason="wrong order")
        (again,) = (await door.here.gateway.thread(thread)).questions
        await door.here.gateway.resume(thread, by="ann")
        await door.decides(again.id, YES, LEA)
        await door.here.rested(thread)
        events = [event.model_dump() for event in await door.here.gateway.events(thread)]
        with pytest.raises(TooLate, match=r"pay is over \(returned\)"):
            await door.here.gateway.take_back(again.id, by="otto")
        refused = await door.last(thread)

    assert (back.status, back.taken_back, back.answered_by) == ("withdrawn", True, "otto")
    assert (again.id != question, again.arguments) == (True, {"amount": 49})
    assert [one["result"] for one in events if one["type"] == "ToolReturned"] == ["paid 49"]
    assert isinstance(refused, AnswerRefused)


async def test_taking_back_and_starting_have_one_outcome() -> None:
    """The engine may be starting the tool at that very moment: it ran once, or not at all."""
    script = [calls(call("pay", amount=1)), says("done")]
    for _ in range(20):
        async with council(Policy(), script=script) as door:
            thread, (question,) = await door.asked()
            await door.decides(question, YES, OTTO)
            try:
                await door.here.gateway.take_back(question, by="otto")
            except TooLate:
                taken_back = False
            else:
                taken_back = True
            await door.here.rested(thread)
            names = await door.here.names(thread)

        assert names.count("ToolStarted") == (0 if taken_back else 1)
