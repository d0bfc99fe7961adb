"""`fold`: what a thread's events add up to."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings

from agent_core.errors import ImpossibleEvent
from agent_core.thread.events import Event, Millis, ModelReplied
from agent_core.thread.fold import fold
from agent_core.thread.state import Meter, ThreadState
from agent_core.thread.usage import NO_USAGE, Usage, tidy
from tests.unit.agent_core.thread.logs import (
    CALL_IN,
    CHOSEN,
    RUNNING,
    SPOKEN,
    START,
    answered,
    ask,
    asked,
    broke,
    call_in,
    cancelled,
    chose,
    compacted,
    failed,
    finished,
    launched,
    limited,
    may_go_on,
    noted,
    paused,
    refused,
    replied,
    resumed,
    returned,
    said,
    started,
    state_of,
)
from tests.unit.agent_core.thread.stories import STORIES
from tests.unit.agent_core.thread.walks import histories

every_story = pytest.mark.parametrize("events", STORIES.values(), ids=STORIES)


def shown(state: ThreadState) -> list[tuple[int, str]]:
    """What the model gets to see, in short."""
    return [(seq, type(entry).__name__) for seq, entry in state.entries]


@every_story
def test_a_fold_may_be_split_anywhere(events: list[Event]) -> None:
    """A state that was kept goes on exactly as one that is folded from the start."""
    whole = fold(events)

    for cut in range(len(events) + 1):
        assert fold(events[cut:], onto=fold(events[:cut])) == whole


@settings(max_examples=40)
@given(histories())
def test_any_history_may_be_folded_in_parts(events: list[Event]) -> None:
    """Every prefix of a history folds, one event at a time, to the same state as the whole."""
    state = fold([])
    for event in events:
        state = fold([event], onto=state)

    assert state == fold(events)


@every_story
def test_a_fold_leaves_the_state_that_it_goes_on_from_alone(events: list[Event]) -> None:
    """A state is a value: whoever holds one holds it for ever."""
    for cut in range(len(events)):
        before = fold(events[:cut])
        kept = msgspec.json.encode(before)
        fold(events[cut:], onto=before)

        assert msgspec.json.encode(before) == kept


@every_story
def test_a_state_can_be_kept_as_json(events: list[Event]) -> None:
    """A store may keep a snapshot: what is read back is what was written."""
    state = fold(events)

    assert msgspec.json.decode(msgspec.json.encode(state), type=ThreadState) == state


@settings(max_examples=40)
@given(histories())
def test_every_call_is_open_or_has_exactly_one_result(events: list[Event]) -> None:
    """In every path, at every moment: settled means one result, anything else none."""
    state = fold([])
    for event in events:
        state = fold([event], onto=state)
        for key, call in state.calls.items():
            assert (call.result is not None) == (call.status == "settled")
            assert (key in state.open_calls) == (call.status != "settled")


@settings(max_examples=40)
@given(histories())
def test_a_result_once_given_never_changes(events: list[Event]) -> None:
    """What the model was told of a call stays what it was told."""
    state = fold([])
    for event in events:
        before, state = state, fold([event], onto=state)
        for key, call in before.calls.items():
            if call.result is not None and key in state.calls:
                assert state.calls[key].result == call.result


def test_nothing_adds_up_to_a_new_thread() -> None:
    """An empty log is a thread that nobody has launched."""
    state = fold([])

    assert state == ThreadState()
    assert (state.seq, state.created_at, state.updated_at) == (0, 0, 0)
    assert state.meter == Meter(steps=0, usage=Usage(0, 0, 0.0), active_ms=0, same_calls=0)


def test_a_launch_says_who_what_and_where() -> None:
    """The facts of the launch are the thread's own."""
    state = state_of(launched(metadata={"ticket": 7}))

    assert (state.id, state.agent, state.requester) == ("t1", "support", "ada")
    assert (state.origin, state.metadata) == ("slack:T1/C1", {"ticket": 7})
    assert (state.seq, state.created_at, state.updated_at) == (1, START, START)


def test_a_message_is_for_the_model_to_see() -> None:
    """A message makes work."""
    state = state_of(*SPOKEN)

    assert shown(state) == [(2, "MessageReceived")]
    assert state.unseen


