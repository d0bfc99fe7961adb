"""What tools did. Pure."""

from __future__ import annotations

from agent_core.thread import events as ev
from gateway.inbox.pages.entries import Block
from gateway.inbox.pages.known import Known
from gateway.inbox.pages.telling import Telling, json_value, words
from gateway.inbox.pages.texts import exact


def started(event: ev.ToolStarted, known: Known) -> Telling:
    """Tell that a tool has begun to run."""
    again = f", attempt {event.attempt}" if event.attempt > 1 else ""
    return Telling(tone="quiet", who=known.tool(event.call), what=f"started{again}")


def progress(event: ev.ProgressNoted, known: Known) -> Telling:
    """Tell how far a tool is."""
    return Telling(
        tone="quiet", who=known.tool(event.call), what="is on its way", blocks=words(event.text)
    )


def returned(event: ev.ToolReturned, known: Known) -> Telling:
    """Tell what a tool gave."""
    shown = [] if event.result is None else json_value(event.result)
    return Telling(tone="tool", who=known.tool(event.call), what="returned", blocks=shown)


def tool_failed(event: ev.ToolFailed, known: Known) -> Telling:
    """Tell why a call has no result of its tool."""
    what = f"failed: {event.reason.replace('_', ' ')}"
    shown = [Block(text=exact(event.error), is_code=True)] if event.error else []
    return Telling(tone="bad", who=known.tool(event.call), what=what, blocks=shown)


def compensated(event: ev.CompensationRan, known: Known) -> Telling:
    """Tell whether a call was undone."""
    if not event.error:
        return Telling(tone="tool", who=known.tool(event.call), what="was undone")
    left = "" if event.settled else "; it is tried again"
    what = f"could not be undone, attempt {event.attempt}{left}"
    shown = [Block(text=exact(event.error), is_code=True)]
    return Telling(tone="bad", who=known.tool(event.call), what=what, blocks=shown)
