"""The context in a tool's hands, without a loop around it; handlers; and questions as values."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest

from agent_core import DefinitionError, NotJson, Option, ThreadInfo, ToolContext, Waiting
from agent_core.thread.events import Millis
from agent_core.thread.questions import (
    YES_NO,
    CallKey,
    Policy,
    Question,
    QuestionId,
    waiting_rules,
)
from agent_core.thread.state import QuestionState
from agent_core.tools.asking import build_question
from agent_core.tools.context import Surface, TooManyResumes
from agent_core.tools.handler import Handler


class Hands:
    """A context, and a record of what was done with it."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 (of Surface)
        self.interrupted = 0
        self.notes: list[str] = []
        numbers = count(1)
        settings: dict[str, Any] = {
            "new_id": lambda: QuestionId(f"q_{next(numbers)}"),
            "is_taken": lambda one: one == "taken",
            "has_handler": lambda name: name == "known",
            "interrupt": self._interrupt,
            "note": self.notes.append,
            **options,
        }
        self.context = ToolContext(
            idempotency_key="th_1/3.0",
            thread=ThreadInfo("th_1", "agent"),
            call=CallKey("3.0"),
            surface=Surface(**settings),
        )

    def _interrupt(self) -> None:
        self.interrupted += 1

    async def begin(self, asking: Any) -> list[Question]:  # noqa: ANN401 (a coroutine)
        """Let a tool ask, as far as its pause."""
        task = asyncio.ensure_future(asking)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if not task.cancelled() and (error := task.exception()):
            raise error
        return self.context.questions


def asked(prompt: str, value: object, key: str = "q_9") -> QuestionState:
    """Make a question of an earlier run, with its answer."""
    question = Question(
        id=QuestionId(key), kind="text", prompt=prompt, call=CallKey("3.0"), resume_to="ask"
    )
    return QuestionState(
        question=question,
        status="answered",
        asked_at=Millis(0),
        timer_from=Millis(0),
        nudged_at=Millis(0),
        value=value,
    )


async def test_an_ask_interrupts_the_run_once_and_after_all_that_were_asked_together() -> None:
    """Gathered asks are one pause."""
    hands = Hands()

    async def both() -> None:
        await asyncio.gather(hands.context.ask("A?"), hands.context.ask("B?"))

    questions = await hands.begin(both())

    assert [question.prompt for question in questions] == ["A?", "B?"]
    assert hands.interrupted == 1


async def test_an_ask_of_an_earlier_run_gives_its_answer_without_a_pause() -> None:
    """By place, or by its own id."""
    hands = Hands(asked_before=[asked("A?", "a"), asked("B?", "b", key="mine")])

    answers = [await hands.context.ask("A?"), await hands.context.ask("B?", id="mine")]

    assert answers == ["a", "b"]
    assert hands.interrupted == 0


async def test_a_retried_tool_begins_its_asks_anew() -> None:
    """An attempt that failed half-way leaves nothing behind."""
    hands = Hands(asked_before=[asked("A?", "a")])
    await hands.context.ask("A?")
    hands.context.post("P?")

    hands.context.start_over()

    assert hands.context.questions == []
    assert await hands.context.ask("A?") == "a"


async def test_an_id_that_is_taken_is_refused() -> None:
    """In every way of asking."""
    hands = Hands()

    for asking in (
        hands.context.ask("A?", id="taken"),
        hands.context.pause_for("text", "A?", id="taken"),
    ):
        with pytest.raises(ValueError, match="'taken' was asked in this thread before"):
            await asking
    with pytest.raises(ValueError, match="'taken' was asked in this thread before"):
        hands.context.post("A?", id="taken")


async def test_pause_for_takes_the_questions_own_parts_out_of_its_payload() -> None:
    """The rest is kept with the question."""
    hands = Hands()
    payload = {"prompt": "Which?", "context": "soon", "options": ["a", "b"], "order": 7}

    (question,) = await hands.begin(
        hands.context.pause_for("choice", payload, resume_to={"event": "known"})
    )

    assert (question.prompt, question.context) == ("Which?", "soon")
    assert question.options == (Option("a"), Option("b"))
    assert question.payload == {"order": 7}
    assert (question.resume_to, question.handler) == ("event", "known")


async def test_too_many_resumes_are_told_before_anybody_is_asked() -> None:
    """The limit is on how often it was resumed."""
    hands = Hands(resumes=2)

    with pytest.raises(TooManyResumes):
        await hands.context.pause_for("text", "A?", max_resumes=2)
    assert await hands.begin(hands.context.pause_for("text", "A?", max_resumes=3))


async def test_nobody_can_be_asked_where_nobody_waits() -> None:
    """As in a compensation."""
    hands = Hands(may_ask=False)

    with pytest.raises(ValueError, match="a compensation can't ask"):
        await hands.context.ask("A?")