def test_a_reply_has_seen_everything_before_it() -> None:
    """After it nothing is left to show."""
    state = state_of(*SPOKEN, replied("hello"))

    assert not state.unseen
    assert state.last_words() == "hello"


def test_a_message_that_came_while_the_model_was_thinking_stands_after_its_reply() -> None:
    """The model didn't know it, so the order that it sees later must not say that it did."""
    state = state_of(*SPOKEN, said("wait!"), said("no, go"), replied("hello", seen=2))

    assert shown(state) == [
        (2, "MessageReceived"),
        (5, "ModelReplied"),
        (3, "MessageReceived"),
        (4, "MessageReceived"),
    ]
    assert state.unseen


def test_a_message_before_everything_that_the_model_saw_stays_there() -> None:
    """`seen` moves only what came after it."""
    state = state_of(*SPOKEN, replied("hello", seen=2))

    assert shown(state) == [(2, "MessageReceived"), (3, "ModelReplied")]
    assert not state.unseen


def test_even_the_first_message_can_come_too_late_for_a_reply() -> None:
    """If the model had seen nothing but the launch, all that was said comes after its words."""
    state = state_of(*SPOKEN, replied("good morning", seen=1))

    assert shown(state) == [(3, "ModelReplied"), (2, "MessageReceived")]


def test_a_message_while_a_question_is_open_stands_after_the_call_and_its_result() -> None:
    """The result belongs to the reply that chose the call, so the model sees it first."""
    state = state_of(*CALL_IN["waiting"], said("hurry"), answered("blue"))

    assert shown(state)[-2:] == [(3, "ModelReplied"), (6, "MessageReceived")]
    assert call_in(state).result is not None


def test_notes_and_refused_answers_change_nothing_but_the_time() -> None:
    """They are there for whoever reads the log."""
    before = state_of(*RUNNING)

    after = fold([noted(), refused()], onto=before)

    after.seq, after.updated_at, after.active_ms = before.seq, before.updated_at, before.active_ms
    assert after == before


def test_usage_adds_up_over_replies_and_summaries() -> None:
    """Every model call costs, also the one that made a summary."""
    state = state_of(
        *SPOKEN,
        replied("one", usage=Usage(10, 5, 0.25)),
        said(),
        replied("two", usage=Usage(20, 5, 0.5)),
        compacted(3, usage=Usage(3, 2, 0.25)),
    )

    assert state.usage == Usage(33, 12, 1.0)
    assert state.usage == state.meter.usage
    assert state.usage.tokens == 45


def test_the_servers_count_of_tokens_is_kept_until_a_summary() -> None:
    """After a summary the old count says nothing any more."""
    counted = state_of(*SPOKEN, replied("one", usage=Usage(10, 5)))

    assert counted.last_input_tokens == 10
    assert fold([compacted(2)], onto=counted).last_input_tokens == 0


def test_steps_are_the_models_replies() -> None:
    """Tools and messages are none."""
    state = state_of(*RUNNING, returned(), said(), replied("done"))

    assert state.meter.steps == 2


def test_only_time_at_work_is_counted() -> None:
    """Waiting for people, for hours, doesn't use up a limit of seconds."""
    state = state_of(
        launched(),
        said(),
        5,
        replied("", chose()),
        asked(ask("q1", None)),
        3600,
        answered("go"),
        2,
        started(),
        3,
        noted(),
        4,
        returned(),
        paused(),
        3600,
        resumed(),
    )

    assert state.meter.active_ms == (5 + 2 + 3 + 4) * 1000


def test_a_clock_that_was_set_back_counts_nothing() -> None:
    """Time never runs backwards, whatever the machine says."""
    state = state_of(*SPOKEN, 10, replied("", chose()), -3600, started(), 2, returned())

    assert state.meter.active_ms == (10 + 2) * 1000


def test_the_same_call_in_a_row_is_counted() -> None:
    """Same tool, same arguments; anything else between them starts the count anew."""
    state = state_of(*SPOKEN, replied("", chose(n=1), chose(n=1), chose(n=1)))
    broken = state_of(*SPOKEN, replied("", chose(n=1), chose(n=2), chose(n=2)))

    assert state.meter.same_calls == 3
    assert broken.meter.same_calls == 2


