"""What was done to a thread, and how it ended. Pure."""

from __future__ import annotations

from agent_core.thread import events as ev
from gateway.inbox.pages.entries import Block
from gateway.inbox.pages.known import Known
from gateway.inbox.pages.telling import Telling, words
from gateway.inbox.pages.texts import channel_of, exact, one_line


def paused(event: ev.ThreadPaused, known: Known) -> Telling:
    """Tell who held it."""
    return Telling(
        tone="control", who=known.person(event.by), what="paused it", blocks=words(event.reason)
    )


def resumed(event: ev.ThreadResumed, known: Known) -> Telling:
    """Tell who let it go on, and with which words."""
    return Telling(
        tone="control",
        who=known.person(event.by),
        what="let it go on",
        blocks=words(event.instruction, "Instruction"),
    )


def moved(event: ev.ThreadMoved, known: Known) -> Telling:
    """Tell where the conversation went."""
    what = f"moved the conversation to {channel_of(event.to) or one_line(event.to)}"
    return Telling(tone="control", who=known.person(event.by), what=what)


def erased(event: ev.PersonErased, known: Known) -> Telling:
    """Tell that somebody's words were taken out, and what stands in their place."""
    what = f"erased somebody, who is now {one_line(event.name)}"
    return Telling(
        tone="control", who=known.person(event.by), what=what, blocks=words(event.reason)
    )


def cancelled(event: ev.ThreadCancelled, known: Known) -> Telling:
    """Tell who stopped it for good."""
    return Telling(
        tone="bad", who=known.person(event.by), what="cancelled it", blocks=words(event.reason)
    )


def limited(event: ev.LimitReached, _known: Known) -> Telling:
    """Tell which limit tripped, and what happens then."""
    then = {"ask": "somebody is asked", "finish": "it finishes", "fail": "it stops"}[event.then]
    return Telling(tone="bad", who="", what=f"Limit {one_line(event.limit)} reached: {then}")


def finished(event: ev.ThreadFinished, known: Known) -> Telling:
    """Tell the result."""
    return Telling(
        tone="good",
        who=one_line(known.agent) or "the agent",
        what="finished",
        blocks=words(event.result or ""),
    )


def failed(event: ev.ThreadFailed, known: Known) -> Telling:
    """Tell why the agent can't go on."""
    shown = [Block(text=exact(event.error), is_code=True)]
    who = one_line(known.agent) or "the agent"
    return Telling(tone="bad", who=who, what="could not go on", blocks=shown)
