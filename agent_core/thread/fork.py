"""Fork: the log up to an event, under a new id, with open questions asked anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agent_core.errors import Refused
from agent_core.thread.events import (
    Event,
    Millis,
    QuestionAsked,
    QuestionWithdrawn,
    ThreadId,
    ThreadLaunched,
)
from agent_core.thread.fold import fold
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import QuestionState, ThreadState


def fork(
    events: Sequence[Event],
    *,
    at_seq: int | None,
    thread: ThreadId,
    now: Millis,
    new_question: Callable[[], QuestionId],
) -> list[Event]:
    """Copy a log up to and with event `at_seq`; what it had done is not done again.

    A call that was running there is found without a result, as after a crash, and treated so.
    """
    upto = len(events) if at_seq is None else at_seq
    if not 1 <= upto <= len(events):
        raise Refused(f"there is no event {at_seq}: the log has events 1 to {len(events)}")
    first = events[0]
    if not isinstance(first, ThreadLaunched):
        raise Refused("a log begins with ThreadLaunched")
    launched = replace(first, thread=thread, forked_from=first.thread, forked_at=upto)
    copied: list[Event] = [launched, *events[1:upto]]
    state = fold(copied)
    return [*copied, *(_anew(state, one, now, new_question) for one in state.waiting_questions())]


def _anew(
    state: ThreadState, current: QuestionState, now: Millis, new_question: Callable[[], QuestionId]
) -> Event:
    question = current.question
    if question.wait and question.call is not None and question.call not in state.open_calls:
        # The log was cut where a call had just ended, and its other questions not yet.
        return QuestionWithdrawn(at=now, question=question.id, reason="its call had ended")
    return QuestionAsked(
        at=now, question=replace(question, id=new_question()), replaces=question.id
    )
