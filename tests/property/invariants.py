"""What holds in every story, each rule a check of its own.

`hold_always` looks after every act, `hold_at_rest` when no worker has the thread, and
`hold_at_the_end` reads the whole log again, prefix by prefix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, get_args

from agent_core import render_chat
from agent_core.thread.checkpoint import Log
from agent_core.thread.events import (
    CompensationRan,
    ContextCompacted,
    Event,
    ModelReplied,
    QuestionAnswered,
    QuestionAsked,
    QuestionExpired,
    QuestionWithdrawn,
    ThreadLaunched,
    ToolFailed,
    ToolReturned,
    ToolStarted,
)
from agent_core.thread.fold import fold
from agent_core.thread.questions import Question
from agent_core.thread.state import CallResult, Status, ThreadState
from agent_core.thread.steps import status
from tests.property.agents_at_random import INSTRUCTIONS
from tests.property.stage import Stage
from tests.property.tools_at_random import TOOLS

_MAY_HAVE_TAKEN_EFFECT = ("timeout", "interrupted", "bad_result", "outcome_unknown")


# After every act


def nothing_forbidden_was_seen_on_stage(stage: Stage) -> None:
    """No tool, model or compensation began when it must not."""
    assert stage.ledger.problems == []


def messages_are_well_formed(stage: Stage) -> None:
    """In the chat every call has one result, right behind the message that chose it."""
    check_messages(render_chat(stage.thread.state, INSTRUCTIONS))


def check_messages(messages: list[dict[str, Any]]) -> None:
    """Each tool call id once, its tool message once, in the turn that it belongs to."""
    due: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert due, f"a result without a call: {message}"
            assert message["tool_call_id"] == due.pop(0)
            continue
        assert due == [], f"{due} have no result before {message}"
        due = [one["id"] for one in message.get("tool_calls", ())]
        assert len({*due}) == len(due), f"an id twice in {due}"
        assert seen.isdisjoint(due), f"an id of {due} came before"
        seen.update(due)
    assert due == [], f"{due} have no result"


def requests_are_well_formed(stage: Stage) -> None:
    """The model only ever gets whole turns, and no result that is still to come."""
    for request in stage.ledger.requests:
        check_messages(request.messages)
        pending = [one for one in request.messages if one["content"] == "There is no result yet."]
        assert pending == []


def every_question_ends_at_most_once(stage: Stage) -> None:
    """Answered, expired, withdrawn or replaced: one of them, once."""
    ends = Counter(_ended(event) for event in stage.thread.events)
    del ends[None]
    assert [key for key, count in ends.items() if count > 1] == []


def _ended(event: Event) -> str | None:
    match event:
        case QuestionAnswered() | QuestionExpired() | QuestionWithdrawn():
            return event.question
        case QuestionAsked(replaces=str(replaced)):
            return replaced
    return None


def every_tool_runs_only_as_often_as_it_may(stage: Stage) -> None:
    """A body begins at most once for each start, and as often again as the tool has retries."""
    tools = {key: call.tool for key, call in _all_calls(stage.thread.events).items()}
    times = Counter((run.call, run.start) for run in _bodies(stage))
    for (key, start), count in times.items():
        most = 1 + TOOLS[tools[key]].retries
        assert count <= most, f"start {start} of {tools[key]} {key} ran {count} times"


def every_start_has_its_reason(stage: Stage) -> None:
    """A tool starts once; again only if it is idempotent, was answered, or a person said so."""
    free: set[str] = set()
    calls = _all_calls(stage.thread.events)
    questions = _questions(stage.thread.events)
    started: set[str] = set()
    for event in stage.thread.events:
        match event:
            case ToolStarted(call=key):
                may = key not in started or key in free or TOOLS[calls[key].tool].idempotent
                assert may, f"{calls[key].tool} {key} started again without a reason"
                started.add(key)
                free.discard(key)
            case QuestionAnswered(question=asked, value=value):
                question = questions[asked]
                if question.purpose == "ask" or value == "run_again":
                    free.add(str(question.call))


def nothing_runs_unapproved(stage: Stage) -> None:
    """What needs approval starts only after a yes to exactly what then runs."""
    questions = _questions(stage.thread.events)
    arguments = {key: call.arguments for key, call in _all_calls(stage.thread.events).items()}
    tools = {key: call.tool for key, call in _all_calls(stage.thread.events).items()}
    approved: dict[str, object] = {}
    for event in stage.thread.events:
        match event:
            case QuestionAnswered(question=asked, value={"approved": True, **rest}) if (
                questions[asked].purpose == "approval"
            ):
                key = str(questions[asked].call)
                arguments[key] = rest.get("arguments", questions[asked].arguments)
                approved[key] = arguments[key]
            case ToolStarted(call=key) if TOOLS[tools[key]].needs_approval(arguments[key]):
                assert approved.get(key) == arguments[key], f"{tools[key]} {key} was not approved"
    for run in _bodies(stage):
        assert run.n in (-1, arguments[run.call]["n"]), f"{run} ran with other arguments"


def an_approval_is_asked_for_once(stage: Stage) -> None:
    """After a yes, with edits or without, nobody is asked again; only a fork asks anew."""
    questions = _questions(stage.thread.events)
    approved: set[str] = set()
    for event in _own(stage.thread.events):
        match event:
            case QuestionAnswered(question=asked, value={"approved": True}) if (
                questions[asked].purpose == "approval"
            ):
                approved.add(str(questions[asked].call))
            case QuestionAsked(question=question) if question.purpose == "approval":
                assert question.call not in approved, f"{question.call} was approved before"


def what_came_meanwhile_stands_behind_the_reply(stage: Stage) -> None:
    """The model had not seen it when it replied, so it must not look as if it had."""
    place = {seq: index for index, (seq, _) in enumerate(stage.thread.state.entries)}
    for seq, event in enumerate(stage.thread.events, 1):
        if isinstance(event, ModelReplied) and event.seen and seq in place:
            late = [one for one in range(event.seen + 1, seq) if one in place]
            assert all(place[one] > place[seq] for one in late), f"{late} before reply {seq}"


def answers_reach_their_own_question(stage: Stage) -> None:
    """What a tool hears is what was answered to that very question of that very call."""
    questions = _questions(stage.thread.events)
    answered = {
        (str(questions[event.question].call), questions[event.question].prompt, str(event.value))
        for event in stage.thread.events
        if isinstance(event, QuestionAnswered)
    }
    for heard in stage.ledger.heard:
        if heard.thread == stage.thread.state.id:
            assert (heard.call, heard.prompt, str(heard.value)) in answered, heard


def status_is_known(stage: Stage) -> None:
    """The log alone gives one of the known statuses."""
    assert status(stage.thread.state) in get_args(Status)


def only_a_cancelled_thread_is_undone(stage: Stage) -> None:
    """Compensations settle once, in reverse order of the effects, and only this thread's own."""
    own = _own(stage.thread.events)
    settled = [one.call for one in own if isinstance(one, CompensationRan) and one.settled]
    effects = _effects(stage.thread.events)
    assert settled == effects[::-1][: len(settled)], f"undone: {settled}, effects: {effects}"


