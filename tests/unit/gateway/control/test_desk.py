"""The desk: what waits for whom."""

from __future__ import annotations

from agent_core import call, calls, says
from gateway.control.desk import ChannelDesk
from gateway.people.directory import Directory
from tests.unit.gateway.front_door import ANN, OTTO, PEOPLE, PLACE, front_door


async def test_open_questions_wait_for_those_who_may_answer() -> None:
    """For nobody else, and not after they were answered."""
    async with front_door() as door:
        _, (question,) = await door.asked()
        desk = ChannelDesk(door.store, Directory(PEOPLE), "slack")
        for_otto = await desk.waiting_for(OTTO)
        for_ann = await desk.waiting_for(ANN)
        await door.decides(question, {"approved": True})
        after = await desk.waiting_for(OTTO)

    assert [card.id for card in for_otto] == [question]
    assert (for_ann, after) == ([], [])


async def test_urgent_ones_come_first() -> None:
    """Before those that were asked first."""
    turn = calls(
        call("contact_human", question="a"),
        call("contact_human", question="now!", urgency="high"),
    )
    async with front_door(script=[turn, says("thanks")]) as door:
        await door.asked()
        cards = await ChannelDesk(door.store, Directory(), "slack").waiting_for(ANN)

    assert [card.prompt for card in cards] == ["now!", "a"]


async def test_one_question_is_shown_as_it_is() -> None:
    """Or not at all, if it never was."""
    async with front_door() as door:
        _, (question,) = await door.asked()
        desk = ChannelDesk(door.store, Directory(PEOPLE), "slack")
        card = await desk.question(question)

        assert card is not None
        assert (card.status, card.audience) == ("open", ["slack:T1:UOTTO"])
        assert await desk.question("q_none") is None


async def test_those_who_are_asked_may_answer() -> None:
    """Others may not, nor anybody a question that never was."""
    async with front_door() as door:
        _, (question,) = await door.asked()
        desk = ChannelDesk(door.store, Directory(PEOPLE), "slack")

        assert await desk.may_answer(question, OTTO, PLACE)
        assert not await desk.may_answer(question, ANN, PLACE)
        assert not await desk.may_answer("q_none", OTTO, PLACE)
