"""One question at three doors at once: the first valid answer wins, and everybody hears it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from channels.email.double.letters import Letter
from channels.slack.double.records import Message
from tests.scenario.people.household import OLGA, OTTO, Household

pytestmark = [pytest.mark.timeout(120), pytest.mark.asyncio(loop_scope="module")]


async def asked(here: Household, order: str) -> tuple[Message, Letter, Letter]:
    """Wait until Otto is asked in Slack and by mail, and Olga by mail."""
    return await here.card(order), await here.letter(OTTO, order), await here.letter(OLGA, order)


def of(log: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Find the events of a type."""
    return [event for event in log if event["type"] == kind]


@pytest.mark.parametrize("door", ["slack", "mail", "api"])
async def test_first_answer_wins_at_whichever_door(here: Household, order: str, door: str) -> None:
    """It is carried out once; the card changes, the mail is followed up, the log says how."""
    thread = await here.launch(order)
    card, to_otto, to_olga = await asked(here, order)
    match door:
        case "slack":
            await here.clicks(card)
        case "mail":
            await here.replies(to_olga, "Yes, please.")
        case _:
            assert (await here.answer(await here.question(thread)))[0] == 200

    log = await here.ended(thread)

    [answered] = of(log, "QuestionAnswered")
    assert here.paid(order) == 1
    assert "Approved" in await here.settled(card)
    expected = {"slack": ("slack:T1:UOTTO", "slack"), "mail": (f"email:{OLGA}", "dmarc")}
    by, how = expected.get(door, ("otto", "api key"))
    assert answered["by"] == by
    assert how in answered["how"]
    other = to_olga if door == "slack" else to_otto if door == "mail" else to_olga
    assert "You need not do anything" in (await here.follow_up(other, "Approved by")).text


async def test_who_answers_late_is_told_who_decided_at_every_door(
    here: Household, order: str
) -> None:
    """On an old screen, by mail and over the API; each attempt is in the log, and pays nothing."""
    thread = await here.launch(order)
    question = await here.question(thread)
    card, to_otto, to_olga = await asked(here, order)
    await here.replies(to_olga, "yes")
    await here.ended(thread)
    await here.settled(card)

    await here.clicks(card, stale=True)
    await here.replies(to_otto, "no, because it is too much")
    status, problem = await here.answer(question)

    assert (status, problem["answered_by"]) == (409, f"email:{OLGA}")
    told = await here.follow_up(to_otto, "did not decide it")
    assert OLGA in told.text

    def heard() -> Message | None:
        seen = here.team.ephemerals(here.team.dm("UOTTO"), "UOTTO")
        return next((one for one in seen if question in one.text and "olga" in one.text), None)

    await here.slack.until(heard, within=30)
    log = await here.ended(thread)
    late = Counter(event["by"] for event in of(log, "AnswerRefused"))
    assert late == Counter({"slack:T1:UOTTO": 1, f"email:{OTTO}": 1, "otto": 1})
    assert (len(of(log, "QuestionAnswered")), here.paid(order)) == (1, 1)


@pytest.mark.parametrize("step", ["launch", "asked", "answered"])
async def test_story_at_three_doors_survives_a_kill_between_any_two_steps(
    here: Household, order: str, step: str
) -> None:
    """One question at each door, one payment, and everybody hears how it ended."""
    thread = await here.launch(order)
    if step == "launch":
        await here.restart()
    card, to_otto, to_olga = await asked(here, order)
    if step == "asked":
        await here.restart()
    await here.replies(to_olga, "yes")
    if step == "answered":
        await here.follow_up(to_otto, "Approved by")
        await here.restart()
    log = await here.finished(thread, order)

    assert "Approved" in await here.settled(card)
    await here.follow_up(to_otto, "Approved by")
    assert here.paid(order) == 1
    answers = [
        event for event in of(log, "QuestionAnswered") if event["value"] == {"approved": True}
    ]
    assert len(answers) == 1
    cards = [one for one in here.team.posted(here.team.dm("UOTTO")) if order in str(one.blocks)]
    asking = [one for one in here.office.letters(OLGA) if order in one.text and "Reply" in one.text]
    assert (len(cards), len({one.header("Message-ID") for one in asking})) == (1, 1)