# When no worker has it


def every_call_is_settled_or_waited_for(stage: Stage) -> None:
    """At rest a call has its result, or somebody is being asked for its sake."""
    state = stage.thread.state
    if state.lifecycle in ("paused", "failed") or stage.hand.halt_reason:
        return
    asked = {one.question.call for one in state.waiting_questions() if one.question.wait}
    for key, call in state.calls.items():
        assert (call.result is None) == (key in asked), f"{call} with {state.open_questions}"


def an_active_thread_waits_for_people_only(stage: Stage) -> None:
    """At rest, `waiting` means that people are asked, and nothing else is left to do."""
    state = stage.thread.state
    if state.lifecycle == "active" and not stage.hand.halt_reason:
        assert status(state) == "waiting"
        assert state.open_questions


def what_was_done_is_undone(stage: Stage) -> None:
    """A cancelled thread at rest has undone every effect that it had, once each."""
    state = stage.thread.state
    if state.lifecycle != "cancelled" or stage.hand.halt_reason:
        return
    calls = _all_calls(stage.thread.events)
    real = {
        key
        for thread, key in stage.ledger.effects
        if thread == state.id and TOOLS[calls[key].tool].compensate is not None
    }
    settled = {key for key, one in state.compensations.items() if one.settled}
    assert real <= settled, f"{real - settled} had an effect that was not undone"
    assert settled == {*_effects(stage.thread.events)}
    tried = {key for thread, key in stage.ledger.undone if thread == state.id}
    assert tried <= settled, f"{tried - settled} were undone without a record"


def the_model_has_seen_everything(stage: Stage) -> None:
    """A thread that ends by itself ends with the model's own words, after everybody's."""
    state = stage.thread.state
    told_to_end = stage.was_closed or state.stopping
    if state.lifecycle == "finished" and state.entries and not told_to_end:
        last = render_chat(state, INSTRUCTIONS)[-1]
        assert (last["role"], last.get("tool_calls")) == ("assistant", None)


# At the end, over the whole log


