"""What events mean outside the log: the index of questions, lists, the queue, and the outbox."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_core import Waiting, call, calls, says
from agent_core.thread.commands import answer, cancel, pause
from agent_core.thread.events import (
    AnswerRefused,
    Event,
    MessageReceived,
    Millis,
    QuestionAnswered,
    QuestionEscalated,
    QuestionExpired,
    QuestionReminded,
    QuestionWithdrawn,
    ThreadFailed,
    ThreadFinished,
    ThreadPaused,
)
from agent_core.thread.fold import fold
from agent_core.thread.state import ThreadState
from gateway.work.consequences import consequences, indexed, question_row, summary, wake_at
from storage.values import NewDelivery, QuestionRow
from tests.unit.gateway.logs_of_threads import NOW, ORIGIN, Log, asking


def cut_up(events: list[Event], sizes: list[int]) -> list[tuple[list[Event], ThreadState]]:
    """Cut a log into commits of these sizes, over and over, each with the state after it."""
    pieces = []
    state, start, turn = ThreadState(), 0, 0
    while start < len(events):
        piece = events[start : start + sizes[turn % len(sizes)]]
        state = fold(piece, onto=state)
        pieces.append((piece, state))
        start += len(piece)
        turn += 1
    return pieces


def last_of(log: Log, count: int = 1) -> list[NewDelivery]:
    """Give what is said for the last events of a log, committed together."""
    return consequences(log.events[-count:], fold(log.events), NOW).deliveries


async def eventful() -> Log:
    """Write a log in which every kind of question event happens, and a fork of it."""
    rules = Waiting(remind_after=10, expires_after=60, on_expiry="escalate", escalate_to=("boss",))
    log = (await asking(waiting=rules)).fire(10).fire(60).fire(10)
    first, _ = log.open
    now = log.clock.moment
    log.add(QuestionAnswered(at=now, question=first, value={"approved": False}, by="otto"))
    log.add(AnswerRefused(at=now, question=first, reason="late", by="lisa"))
    copy = log.forked().fire(60).fire(60)
    return copy.add(MessageReceived(at=now, text="well", sender="lisa"))


@given(sizes=st.lists(st.integers(1, 7), min_size=1, max_size=8))
async def test_question_rows_follow_every_event_however_the_log_is_committed(
    sizes: list[int],
) -> None:
    """Asked, reminded, escalated, answered, replaced, expired: the index equals the state."""
    log = await eventful()
    rows: dict[str, QuestionRow] = {}
    for piece, state in cut_up(log.events, sizes):
        rows |= {row.id: row for row in consequences(piece, state, NOW).questions}
    end = fold(log.events)

    assert rows == {key: question_row(end, key) for key in end.questions}
    assert {row.status for row in rows.values()} == {"answered", "withdrawn", "expired"}
    assert indexed(log.events, end) == list(rows.values())


@given(sizes=st.lists(st.integers(1, 7), min_size=1, max_size=8))
async def test_summary_is_left_alone_only_where_it_would_be_the_same(sizes: list[int]) -> None:
    """A commit without a summary keeps the last one, which is then still true."""
    worked = await asking(calls(call("look")), says("all is well"))
    for log in (await eventful(), worked):
        kept: object = None
        for piece, state in cut_up(log.events, sizes):
            written = consequences(piece, state, NOW).summary
            kept = kept if written is None else written
            assert kept == summary(state)


async def test_what_a_tool_did_changes_no_summary() -> None:
    """Lists show nothing of it, so nothing is written for them."""
    log = await asking(calls(call("look")), says("all is well"))
    names = [type(event).__name__ for event in log.events]
    alone = [consequences([event], fold(log.events), NOW).summary for event in log.events]
    unlisted = {name for name, one in zip(names, alone, strict=True) if one is None}

    assert unlisted == {"ToolStarted", "ToolReturned"}


@given(sizes=st.lists(st.integers(1, 7), min_size=1, max_size=8))
async def test_deliveries_are_the_same_however_the_log_is_committed(sizes: list[int]) -> None:
    """One for each event that concerns people, named by its place, in order."""
    log = await eventful()
    said = [
        one
        for piece, state in cut_up(log.events, sizes)
        for one in consequences(piece, state, NOW).deliveries
    ]
    telling = {
        "QuestionAsked": "question.asked",
        "QuestionReminded": "question.reminded",
        "QuestionEscalated": "question.escalated",
        "QuestionAnswered": "question.settled",
        "QuestionExpired": "question.settled",
        "QuestionWithdrawn": "question.settled",
    }
    expected = [
        (f"th_2.{seq}", telling[type(event).__name__])
        for seq, event in enumerate(log.events, start=1)
        if type(event).__name__ in telling
    ]

    assert expected == [(one.id, one.body["kind"]) for one in said]
    assert {(one.address, one.due_at) for one in said} == {(ORIGIN, NOW)}
    assert {one.question for one in said} == set(fold(log.events).questions)


async def test_each_thing_that_concerns_people_is_said_in_its_words() -> None:
    """The end of a question by its id, the end of a thread with its text."""
    log = await asking()
    first, second = log.open
    at = log.clock.moment
    told: list[tuple[Event, dict[str, Any] | None]] = [
        (QuestionReminded(at=at, question=first), {"kind": "question.reminded"}),
        (
            QuestionEscalated(at=at, question=first, to=("boss",)),
            {"kind": "question.escalated", "to": ["boss"]},
        ),
        (QuestionExpired(at=at, question=first), {"kind": "question.settled"}),
    ]
    for event, body in told:
        (one,) = last_of(log.add(event))
        assert one.body == {**(body or {}), "question": first}
        assert one.question == first
    (one,) = last_of(log.add(QuestionWithdrawn(at=at, question=second)))
    assert (one.body["kind"], one.question) == ("question.settled", second)
    assert last_of(log.add(AnswerRefused(at=at, question=first, reason="late"))) == []
    assert last_of(log.add(MessageReceived(at=at, text="hm"))) == []
    (one,) = last_of(log.add(ThreadFailed(at=at, error="no luck")))
    assert (one.body, one.question) == ({"kind": "thread.failed", "text": "no luck"}, None)


async def test_end_of_a_thread_is_told_with_its_text() -> None:
    """The last words, or the result that it was closed with; the reason of a cancel."""
    log = await asking(says("all is well"))
    (done,) = last_of(log)
    at = log.clock.moment
    log.add(MessageReceived(at=at, text="more"), ThreadFinished(at=at, result="closed"))
    (closed,) = last_of(log)
    other = await asking()
    state = fold(other.events)
    events = cancel(state, at=at, by="otto", reason="no need")
    said = last_of(other.add(*events), len(events))

    assert done.body == {"kind": "thread.finished", "text": "all is well"}
    assert closed.body == {"kind": "thread.finished", "text": "closed"}
    assert [one.body["kind"] for one in said] == [
        "question.settled",
        "question.settled",
        "thread.cancelled",
    ]
    assert said[-1].body["text"] == "no need"


async def test_thread_without_an_origin_tells_nobody() -> None:
    """There is no address; the index is kept all the same."""
    log = await asking(origin="")
    what = consequences(log.events, fold(log.events), NOW)

    assert (what.deliveries, len(what.questions)) == ([], 2)


async def test_status_and_wake_follow_the_log() -> None:
    """Due now if there is work, at the next timer if people are asked, else never."""
    rules = Waiting(remind_after=10)
    log = await asking(waiting=rules)
    asked_at = log.clock.moment
    waiting = fold(log.events)
    answered = fold(
        answer(
            waiting,
            {key: {"approved": True} for key in log.open},
            at=asked_at,
            check_arguments=lambda _tool, arguments: arguments,
        ),
        onto=waiting,
    )
    held = fold(pause(waiting, at=asked_at), onto=waiting)
    done = await asking(says("done"))

    def told(state: ThreadState) -> tuple[str, Millis | None]:
        return consequences((), state, NOW).status, wake_at(state, NOW)

    assert told(fold(log.events[:2])) == ("running", NOW)
    assert told(waiting) == ("waiting", asked_at + 10_000)
    assert told(answered) == ("running", NOW)
    assert told(held) == ("paused", asked_at + 10_000)
    assert told(fold(done.events)) == ("finished", None)
    assert told(fold((await asking()).events)) == ("waiting", None)


async def test_summary_shows_what_lists_need() -> None:
    """The open questions with their audience; a result only once there is one; nothing empty."""
    log = await asking()
    shown = summary(fold(log.events))
    log.add(ThreadPaused(at=log.clock.moment))
    done = summary(fold((await asking(says("done", input_tokens=3))).events))

    assert shown.keys() == {"questions", "title"}
    assert [one["id"] for one in shown["questions"]] == log.open
    assert [one["audience"] for one in shown["questions"]] == [["otto"], ["otto"]]
    assert done == {"title": "hello", "result": "done", "usage": {"input_tokens": 3}}
