"""What threads have added up to lately: a memory aid, and a small one."""

from __future__ import annotations

from agent_core.thread.events import QuestionAnswered, ThreadId
from agent_core.thread.fold import fold
from agent_core.thread.state import ThreadState
from gateway.shortcuts.states import Known, States
from tests.unit.gateway.logs_of_threads import asking


def state(name: str, entries: int = 0) -> ThreadState:
    """Make a state of a thread."""
    made = ThreadState(id=ThreadId(name))
    made.entries = [(number, None) for number in range(entries)]  # type: ignore[misc]
    return made


def test_last_kept_is_what_is_known() -> None:
    """And nothing, when it was forgotten."""
    states = States()
    states.keep(Known(state("a")))
    states.keep(Known(later := state("a"), 7))
    known = states.get(ThreadId("a"))
    states.forget(ThreadId("a"))
    states.forget(ThreadId("b"))

    assert known == Known(later, 7)
    assert states.get(ThreadId("a")) is None


def test_longest_unused_goes_first() -> None:
    """There is room for so many, and for none that is too long."""
    states = States(most=2, longest=3)
    for name in ("a", "b", "a", "c"):
        states.keep(Known(state(name)))
    states.keep(Known(state("c", entries=4)))

    assert [one for one in "abc" if states.get(ThreadId(one))] == ["a"]


async def test_open_question_leads_to_its_thread() -> None:
    """For as long as its thread is remembered, and it is open."""
    log = await asking()
    first, second = log.open
    states = States(most=1)
    states.keep(Known(fold(log.events)))
    assert states.thread_of(first) == states.thread_of(second) == "th_1"

    answer = QuestionAnswered(at=log.clock.moment, question=first, value={"approved": False})
    states.keep(Known(fold(log.add(answer).events)))
    assert (states.thread_of(first), states.thread_of(second)) == (None, "th_1")

    states.keep(Known(state("other")))
    assert states.thread_of(second) is None
