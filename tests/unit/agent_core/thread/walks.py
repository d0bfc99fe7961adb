"""Random histories for hypothesis: each step is something that may honestly happen next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product

from hypothesis import strategies as st
from msgspec.structs import replace

from agent_core.errors import AlreadyVoted, MayNotDecide, Refused, TooLate
from agent_core.json_values import Json, JsonObject
from agent_core.thread import commands, timers
from agent_core.thread.events import Event, Millis
from agent_core.thread.fold import fold
from agent_core.thread.questions import Escalation, Policy, Question, QuestionId, Waiting
from agent_core.thread.state import Call, ThreadState
from agent_core.thread.steps import (
    CallModel,
    Compensate,
    Finish,
    Recover,
    RunCalls,
    Step,
    Wait,
    next_step,
)
from tests.unit.agent_core.thread.logs import (
    approval,
    ask,
    broke,
    chose,
    compacted,
    doubt,
    failed,
    finished,
    launched,
    limited,
    log,
    may_go_on,
    noted,
    replied,
    returned,
    said,
    started,
    undone,
)
from tests.unit.agent_core.thread.logs import asked as asked_

_WAITINGS = (
    Waiting(),
    Waiting(remind_after=7, expires_after=30),
    Waiting(remind_after=20, expires_after=15, on_expiry="escalate", escalate_to=("a", "b")),
    Waiting(remind_after=5, expires_after=9, on_expiry="wait"),
    Waiting(
        remind_after=3,
        remind_times=2,
        remind_growth=3,
        expires_after=40,
        on_expiry="escalate",
        escalate_to=(Escalation(("a", "b"), 20), "c"),
    ),
)
_POLICIES = (Policy(), Policy(2), Policy(2, not_requester=True, veto=False))
_PEOPLE = ("otto", "ada")
_ANSWERS: dict[str, list[Json]] = {
    "text": ["blue"],
    "approval": [{"approved": True}, {"approved": False}, {"approved": True, "arguments": {}}],
    "event": [{"ok": True}],
}


@st.composite
def histories(draw: st.DrawFn, most: int = 30) -> list[Event]:
    """Draw a log that commands, timers and the loop could have written."""
    events = log(launched(), said())
    state = fold(events)
    now = state.updated_at
    for _ in range(draw(st.integers(0, most))):
        now = Millis(now + 1000 * draw(st.sampled_from([0, 1, 10, 100])))
        news = draw(st.sampled_from(list(_possible(state, now))))
        dated = [replace(one, at=now) for one in news]
        state = fold(dated, onto=state)
        events += dated
    return events


def _possible(state: ThreadState, now: Millis) -> Iterator[list[Event]]:
    """Give what may come next, each as the events that are appended together."""
    yield []
    yield from _people(state, now)
    yield list(timers.due(state, now))
    yield from _loop(state, next_step(state))


def _people(state: ThreadState, now: Millis) -> Iterator[list[Event]]:
    said_by_people: list[Callable[[], list[Event]]] = [
        lambda: commands.receive(state, "hm", at=now, sender="ada"),
        lambda: commands.pause(state, at=now, by="ada"),
        lambda: commands.resume(state, at=now, instruction="go"),
        lambda: commands.retry(state, at=now),
        lambda: commands.close(state, at=now, withdraw_open=True),
        lambda: commands.cancel(state, at=now, by="ada"),
    ]
    for command in said_by_people:
        with suppress(Refused):
            yield command()
    for current in state.waiting_questions():
        key = current.question.id
        for value, by in product(_values(current.question), _PEOPLE):
            with suppress(MayNotDecide, AlreadyVoted):
                yield commands.answer(
                    state, {key: value}, at=now, by=by, check_arguments=_any_arguments
                )
        yield commands.withdraw(state, key, at=now)
    for key in state.questions:
        with suppress(TooLate):
            yield commands.take_back(state, key, at=now, new_question=_new(state), by="otto")


def _values(question: Question) -> list[Json]:
    return _ANSWERS.get(question.kind) or [option.name for option in question.options]


def _any_arguments(_tool: str, arguments: JsonObject) -> JsonObject:
    return arguments


def _loop(state: ThreadState, step: Step) -> Iterator[list[Event]]:
    match step:
        case CallModel():
            yield [replied("thinking", chose("a", n=1), chose("b"), chose("a", n=1))]
            yield [replied("words", seen=max(1, state.replied_seq, state.seq - 1))]
            yield [limited("ask"), asked_(may_go_on(_new(state)))]
            yield [limited("finish")]
            yield [broke()]
            if len(state.entries) > 2:
                yield [compacted(state.entries[-2][0])]
        case RunCalls(calls):
            yield from ([event] for call in calls for event in _first(state, call))
        case Recover(calls):
            yield from (event for call in calls for event in _run(state, call))
        case Compensate(call):
            yield [undone(call.key, error="no", settled=False)]
            yield [undone(call.key)]
        case Finish():
            if not state.open_questions:
                yield [finished()]
        case Wait():
            pass


def _first(state: ThreadState, call: Call) -> Iterator[Event]:
    yield started(call.key, compensable=call.tool == "a", attempt=call.attempt + 1)
    yield failed("bad_arguments", call=call.key)
    if call.status == "chosen":
        policy = _POLICIES[state.seq % len(_POLICIES)]
        yield asked_(approval(_new(state), call.key, waiting=_waiting(state), policy=policy))


def _run(state: ThreadState, call: Call) -> Iterator[list[Event]]:
    key = call.key
    yield [noted(call=key)]
    yield [returned(call=key)]
    yield [failed("timeout", call=key)]
    if state.lifecycle == "active":
        new = _new(state)
        yield [asked_(doubt(new, key))]
        yield [asked_(ask(new, key, wait=False, waiting=_waiting(state))), returned(call=key)]
        yield [asked_(ask(new, key, resume_to="self", waiting=_waiting(state)))]
        yield [asked_(ask(new, key, kind="event", resume_to="event", handler="h"))]
        yield [
            asked_(ask(new, key, resume_to="ask", waiting=_waiting(state))),
            asked_(ask(f"{new}b", key, resume_to="ask")),
        ]


def _waiting(state: ThreadState) -> Waiting:
    return _WAITINGS[state.seq % len(_WAITINGS)]


def _new(state: ThreadState) -> QuestionId:
    return QuestionId(f"q{state.seq}")
