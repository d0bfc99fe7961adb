"""Does an answer fit its question? What fits is brought to its one form; the rest is explained.

The messages here are read by people in Slack and in their mail: they say what would fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, assert_never

from agent_core.errors import AlreadySettled, AmbiguousAnswer, NotJson, UnknownQuestion, WrongShape
from agent_core.json_values import Json, JsonObject, plain
from agent_core.thread.forms import check_form
from agent_core.thread.questions import YES_NO, Question, QuestionId
from agent_core.thread.state import QuestionState, ThreadState
from agent_core.thread.times import spoken

CheckArguments: TypeAlias = Callable[[str, JsonObject], JsonObject]
"""Validates edited arguments for a tool of that name; raises WrongShape in words."""


def shape_answer(question: Question, value: object, check_arguments: CheckArguments) -> Json:
    """Bring an answer to the form that its question's kind has, or raise WrongShape."""
    try:
        answer = plain(value, "the answer")
    except NotJson as exc:
        raise WrongShape(str(exc)) from exc
    match question.kind:
        case "text":
            return _text(answer)
        case "choice":
            return _choice(question, answer)
        case "approval":
            return _approval(question, answer, check_arguments)
        case "form":
            return _form(question, answer)
        case "event":
            return _object(answer, "An event's answer is an object.")
        case never:
            assert_never(never)


def sort_answers(state: ThreadState, answer: Json) -> dict[QuestionId, Json]:
    """Find out which question each part of an answer is for.

    An object whose keys are ids of this thread's questions answers several; anything else is
    the answer to the one question that is open.
    """
    if isinstance(answer, Mapping) and any(key in state.questions for key in answer):
        for key in answer:
            if key not in state.questions:
                raise UnknownQuestion(f"this thread never asked a question {key!r}")
        return dict(answer)
    if isinstance(answer, Mapping) and answer and all(_is_minted(key) for key in answer):
        raise UnknownQuestion(f"this thread never asked a question {next(iter(answer))!r}")
    if len(state.open_questions) == 1:
        return {next(iter(state.open_questions)): answer}
    if not state.open_questions:
        raise AlreadySettled("no question is open in this thread" + _last_settled(state))
    waiting = ", ".join(state.open_questions)
    raise AmbiguousAnswer(f"several questions are open ({waiting}); say which one you answer")


def _is_minted(key: object) -> bool:
    """Tell an id that we make from the name of a form's field."""
    return isinstance(key, str) and key.startswith("q_")


def require_open(state: ThreadState, key: QuestionId) -> QuestionState:
    """Give the question if it can still be answered, or tell who was first."""
    current = state.questions.get(key)
    if current is None:
        raise UnknownQuestion(f"this thread never asked a question {key!r}")
    if current.status != "open":
        raise AlreadySettled(f"question {key} was {settled_words(current)}")
    return current


def settled_words(current: QuestionState) -> str:
    """Tell how a question ended: "answered by otto at 2026-11-16 09:30 UTC"."""
    by = f" by {current.settled_by}" if current.settled_by else ""
    return f"{current.status}{by} at {spoken(current.settled_at or current.asked_at)}"


def _last_settled(state: ThreadState) -> str:
    settled = [one for one in state.questions.values() if one.settled_at is not None]
    if not settled:
        return ""
    last = max(settled, key=lambda one: one.settled_at or 0)
    return f"; {last.question.id} was {settled_words(last)}"


def _text(answer: Json) -> str:
    if isinstance(answer, str) and answer.strip():
        return answer
    raise WrongShape("Please answer in words.")


def _choice(question: Question, answer: Json) -> str:
    names = [option.name for option in question.options]
    if isinstance(answer, bool) and question.options == YES_NO:
        return "yes" if answer else "no"
    if isinstance(answer, str):
        if answer in names:
            return answer
        wanted = answer.strip().casefold()
        alike = [name for name in names if name.casefold() == wanted]
        if len(alike) == 1:
            return alike[0]
    raise WrongShape(f"Please choose one of: {', '.join(names)}.")


def _approval(question: Question, answer: Json, check_arguments: CheckArguments) -> JsonObject:
    if isinstance(answer, bool):
        answer = {"approved": answer}
    match answer:
        case {"approved": bool(approved), **rest} if not rest:
            return {"approved": approved}
        case {"approved": True, "arguments": dict(edited), **rest} if not rest and question.tool:
            return {"approved": True, "arguments": check_arguments(question.tool, edited)}
    raise WrongShape(
        'Please approve or deny: {"approved": true} or {"approved": false}; to change what runs, '
        'approve with "arguments".'
    )


def _form(question: Question, answer: Json) -> JsonObject:
    filled = _object(answer, "Please fill in the form: its answer is an object.")
    check_form(question.schema or {}, filled)
    return filled


def _object(answer: Json, otherwise: str) -> JsonObject:
    if isinstance(answer, dict):
        return answer
    raise WrongShape(otherwise)