def test_notes_are_text_that_can_be_stored() -> None:
    """Checked where they are passed."""
    hands = Hands()
    hands.context.note("half-way")

    with pytest.raises(NotJson, match="note"):
        hands.context.note("\0")

    assert hands.notes == ["half-way"]


async def test_questions_wait_by_the_agents_rule_unless_they_have_one() -> None:
    """Also those that are posted; what is urgent may have a rule of its own."""
    rules = waiting_rules({"normal": Waiting(expires_after=60), "high": Waiting(expires_after=9)})
    hands = Hands(waiting=rules)
    hands.context.post("P?")
    hands.context.post("Q?", waiting=Waiting(expires_after=5))
    hands.context.post("R?", urgency="high")
    hands.context.post("S?", urgency="low")

    assert [one.waiting.expires_after for one in hands.context.questions] == [60, 5, 9, None]


def test_several_people_can_be_asked_to_approve() -> None:
    """A tool's own approval takes the same rules as one that stands before a tool."""
    hands = Hands()
    hands.context.post("Ship it?", kind="approval", to="leads", policy=Policy(quorum=2))

    assert hands.context.questions[0].policy == Policy(quorum=2)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"kind": "text", "policy": Policy(quorum=2)}, "belong to an approval, not to kind text"),
        ({"kind": "text", "policy": Policy(veto=False)}, "belong to an approval, not to kind text"),
        ({"kind": "approval", "policy": Policy(quorum=2), "to": ()}, "say who decides"),
        ({"kind": "text", "policy": Policy(not_requester=True), "to": ()}, "say who decides"),
    ],
)
def test_rules_that_nobody_could_fulfil_are_refused(parts: dict[str, Any], words: str) -> None:
    """In words for the tool's author, where it is asked."""
    with pytest.raises(ValueError, match=words):
        built(**{"to": "leads", **parts})


# Questions as values


def built(**parts: Any) -> Question:  # noqa: ANN401 (of build_question)
    """Build a question."""
    return build_question(
        key=QuestionId("q_1"), call=CallKey("3.0"), **{"prompt": "Well?", **parts}
    )


def test_yes_no_is_a_choice_of_two() -> None:
    """In both spellings."""
    assert built(kind="yes/no").options == built(kind="yes_no").options == YES_NO
    assert built(kind="yes/no").kind == "choice"


def test_one_name_or_several_may_be_asked() -> None:
    """A lone name is not taken apart into letters."""
    assert built(to="otto").to == ("otto",)
    assert built(to=["otto", "anna"]).to == ("otto", "anna")


def test_a_payload_must_be_json_and_is_copied() -> None:
    """Changing it later changes nothing that was asked."""
    payload: dict[str, Any] = {"a": [1]}
    question = built(payload=payload)
    payload["a"].append(2)

    assert question.payload == {"a": [1]}
    with pytest.raises(NotJson, match=r"payload\.a\[0\] is not JSON"):
        built(payload={"a": [object()]})


# Handlers


def test_a_handler_takes_the_answer_or_the_context_and_the_answer() -> None:
    """In that order."""
    context = Hands().context

    assert Handler("h", lambda _answer: None).arguments(context, 5) == (5,)
    assert Handler("h", lambda _ctx, _answer: None).arguments(context, 5) == (context, 5)


@pytest.mark.parametrize("function", [lambda: None, lambda _a, _b, _c: None])
def test_any_other_handler_is_refused_where_it_is_declared(
    function: Any,  # noqa: ANN401 (a function of the wrong shape)
) -> None:
    """It could not be called."""
    with pytest.raises(DefinitionError, match="takes the answer, or the context and the answer"):
        Handler("h", function)


def event_question(kind: str = "event", event_key: str = "") -> Question:
    """Ask for an event, as a tool would."""
    return build_question(
        key=QuestionId("q_1"), call=CallKey("1.0"), prompt="?", kind=kind, event_key=event_key
    )


@pytest.mark.parametrize("key", ["two\nlines", " edge", "two  spaces", "x" * 301])
def test_events_key_is_one_line(key: str) -> None:
    """What the outside can't send, nobody may wait for."""
    with pytest.raises(ValueError, match="key is one line"):
        event_question(event_key=key)


def test_key_belongs_to_an_event() -> None:
    """On anything else it would do nothing, in silence."""
    with pytest.raises(ValueError, match="a key belongs to an event"):
        event_question(kind="text", event_key="k")


def test_event_without_a_key_is_awaited_by_its_id() -> None:
    """Its copy in a fork has another id, and so another key."""
    assert event_question(event_key="deploy/7").awaited == "deploy/7"
    assert event_question().awaited == "q_1"
    assert event_question().key == ""