def every_prefix_folds_and_reads_back(stage: Stage) -> None:
    """A state is the fold of its events however they are cut, and the text comes back as it was."""
    events = stage.thread.events
    whole = fold(events)
    assert whole == stage.thread.state
    log, state = Log(), ThreadState()
    for index, event in enumerate(events):
        log.extend([event])
        state = fold([event], onto=state)
        text = log.text()
        read, again = Log.read(text)
        assert again == state, f"the first {index + 1} events read back as another state"
        assert read.text() == text
        assert fold(events[index + 1 :], onto=state) == whole


def a_result_never_changes(stage: Stage) -> None:
    """The first result of a call is its only one."""
    results: dict[str, CallResult] = {}
    for state in _states(stage.thread.events):
        for key, call in state.calls.items():
            if call.result is not None:
                assert results.setdefault(key, call.result) == call.result
            else:
                assert key not in results, f"the result of {key} is gone"


def every_call_was_settled_once(stage: Stage) -> None:
    """Of tools' own endings there is at most one for each call."""
    ends = Counter(
        one.call for one in stage.thread.events if isinstance(one, (ToolReturned, ToolFailed))
    )
    assert [key for key, count in ends.items() if count > 1] == []


def compaction_keeps_the_last_messages(stage: Stage) -> None:
    """A summary replaces the old, never one of the last messages that the agent wants kept."""
    before = ThreadState()
    for event, after in zip(stage.thread.events, _states(stage.thread.events), strict=True):
        if isinstance(event, ContextCompacted):
            kept = before.entries[-stage.story.setting.keep :]
            assert after.entries[1:][-len(kept) :] == kept
        before = after


def _states(events: list[Event]) -> Iterator[ThreadState]:
    state = ThreadState()
    for event in events:
        state = fold([event], onto=state)
        yield state


def _all_calls(events: list[Event]) -> dict[str, Any]:
    """Every call ever chosen, by its key, as it was chosen."""
    return {
        f"{seq}.{index}": chosen
        for seq, event in enumerate(events, 1)
        if isinstance(event, ModelReplied)
        for index, chosen in enumerate(event.calls)
    }


def _questions(events: list[Event]) -> dict[str, Question]:
    return {one.question.id: one.question for one in events if isinstance(one, QuestionAsked)}


def _bodies(stage: Stage) -> list[Any]:
    return [one for one in stage.ledger.bodies if one.thread == stage.thread.state.id]


def _own(events: list[Event]) -> list[Event]:
    """What has happened in this thread itself, not in the one that it is a fork of."""
    launched = events[0]
    assert isinstance(launched, ThreadLaunched)
    return events[launched.forked_at :]


def _effects(events: list[Event]) -> list[str]:
    """Which calls this thread must undo, in the order in which it did, or may have done, them."""
    compensable: set[str] = set()
    found: dict[str, None] = {}
    for event in _own(events):
        match event:
            case ToolStarted(call=key, compensable=True):
                compensable.add(key)
            case ToolReturned(call=key) if key in compensable:
                found[key] = None
            case ToolFailed(call=key, reason=reason) if key in compensable:
                if reason in _MAY_HAVE_TAKEN_EFFECT:
                    found[key] = None
            case QuestionAsked(question=question) if question.call in compensable:
                if question.wait and _shows_effect(question):
                    found[str(question.call)] = None
    return list(found)


def _shows_effect(question: Question) -> bool:
    doubt = question.purpose == "outcome"
    return doubt or (question.purpose == "ask" and question.resume_to in ("next", "event"))


Check = Callable[[Stage], None]

ALWAYS: tuple[Check, ...] = (
    nothing_forbidden_was_seen_on_stage,
    messages_are_well_formed,
    requests_are_well_formed,
    every_question_ends_at_most_once,
    every_tool_runs_only_as_often_as_it_may,
    every_start_has_its_reason,
    nothing_runs_unapproved,
    an_approval_is_asked_for_once,
    what_came_meanwhile_stands_behind_the_reply,
    answers_reach_their_own_question,
    status_is_known,
    only_a_cancelled_thread_is_undone,
)
AT_REST: tuple[Check, ...] = (
    every_call_is_settled_or_waited_for,
    an_active_thread_waits_for_people_only,
    what_was_done_is_undone,
    the_model_has_seen_everything,
)
AT_THE_END: tuple[Check, ...] = (
    every_prefix_folds_and_reads_back,
    a_result_never_changes,
    every_call_was_settled_once,
    compaction_keeps_the_last_messages,
)


def hold_always(stage: Stage) -> None:
    """Check what must hold at any moment."""
    for check in ALWAYS:
        check(stage)


def hold_at_rest(stage: Stage) -> None:
    """Check what must hold when no worker has the thread."""
    for check in (*ALWAYS, *AT_REST):
        check(stage)


def hold_at_the_end(stage: Stage) -> None:
    """Check everything."""
    for check in (*ALWAYS, *AT_REST, *AT_THE_END):
        check(stage)