@pytest.mark.parametrize(
    "set_going",
    [
        (finished(), said("more")),
        (broke(), said("more")),
        (broke(), resumed()),
        (limited("ask"), asked(may_go_on("q9")), answered("go_on", "q9")),
    ],
    ids=["message after the end", "message after a failure", "retry", "go on"],
)
def test_the_meter_starts_anew_when_a_person_sets_the_run_going(
    set_going: tuple[Event, ...],
) -> None:
    """A limit is for one run; what the thread cost in all is still known."""
    before = (*CHOSEN, failed(), replied("hm", usage=Usage(10, 5, 1.0)))

    state = state_of(*before, *set_going)

    assert state_of(*before).meter != ThreadState().meter
    assert state.meter == ThreadState().meter
    assert state.usage == Usage(10, 5, 1.0)


def test_the_same_call_chosen_again_after_a_restart_counts_as_the_first() -> None:
    """A new run may try once more what the last one tried too often."""
    state = state_of(*CHOSEN, failed(), broke(), resumed(), replied("", chose(order="123")))

    assert state.meter.same_calls == 1


def test_a_message_to_a_running_thread_does_not_reset_its_meter() -> None:
    """Else whoever writes often enough would lift every limit."""
    state = state_of(*SPOKEN, replied("hm"), said("and?"))

    assert state.meter.steps == 1


def test_resuming_a_paused_thread_does_not_reset_its_meter() -> None:
    """A pause is no new run."""
    state = state_of(*SPOKEN, replied("hm"), paused(), resumed())

    assert state.meter.steps == 1


def test_a_pause_names_who_and_why_until_it_ends() -> None:
    """Nothing of it is left afterwards."""
    held = state_of(*SPOKEN, paused("otto", "look"))
    gone = fold([resumed("ada")], onto=held)

    assert (held.paused_by, held.pause_reason) == ("otto", "look")
    assert (gone.paused_by, gone.pause_reason, gone.lifecycle) == ("", "", "active")


def test_resuming_without_an_instruction_says_nothing_to_the_model() -> None:
    """There is nothing to see."""
    state = state_of(*SPOKEN, replied("hm"), paused(), resumed())

    assert shown(state) == [(2, "MessageReceived"), (3, "ModelReplied")]
    assert not state.unseen


def test_an_instruction_at_resuming_is_for_the_model_to_see() -> None:
    """It makes work, like a message."""
    state = state_of(*SPOKEN, replied("hm"), paused(), resumed("otto", "be brief"))

    assert shown(state)[-1] == (5, "ThreadResumed")
    assert state.unseen


def test_a_cancellation_settles_calls_that_have_not_run() -> None:
    """They will not run, and the log says why; one that runs comes to its own end."""
    state = state_of(
        *SPOKEN,
        replied("", chose("a"), chose("b")),
        started("3.1"),
        cancelled("otto", "wrong customer"),
    )

    result = call_in(state, "3.0").result
    assert result is not None
    assert (result.outcome, result.value) == ("cancelled", "wrong customer")
    assert call_in(state, "3.1").status == "running"
    assert (state.cancelled_by, state.cancel_reason) == ("otto", "wrong customer")


def test_the_result_of_a_finished_thread_is_its_last_words_or_its_own() -> None:
    """A thread that is closed by hand may bring its own result."""
    assert state_of(*SPOKEN, replied("all done"), said("x"), finished()).final_result() == (
        "all done"
    )
    assert state_of(*SPOKEN, replied("all done"), finished("closed")).final_result() == "closed"
    assert state_of(*SPOKEN, replied("all done"), finished("")).final_result() == ""
    assert state_of(*SPOKEN, finished()).final_result() == ""


def test_finishing_leaves_nothing_to_see_and_no_call_open() -> None:
    """A thread that was closed by hand ends as cleanly as any."""
    state = state_of(*CHOSEN, said("wait"), finished("closed"))

    assert (state.unseen, state.open_calls) == (False, {})
    assert call_in(state).result is not None


