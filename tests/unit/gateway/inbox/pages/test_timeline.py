"""A log as people read it."""

from __future__ import annotations

from typing import get_args

import pytest

from agent_core.thread import events as ev
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import CallKey, Option, Policy, Question, QuestionId
from agent_core.thread.usage import Usage
from gateway.inbox.pages.entries import Entry
from gateway.inbox.pages.known import (
    Delivered,
    Known,
    asked_questions,
    by_event,
    chosen_tools,
    missing_replies,
)
from gateway.inbox.pages.timeline import timeline

AT = Millis(1_789_000_000_000)
Q = QuestionId("q_1")
CALL = CallKey("3.0")
NAMES = {"slack:T1:U2": "otto"}
ASKED = Question(
    id=Q,
    kind="approval",
    prompt="May I?",
    context="It is late.",
    tool="refund",
    arguments={"order": "1", "amount": 5},
    to=("otto", "olga"),
    urgency="high",
    policy=Policy(quorum=2),
)
LOG: tuple[Event, ...] = (
    ev.ThreadLaunched(
        at=AT,
        thread=ThreadId("t"),
        agent="desk",
        requester="slack:T1:U2",
        origin="slack:T1:C1:1.0",
        metadata={"ticket": 7},
    ),
    ev.MessageReceived(
        at=AT,
        text="refund",
        sender="slack:T1:U2",
        others=("ann",),
        attachments=(ev.Attachment(name="a.txt", size=3, text="abc"),),
    ),
    ev.ModelReplied(
        at=AT,
        text="I will.",
        calls=(
            ev.ChosenCall("refund", {"order": "1", "amount": 5}),
            ev.ChosenCall("odd", {}, malformed="{not json"),
        ),
        usage=Usage(1000, 20, 0.5),
        model="m1",
    ),
    ev.QuestionAsked(at=AT, question=ASKED),
    ev.VoteCast(at=AT, question=Q, value={"approved": True}, by="olga", comment="fine"),
    ev.QuestionReminded(at=AT, question=Q),
    ev.QuestionEscalated(at=AT, question=Q, to=("boss",)),
    ev.AnswerRefused(at=AT, question=Q, reason="not yours", by="eve"),
    ev.QuestionAnswered(
        at=AT,
        question=Q,
        value={"approved": True, "arguments": {"order": "1", "amount": 4}},
        by="slack:T1:U2",
        comment="less",
        how="slack",
    ),
    ev.ToolStarted(at=AT, call=CALL, key="k", attempt=2),
    ev.ProgressNoted(at=AT, call=CALL, text="half"),
    ev.ToolReturned(at=AT, call=CALL, result={"ok": True}),
    ev.ToolFailed(at=AT, call=CallKey("3.1"), reason="unknown_tool", error="no odd"),
    ev.ApprovalTakenBack(at=AT, question=Q, by="otto", reason="oops"),
    ev.QuestionExpired(at=AT, question=Q),
    ev.QuestionWithdrawn(at=AT, question=Q, reason="moot", by="ann"),
    ev.ThreadPaused(at=AT, by="ann", reason="lunch"),
    ev.ThreadResumed(at=AT, by="ann", instruction="be quick"),
    ev.ThreadMoved(at=AT, to="email:ann@example.com", by="ann"),
    ev.LimitReached(at=AT, limit="MaxSteps(3)", then="ask"),
    ev.ContextCompacted(at=AT, summary="so far", through=9, usage=Usage(10, 1)),
    ev.CompensationRan(at=AT, call=CALL),
    ev.ThreadCancelled(at=AT, by="ann", reason="enough"),
    ev.ThreadFinished(at=AT, result="all done"),
    ev.ThreadFailed(at=AT, error="no model"),
    ev.PersonErased(at=AT, name="person-1", by="root", reason="she asked"),
)


def told(
    events: tuple[Event, ...] = LOG,
    first: int = 1,
    deliveries: tuple[Delivered, ...] = (),
    agent: str = "desk",
) -> dict[str, Entry]:
    """Tell a log, by the kinds of its events."""
    known = Known(
        agent=agent,
        name=lambda one: NAMES.get(one, one),
        tools=chosen_tools(events, first),
        questions=asked_questions(events),
        deliveries=by_event(deliveries),
    )
    return {one.kind: one for one in timeline(events, first, known)}


