"""A piece of a log as people read it: who did what, where, and what was said. Pure.

Each event becomes one entry, so that a page can begin anywhere and go on live. What an event only
refers to (a call by its key, a question by its id) is looked up in what the page knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from agent_core.thread import events as ev
from agent_core.thread.events import Event
from gateway.inbox.pages import asking, control, conversation, tool_runs
from gateway.inbox.pages.entries import Copy, Entry
from gateway.inbox.pages.known import Delivered, Known
from gateway.inbox.pages.telling import Telling
from gateway.inbox.pages.texts import channel_of, clock, iso, one_line


def timeline(events: Sequence[Event], first: int, known: Known) -> list[Entry]:
    """Tell a piece of a log whose first event has that number."""
    return [_entry(seq, event, known) for seq, event in enumerate(events, start=first)]


def _entry(seq: int, event: Event, known: Known) -> Entry:
    told = _TELL[type(event)](event, known)
    return Entry(
        seq=seq,
        kind=type(event).__name__,
        tone=told.tone,
        who=told.who,
        what=told.what,
        at=clock(event.at),
        iso=iso(event.at),
        by=told.by,
        note=told.note,
        question=told.question,
        blocks=tuple(told.blocks),
        copies=tuple(_copy(one, known) for one in known.deliveries.get(seq, ())),
    )


def _copy(one: Delivered, known: Known) -> Copy:
    return Copy(
        to=known.person(one.address),
        channel=channel_of(one.address),
        status=one.status,
        error=one_line(one.error),
    )


_TELL: Final[Mapping[type, Callable[[Any, Known], Telling]]] = {
    ev.ThreadLaunched: conversation.launched,
    ev.MessageReceived: conversation.received,
    ev.ModelReplied: conversation.replied,
    ev.ToolStarted: tool_runs.started,
    ev.ProgressNoted: tool_runs.progress,
    ev.ToolReturned: tool_runs.returned,
    ev.ToolFailed: tool_runs.tool_failed,
    ev.QuestionAsked: asking.asked,
    ev.QuestionAnswered: asking.answered,
    ev.VoteCast: asking.voted,
    ev.ApprovalTakenBack: asking.taken_back,
    ev.QuestionReminded: asking.reminded,
    ev.QuestionEscalated: asking.escalated,
    ev.QuestionExpired: asking.expired,
    ev.QuestionWithdrawn: asking.withdrawn,
    ev.AnswerRefused: asking.refused,
    ev.ThreadPaused: control.paused,
    ev.ThreadResumed: control.resumed,
    ev.ThreadMoved: control.moved,
    ev.ThreadCancelled: control.cancelled,
    ev.CompensationRan: tool_runs.compensated,
    ev.LimitReached: control.limited,
    ev.ContextCompacted: conversation.compacted,
    ev.ThreadFinished: control.finished,
    ev.ThreadFailed: control.failed,
    ev.PersonErased: control.erased,
}
