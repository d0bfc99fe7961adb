"""What an auditor reads: who, how, by which way, and what exactly; no contents."""

from __future__ import annotations

from typing import Any

import pytest

from agent_core.thread.events import Millis, ThreadId
from gateway.audit.entries import Entry, entries
from storage.memory import MemoryStore
from storage.sealed import KeptDelivery, KeptEvent, SealedLog
from tests.doubles.seals import seal
from tests.unit.gateway.audit.ledger import refunded
from tests.unit.gateway.control.test_local import asked, paying
from tests.unit.gateway.workshop import workshop


async def told(value: dict[str, Any]) -> list[Entry]:
    """Give the entries of a refund that was answered so."""
    store = MemoryStore(seal=seal)
    async with refunded(store, value) as (_, thread):
        log = await store.audit().log(thread)
        assert log is not None
        return list(entries(log))


def of(found: list[Entry], what: str) -> Entry:
    """Find the one entry of a kind."""
    [entry] = [one for one in found if one.what == what]
    return entry


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ({"approved": True}, "approved"),
        ({"approved": True, "arguments": {"amount": 3}}, "approved with edits"),
    ],
)
async def test_what_was_approved_is_what_ran(value: dict[str, Any], outcome: str) -> None:
    """By digests: that of the run is worked out anew, from the arguments that it ran with."""
    found = await told(value)

    asked, answered, ran = (
        of(found, what) for what in ("QuestionAsked", "QuestionAnswered", "ToolStarted")
    )
    assert (answered.who, answered.tool, answered.outcome) == ("otto", "pay", outcome)
    assert answered.how == "api key otto"
    assert answered.question == asked.question != ""
    assert ran.digest == answered.digest != ""
    assert (ran.digest == asked.digest) is (outcome == "approved")
    assert (ran.tool, of(found, "ToolReturned").tool) == ("pay", "pay")


async def test_denial_shows_and_nothing_ran() -> None:
    """The digest still says what was denied, by whom."""
    found = await told({"approved": False})

    assert of(found, "QuestionAnswered").outcome == "denied"
    assert "ToolStarted" not in {one.what for one in found}


async def test_ways_by_which_people_were_asked_stand_beside_the_question() -> None:
    """A delivery comes after the event that caused it, with its address and what became of it."""
    found = await told({"approved": True})

    names = [one.what for one in found]
    way = of(found, "question.asked")
    assert names.index("question.asked") == names.index("QuestionAsked") + 1
    assert way.way.startswith("web:")
    assert (way.question, way.outcome) == (of(found, "QuestionAsked").question, "pending")
    assert of(found, "ThreadLaunched").who == "lisa"
    assert all(one.at.startswith("20") and one.at.endswith("Z") for one in found)


def test_rows_that_hold_no_event_still_show() -> None:
    """A damaged one says so; one of newer code shows what it has."""
    log = SealedLog(
        thread=ThreadId("t1"),
        seq=3,
        updated_at=Millis(1),
        chain=None,
        events=[
            KeptEvent(1, b"\xff{"),
            KeptEvent(2, b'{"type":"Novel","at":1,"by":"otto","question":"q9","calls":3}'),
            KeptEvent(3, b'{"type":"ToolStarted","at":"x","call":"9.9"}'),
        ],
        deliveries=[KeptDelivery(9, "d1", "slack:1", None, b"[]", "sent")],
    )

    shown = [(one.what, one.who, one.question, one.at) for one in entries(log)]

    assert shown == [
        ("unreadable", "", "", ""),
        ("Novel", "otto", "q9", "1970-01-01T00:00:00.001Z"),
        ("ToolStarted", "", "", ""),
        ("", "", "", ""),
    ]


async def test_edits_of_an_approval_that_was_taken_back_did_not_run() -> None:
    """Asked anew for what was asked at first, approved as it was: that ran."""
    store = MemoryStore(seal=seal)
    async with workshop(store, paying()) as here:
        thread, question = await asked(here)
        await here.gateway.pause(thread, by="otto")
        edited = {"approved": True, "arguments": {"amount": 3}}
        await here.gateway.answer(question, edited, by="otto")
        await here.gateway.take_back(question, by="otto", reason="too much")
        (again,) = (await here.gateway.thread(thread)).questions
        await here.gateway.answer(again.id, {"approved": True}, by="otto")
        await here.gateway.resume(thread, by="otto")
        await here.rested(thread)
        await here.released(thread)
        log = await store.audit().log(thread)
        assert log is not None
        found = list(entries(log))

    back, ran = of(found, "ApprovalTakenBack"), of(found, "ToolStarted")
    asked_at_first, asked_anew = (one for one in found if one.what == "QuestionAsked")
    assert (back.who, back.outcome, back.question) == ("otto", "too much", question)
    assert ran.digest == asked_at_first.digest == asked_anew.digest