def test_every_event_has_its_words() -> None:
    """An event that the page can't tell would break it: all that there are can be told."""
    assert {type(one) for one in LOG} == set(get_args(Event))
    assert len(told()) == len(LOG)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("ThreadLaunched", "otto began this thread with desk"),
        ("MessageReceived", "otto wrote, with ann"),
        ("ModelReplied", "desk chose refund, odd"),
        ("QuestionAsked", "desk asked otto, olga for approval"),
        ("VoteCast", "olga approved; more people are needed"),
        ("QuestionEscalated", " Nobody has answered: boss asked as well"),
        ("AnswerRefused", "eve answered, and it did not count"),
        ("QuestionAnswered", "otto approved with edits"),
        ("ToolStarted", "refund started, attempt 2"),
        ("ToolReturned", "refund returned"),
        ("ToolFailed", "odd failed: unknown tool"),
        ("ApprovalTakenBack", "otto took the approval back; it is asked anew"),
        ("QuestionWithdrawn", "ann withdrew the question"),
        ("ThreadMoved", "ann moved the conversation to email"),
        ("LimitReached", " Limit MaxSteps(3) reached: somebody is asked"),
        ("CompensationRan", "refund was undone"),
        ("ThreadCancelled", "ann cancelled it"),
        ("PersonErased", "root erased somebody, who is now person-1"),
    ],
)
def test_it_is_said_who_did_what(kind: str, says: str) -> None:
    """In words that need no glossary, with people by their names."""
    entry = told()[kind]

    assert f"{entry.who} {entry.what}" == says


def test_what_was_said_and_used_stands_in_blocks() -> None:
    """Words, arguments, files, comments; exact where somebody may decide by it."""
    entries = told()
    shown = {
        kind: [(one.label, one.text.head, one.is_code) for one in entries[kind].blocks]
        for kind in ("MessageReceived", "ModelReplied", "QuestionAnswered")
    }

    assert shown == {
        "MessageReceived": [("", "refund", False), ("File a.txt (3 bytes)", "abc", True)],
        "ModelReplied": [
            ("", "I will.", False),
            ("refund", 'order: "1"\namount: 5', True),
            ("odd, not JSON", "{not json", True),
        ],
        "QuestionAnswered": [("Changed", "amount: 5 → 4", True), ("Comment", "less", False)],
    }
    assert entries["ModelReplied"].note == "m1 · 1,000 + 20 tokens · $0.5000"
    assert entries["QuestionAsked"].note == "urgent · 2 must approve"
    assert entries["MessageReceived"].by == "Slack"


def test_copies_of_a_question_stand_with_it() -> None:
    """Who was told where, and whether it got there; the API's own place is nobody."""
    copies = told(
        deliveries=(
            Delivered(4, "question.asked", "slack:T1:U2", "sent"),
            Delivered(4, "question.asked", "email:a@example.com", "failed", "bounced"),
            Delivered(4, "question.asked", "web:t", "sent"),
            Delivered(9, "question.settled", "slack:T1:U2", "sent"),
        )
    )["QuestionAsked"].copies

    assert [(one.to, one.channel, one.status, one.error) for one in copies] == [
        ("otto", "Slack", "sent", ""),
        ("email:a@example.com", "email", "failed", "bounced"),
    ]


def test_a_page_can_begin_anywhere() -> None:
    """What lies before it is named by number, and can be looked up by what is missing."""
    later = LOG[9:]

    assert missing_replies(later, 10) == [3]
    assert told(later, 10)["ToolReturned"].who == "call 3.0"
    assert told(later, 10)["ToolReturned"].seq == 12


def test_answers_are_told_by_their_kind() -> None:
    """A choice names what was chosen, words are quoted, a form is shown as it is."""

    def answered(kind: str, value: object) -> Entry:
        asked = Question(id=Q, kind=kind, prompt="?", options=(Option("blue"),))  # type: ignore[arg-type]
        answer = ev.QuestionAnswered(at=AT, question=Q, value=value, by="otto")
        return told((ev.QuestionAsked(at=AT, question=asked), answer))["QuestionAnswered"]

    assert answered("choice", "blue").what == "chose blue"
    assert answered("text", "Ada").blocks[0].text.head == "Ada"
    assert answered("form", {"a": 1}).blocks[0].is_code
    assert (answered("approval", {"approved": False}).what) == "denied"


def test_nothing_is_nameless() -> None:
    """Without a sender or an agent there is still somebody who did it."""
    bare = (
        ev.MessageReceived(at=AT, text="x"),
        ev.ModelReplied(at=AT, text="y"),
        ev.QuestionWithdrawn(at=AT, question=Q),
        ev.CompensationRan(at=AT, call=CALL, error="down", settled=False),
        ev.ThreadFinished(at=AT),
    )
    entries = told(bare, agent="")

    assert [f"{one.who} {one.what}".strip() for one in entries.values()] == [
        "somebody wrote",
        "the agent said",
        "The question was withdrawn",
        "call 3.0 could not be undone, attempt 1; it is tried again",
        "the agent finished",
    ]
