"""`fold(events) → ThreadState`: pure, total over every history that could have happened.

The shell decides; this only records. Each event has one small function that changes a working
copy, so that a fold of ten thousand events makes one copy and not ten thousand. What an event
means for a call or a question is in `call_fold` and `question_fold`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, get_args

from agent_core.errors import ImpossibleEvent
from agent_core.json_values import compact
from agent_core.thread import call_fold, question_fold
from agent_core.thread.events import (
    AnswerRefused,
    ApprovalTakenBack,
    ChosenCall,
    CompensationRan,
    ContextCompacted,
    Event,
    LimitReached,
    MessageReceived,
    ModelReplied,
    PersonErased,
    ProgressNoted,
    QuestionAnswered,
    QuestionAsked,
    QuestionEscalated,
    QuestionExpired,
    QuestionReminded,
    QuestionWithdrawn,
    ThreadCancelled,
    ThreadFailed,
    ThreadFinished,
    ThreadLaunched,
    ThreadMoved,
    ThreadPaused,
    ThreadResumed,
    ToolFailed,
    ToolReturned,
    ToolStarted,
    VoteCast,
)
from agent_core.thread.questions import CallKey
from agent_core.thread.state import Call, ThreadState
from agent_core.thread.transitions import THREAD, Lifecycle
from agent_core.thread.usage import NO_USAGE

_WORK = frozenset(
    {ModelReplied, ToolStarted, ProgressNoted, ToolReturned, ToolFailed, ContextCompacted}
)
"""Events that end a stretch of the agent's own work. Time before any other event was spent
waiting for a person. (Time that a crashed machine took to come back is in the next of these.)"""
_TITLE = 120
"""So much of the first message stands for the thread in lists."""


def fold(events: Iterable[Event], onto: ThreadState | None = None) -> ThreadState:
    """Add events up to a state, beginning with none or going on from an earlier one."""
    return fold_into(ThreadState() if onto is None else onto.copy(), events)


def fold_into(state: ThreadState, events: Iterable[Event]) -> ThreadState:
    """Add events to this very state, and give it back: for who made it, and alone has it."""
    # Local names, because this loop is the one place whose cost grows with a thread.
    seq, before, then, forked_at = state.seq, state.lifecycle, state.updated_at, state.forked_at
    moves = _MOVES[before]
    for event in events:
        move = moves.get(type(event))
        if move is None:
            raise ImpossibleEvent(f"a thread that is {before} takes no {type(event).__name__}")
        record, is_work, after = move
        state.seq = seq = seq + 1
        if is_work and event.at > then:  # not if a clock was set back
            state.active_ms += event.at - then
        record(state, event)
        then = event.at
        if seq == forked_at:
            call_fold.lapse_approvals(state)
        if after is not before:
            state.lifecycle = before = after
            moves = _MOVES[before]
            forked_at = state.forked_at  # the launch tells it
    state.updated_at = then
    return state


def _launched(state: ThreadState, event: ThreadLaunched) -> None:
    state.id = event.thread
    state.agent = event.agent
    state.requester = event.requester
    state.requester_person = event.person
    state.audience = event.audience
    state.origin = event.origin
    state.watchers = event.watchers
    _join(state, event.requester)
    state.metadata = event.metadata
    state.forked_at = event.forked_at
    state.created_at = event.at


def _moved(state: ThreadState, event: ThreadMoved) -> None:
    if state.seq <= state.forked_at:  # that was the original: its copy is elsewhere
        return
    state.began_at = state.began_at or state.origin
    state.origin = event.to


def _join(state: ThreadState, *people: str) -> None:
    for one in people:
        if one and one not in state.participants:
            state.participants = (*state.participants, one)


def _received(state: ThreadState, event: MessageReceived) -> None:
    if state.stopping or state.lifecycle in ("finished", "failed"):
        _start_run(state)
    _join(state, event.sender, *event.others)
    state.title = state.title or " ".join(event.text[: 2 * _TITLE].split())[:_TITLE]
    state.entries.append((state.seq, event))
    state.unseen = True


def _start_run(state: ThreadState) -> None:
    """A person set it going (again): what the run may use is counted from here."""
    state.reset_meter()
    state.failures_in_a_row = 0
    state.stopping = ""
    state.result = None
    state.error = ""


def _replied(state: ThreadState, event: ModelReplied) -> None:
    late = _take_unseen(state, event.seen) if event.seen else []
    state.replied_seq = state.seq
    state.entries.append((state.seq, event))
    state.entries.extend(late)
    state.unseen = bool(late)
    state.steps += 1
    state.last_input_tokens = event.usage.input_tokens
    if event.usage is not NO_USAGE:  # a long log has many replies whose usage nobody reported
        state.add_usage(event.usage)
    if event.model:
        state.model = event.model
    for index, chosen in enumerate(event.calls):
        _choose(state, CallKey(f"{state.seq}.{index}"), chosen)


def _choose(state: ThreadState, key: CallKey, chosen: ChosenCall) -> None:
    state.calls[key] = Call(
        key=key,
        tool=chosen.tool,
        arguments=chosen.arguments,
        signature=chosen.signature,
        malformed=chosen.malformed,
    )
    state.open_calls[key] = None
    call = f"{chosen.tool} {compact(chosen.arguments)}"
    state.same_calls = state.same_calls + 1 if call == state.last_call else 1
    state.last_call = call


def _take_unseen(state: ThreadState, seen: int) -> list[tuple[int, Any]]:
    """Take out what came while the model was thinking: it belongs after its reply."""
    if not state.replied_seq <= seen < state.seq:
        raise ImpossibleEvent(f"reply {state.seq} can't have seen only up to {seen}")
    late: list[tuple[int, Any]] = []
    while state.entries and state.entries[-1][0] > seen:
        late.append(state.entries.pop())
    return late[::-1]


def _resumed(state: ThreadState, event: ThreadResumed) -> None:
    if state.lifecycle == "failed":
        _start_run(state)
    state.paused_by = state.pause_reason = ""
    if event.instruction:
        state.entries.append((state.seq, event))
        state.unseen = True


def _paused(state: ThreadState, event: ThreadPaused) -> None:
    state.stopped_at = event.at
    state.paused_by = event.by
    state.pause_reason = event.reason


def _cancelled(state: ThreadState, event: ThreadCancelled) -> None:
    state.stopped_at = event.at
    state.cancelled_by = event.by
    state.cancel_reason = event.reason
    call_fold.cancel_open(state, event.reason)


def _compacted(state: ThreadState, event: ContextCompacted) -> None:
    if event.through >= state.seq:
        raise ImpossibleEvent(f"event {event.through} has not happened yet")
    kept = [entry for entry in state.entries if entry[0] > event.through]
    for seq, entry in state.entries:
        if seq <= event.through and isinstance(entry, ModelReplied):
            call_fold.forget(state, seq, len(entry.calls))
    state.entries = [(event.through, event), *kept]
    state.add_usage(event.usage)
    state.last_input_tokens = 0


def _limited(state: ThreadState, event: LimitReached) -> None:
    if event.then == "finish":
        state.stopping = event.limit


def _finished(state: ThreadState, event: ThreadFinished) -> None:
    if state.open_calls:
        call_fold.cancel_open(state, "the thread was closed")
    state.result = event.result
    state.unseen = False


def _failed(state: ThreadState, event: ThreadFailed) -> None:
    state.error = event.error


def _nothing(_state: ThreadState, _event: ProgressNoted | AnswerRefused | PersonErased) -> None:
    """Record nothing: it was for the reader of the log."""


_FOLDS: dict[type, Callable[[ThreadState, Any], None]] = {
    ThreadLaunched: _launched,
    MessageReceived: _received,
    ModelReplied: _replied,
    ToolStarted: call_fold.started,
    ProgressNoted: _nothing,
    ToolReturned: call_fold.returned,
    ToolFailed: call_fold.failed,
    QuestionAsked: question_fold.asked,
    QuestionAnswered: question_fold.answered,
    VoteCast: question_fold.voted,
    ApprovalTakenBack: question_fold.taken_back,
    QuestionReminded: question_fold.reminded,
    QuestionEscalated: question_fold.escalated,
    QuestionExpired: question_fold.expired,
    QuestionWithdrawn: question_fold.withdrawn,
    AnswerRefused: _nothing,
    ThreadPaused: _paused,
    ThreadResumed: _resumed,
    ThreadMoved: _moved,
    ThreadCancelled: _cancelled,
    CompensationRan: call_fold.compensated,
    LimitReached: _limited,
    ContextCompacted: _compacted,
    ThreadFinished: _finished,
    ThreadFailed: _failed,
    PersonErased: _nothing,
}

_Move: TypeAlias = tuple[Callable[[ThreadState, Any], None], bool, Lifecycle]

_MOVES: dict[Lifecycle, dict[type, _Move]] = {
    before: {
        kind: (record, kind in _WORK, THREAD[before, kind.__name__])
        for kind, record in _FOLDS.items()
        if (before, kind.__name__) in THREAD
    }
    for before in get_args(Lifecycle)
}
"""The thread's table again, by class and with what to do."""
