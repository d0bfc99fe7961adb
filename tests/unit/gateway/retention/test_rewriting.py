"""A log without somebody: their words go, their decisions stay, and others are left alone."""

from __future__ import annotations

from msgspec.structs import replace

from agent_core.json_values import Json
from agent_core.thread import events as ev
from agent_core.thread.events import Event, Millis
from agent_core.thread.questions import Escalation, Kind, Question, QuestionId, Waiting
from gateway.retention.persona import GONE, Persona
from gateway.retention.rewriting import also_known, rewritten, said_by

THEM = Persona(tag="x", identities=frozenset({"ann", "slack:t1:u1", "ann@x.org"}))
NAME, AT = THEM.name, Millis(1)
Q = QuestionId("q1")


def asking(kind: Kind = "text", to: tuple[str, ...] = ()) -> ev.QuestionAsked:
    """Ask something."""
    return ev.QuestionAsked(at=AT, question=Question(id=Q, kind=kind, prompt="Ann?", to=to))


def answering(value: Json, by: str = "ann") -> ev.QuestionAnswered:
    """Answer it."""
    return ev.QuestionAnswered(
        at=AT, question=Q, value=value, by=by, comment="since I know Bob", how="dmarc x.org"
    )


def answered(kind: Kind, value: Json) -> Json:
    """Give what is left of Ann's answer."""
    _, new = rewritten([asking(kind), answering(value)], THEM)
    assert isinstance(new, ev.QuestionAnswered)
    assert (new.by, new.comment, new.how) == (NAME, GONE, "dmarc")
    return new.value


def test_decisions_stay_and_words_go() -> None:
    """What was decided is no text; what was filled in keeps its shape."""
    edited: Json = {"approved": True, "arguments": {"amount": 5}}
    form: Json = {"phone": "0123", "age": 33, "agrees": True, "tags": ["me"], "more": {"x": None}}

    assert answered("approval", edited) == edited
    assert answered("choice", "red") == "red"
    assert answered("text", "my cat is called Tom") == GONE
    assert answered("form", form) == {
        "phone": GONE,
        "age": None,
        "agrees": True,
        "tags": [GONE],
        "more": {"x": None},
    }


def test_what_others_said_is_left_as_it_is() -> None:
    """Also where it speaks of them: the very same events, so their links stay."""
    log: list[Event] = [
        ev.MessageReceived(at=AT, text="ask Ann", sender="bob"),
        ev.ModelReplied(at=AT, text="I'll ask Ann"),
        asking(),
        answering("Ann knows", by="bob"),
        ev.ThreadPaused(at=AT, by="bob", reason="Ann is ill"),
        ev.ThreadFinished(at=AT, result="Ann said so"),
    ]

    assert all(new is old for new, old in zip(rewritten(log, THEM), log, strict=True))


def test_everywhere_that_they_are_named_stands_the_pseudonym() -> None:
    """As asked, as next in a chain, as brought in, as steering, as erasing others."""
    waiting = Waiting(expires_after=9, escalate_to=("ann", Escalation(("bob", "ann"))))
    asked = asking(to=("ann", "bob"))
    asked = replace(asked, question=replace(asked.question, waiting=waiting))
    log: list[Event] = [
        ev.MessageReceived(at=AT, text="hi", sender="bob", others=("ann@x.org",)),
        asked,
        ev.QuestionEscalated(at=AT, question=Q, to=("slack:T1:U1", "bob")),
        ev.AnswerRefused(at=AT, question=Q, reason="already answered by Ann", by="bob"),
        ev.QuestionWithdrawn(at=AT, question=Q, reason="I quit", by="ann"),
        ev.ThreadMoved(at=AT, to="slack:T1:U1", by="ann"),
        ev.ThreadResumed(at=AT, by="ann", instruction="call me"),
        ev.ApprovalTakenBack(at=AT, question=Q, by="ann", reason="oh"),
        ev.PersonErased(at=AT, name="erased person #z", by="ann", reason="asked for"),
    ]

    new = rewritten(log, THEM)

    later = replace(waiting, escalate_to=(NAME, Escalation(("bob", NAME))))
    assert new == [
        ev.MessageReceived(at=AT, text="hi", sender="bob", others=(NAME,)),
        replace(asked, question=replace(asked.question, to=(NAME, "bob"), waiting=later)),
        ev.QuestionEscalated(at=AT, question=Q, to=(NAME, "bob")),
        ev.AnswerRefused(at=AT, question=Q, reason=f"already answered by {NAME}", by="bob"),
        ev.QuestionWithdrawn(at=AT, question=Q, reason=GONE, by=NAME),
        ev.ThreadMoved(at=AT, to=THEM.address, by=NAME),
        ev.ThreadResumed(at=AT, by=NAME, instruction=GONE),
        ev.ApprovalTakenBack(at=AT, question=Q, by=NAME, reason=GONE),
        ev.PersonErased(at=AT, name="erased person #z", by=NAME, reason=GONE),
    ]
    assert rewritten(new, THEM) == new


def test_further_accounts_are_learnt_from_the_log() -> None:
    """Slack vouched for them once; a key of the API that bears no name of theirs is not them."""
    log: list[Event] = [
        replace(answering("x", by="slack:T1:U9"), person="ann"),
        replace(answering("x", by="email:a@y.org"), person="bob"),
        replace(answering("x", by="ci"), person="ann"),
    ]

    assert also_known(log, THEM) == {"slack:T1:U9"}


def test_their_texts_are_known_for_finding_quotations() -> None:
    """Messages, answers, forms, comments, instructions and reasons; not what others wrote."""
    log: list[Event] = [
        ev.MessageReceived(at=AT, text="one", sender="ann"),
        ev.MessageReceived(at=AT, text="not mine", sender="bob"),
        answering("two"),
        ev.ThreadResumed(at=AT, by="ann", instruction="three"),
        replace(answering({"more": ["four"], "age": 5}, by="ci"), person="ann", comment=""),
        ev.ThreadCancelled(at=AT, by="ann", reason="five"),
        ev.ThreadCancelled(at=AT, by="bob", reason="not mine"),
    ]

    assert said_by(log, THEM) == ["one", "since I know Bob", "two", "three", "four", "five"]
