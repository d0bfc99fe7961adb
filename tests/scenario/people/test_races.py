"""Races on two processes over one PostgreSQL: exactly one outcome, and everybody hears it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_core.thread.events import Millis
from gateway.audit.key import audit_seal
from gateway.audit.verification import verify_store
from storage.postgres import PostgresStore
from tests.scenario.people.household import OLGA, SECRET, Household

pytestmark = [pytest.mark.timeout(120), pytest.mark.asyncio(loop_scope="module")]

ENDS = ("QuestionAnswered", "QuestionExpired", "QuestionWithdrawn")
NOT_ANY_MORE = {409, 410}


def outcome(log: list[dict[str, Any]]) -> str:
    """Give how the one question ended; twice is an error."""
    [end] = [event["type"] for event in log if event["type"] in ENDS]
    return str(end)


async def test_approvers_at_three_doors_of_two_processes_decide_once(
    pair: Household, order: str
) -> None:
    """Slack at one process, the API at the other, and a mail that both of them fetch."""
    orders = [f"{order}{n}" for n in range(3)]
    threads = [await pair.launch(each) for each in orders]
    for each, thread in zip(orders, threads, strict=True):
        card, letter = await pair.card(each), await pair.letter(OLGA, each)
        question = await pair.question(thread)
        _, _, (status, told) = await asyncio.gather(
            pair.clicks(card, stale=True),
            pair.replies(letter, "yes"),
            pair.answer(question, door=1),
        )
        log = await pair.ended(thread)

        assert outcome(log) == "QuestionAnswered"
        [answered] = [event for event in log if event["type"] == "QuestionAnswered"]
        assert (status == 200) is (answered["by"] == "otto")
        if status != 200:
            assert (status, told["answered_by"]) == (409, answered["by"])
        assert pair.paid(each) == 1
        assert "Approved" in await pair.settled(card)
        if answered["by"] != f"email:{OLGA}":  # who has decided need not be told
            await pair.follow_up(letter, "by")


async def test_answer_and_expiry_at_the_same_moment_have_one_outcome(
    pair: Household, order: str
) -> None:
    """Who was told that it counts has decided; whoever was not, it expired for."""
    orders = [f"{order}{n}" for n in range(4)]
    threads = await asyncio.gather(*(pair.launch(each, "hasty") for each in orders))
    questions = await asyncio.gather(*(pair.question(thread) for thread in threads))
    # First seen: one that is decided before it could be posted is rightly never posted.
    cards = [await pair.card(each) for each in orders]
    _, asked = await pair.call("GET", f"questions/{questions[-1]}")
    await pair.until_just_before(asked["expires_at"])

    answers = [
        asyncio.create_task(pair.answer(question, door=number % 2))
        for number, question in enumerate(questions)
    ]
    for thread, answer, each, card in zip(threads, answers, orders, cards, strict=True):
        status, _ = await answer
        log = await pair.ended(thread)

        assert (outcome(log) == "QuestionAnswered") is (status == 200)
        assert status == 200 or status in NOT_ANY_MORE
        assert pair.paid(each) == (status == 200)
        await pair.settled(card)


async def test_answer_and_cancel_at_the_same_moment_have_one_outcome(
    pair: Household, order: str
) -> None:
    """Either it was withdrawn and nothing ran, or it was approved before the end."""
    for number in range(4):
        each = f"{order}{number}"
        thread = await pair.launch(each)
        question = await pair.question(thread)
        card = await pair.card(each)
        (status, _), (cancelled, _) = await asyncio.gather(
            pair.answer(question, door=number % 2),
            pair.call("POST", f"threads/{thread}/cancel", {"reason": "no"}, door=1 - number % 2),
        )
        log = await pair.ended(thread)

        assert cancelled in {200, 409}
        assert (outcome(log) == "QuestionAnswered") is (status == 200)
        assert pair.paid(each) <= (status == 200)
        await pair.settled(card)


async def test_what_two_processes_wrote_verifies(pair: Household, order: str) -> None:
    """After all these races the chain of every thread still fits."""
    thread = await pair.launch(order)
    await pair.answer(await pair.question(thread))
    await pair.ended(thread)
    store = PostgresStore(pair.database)
    await store.open()
    try:
        report = await verify_store(store, audit_seal(SECRET.encode()), now=Millis(1))
    finally:
        await store.close()

    assert (report.findings, report.threads > 0) == ([], True)