def test_a_new_message_takes_up_a_finished_thread_with_its_history() -> None:
    """The old result is gone, the history is not."""
    state = state_of(*SPOKEN, replied("done"), finished("x"), said("more"))

    assert (state.lifecycle, state.result, state.unseen) == ("active", None, True)
    assert len(state.entries) == 3


def test_a_failure_is_remembered_until_somebody_sets_the_thread_going() -> None:
    """A retry clears the error."""
    broken = state_of(*SPOKEN, broke("no money"))

    assert broken.error == "no money"
    assert fold([resumed()], onto=broken).error == ""


def test_a_limit_that_finishes_names_itself() -> None:
    """The others ask or fail by further events."""
    assert state_of(*SPOKEN, limited("finish", "MaxSteps(3)")).stopping == "MaxSteps(3)"
    assert state_of(*SPOKEN, limited("ask")).stopping == ""
    assert state_of(*SPOKEN, limited("fail")).stopping == ""


def test_a_summary_stands_for_all_up_to_its_event() -> None:
    """What came later stays as it is, and settled calls that nothing needs are dropped."""
    state = state_of(*CHOSEN, started(), returned(), said("more"), replied("ok"), compacted(3))

    assert shown(state) == [(3, "ContextCompacted"), (6, "MessageReceived"), (7, "ModelReplied")]
    assert state.calls == {}


def test_a_summary_keeps_calls_that_may_have_to_be_undone() -> None:
    """Cancelling needs them, however long ago they ran."""
    state = state_of(*CHOSEN, started(compensable=True), returned(), replied("ok"), compacted(3))

    assert list(state.calls) == ["3.0"]


def test_a_reply_without_calls_can_be_summarised_too() -> None:
    """There is nothing to forget of it."""
    state = state_of(*SPOKEN, replied("one"), said("x"), compacted(4))

    assert shown(state) == [(4, "ContextCompacted")]


def test_the_last_model_that_was_named_is_the_one_that_replied() -> None:
    """It is written only when it changes."""
    state = state_of(
        *SPOKEN,
        ModelReplied(at=START, text="one", model="small"),
        said(),
        replied("two"),
    )

    assert state.model == "small"


def test_usage_is_written_without_its_zeros() -> None:
    """A long thread has one in every reply."""
    assert tidy(Usage(0, 0, 0.0)) is NO_USAGE
    assert msgspec.json.encode(tidy(Usage(5, 7, 0.0))) == b'{"in":5,"out":7}'
    assert msgspec.json.encode(tidy(Usage(5, 7, 0.5))) == b'{"in":5,"out":7,"cost":0.5}'


def test_tokens_of_two_calls_add_up() -> None:
    """Usage is a value."""
    assert Usage(1, 2, 0.5) + Usage(3, 4, 0.25) == Usage(4, 6, 0.75)


def test_times_are_the_logs_own() -> None:
    """No clock is read: the state is as old as its last event."""
    state = state_of(*SPOKEN, 60, replied("hm"))

    assert state.updated_at == Millis(START + 61_000)
    assert isinstance(state.entries[-1][1], ModelReplied)


@pytest.mark.parametrize("seen", [2, 4, 99])
def test_a_reply_has_seen_at_least_the_reply_before_it(seen: int) -> None:
    """A forged `seen` would make a fold move the same entries over and over."""
    with pytest.raises(ImpossibleEvent, match="can't have seen"):
        state_of(*SPOKEN, replied("one"), replied("two", seen=seen))


def test_a_summary_can_not_stand_for_what_has_not_happened() -> None:
    """`through` names an event of the past."""
    with pytest.raises(ImpossibleEvent, match="has not happened yet"):
        state_of(*SPOKEN, compacted(3))


def test_a_message_in_the_moment_of_stopping_sets_the_run_going() -> None:
    """A limit said finish, and then somebody wrote: they get an answer, and a fresh meter."""
    state = state_of(*SPOKEN, replied("one"), said("and?"), limited("finish"), said("hello?"))

    assert (state.stopping, state.unseen, state.steps) == ("", True, 0)
