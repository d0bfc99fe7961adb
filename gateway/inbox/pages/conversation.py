"""What was said: by people, by the model. Pure."""

from __future__ import annotations

from agent_core.thread import events as ev
from agent_core.thread.usage import Usage
from gateway.inbox.pages.entries import Block
from gateway.inbox.pages.known import Known
from gateway.inbox.pages.telling import Telling, argument_lines, words
from gateway.inbox.pages.texts import channel_of, exact, one_line, prose


def launched(event: ev.ThreadLaunched, known: Known) -> Telling:
    """Tell who began it, and where."""
    fork = f", a fork of {one_line(event.forked_from)}" if event.forked_from else ""
    about = [argument_lines(event.metadata, "Metadata")] if event.metadata else []
    what = f"began this thread with {one_line(event.agent)}{fork}"
    where = channel_of(event.origin)
    return Telling(
        tone="control", who=known.person(event.requester), what=what, by=where, blocks=about
    )


def received(event: ev.MessageReceived, known: Known) -> Telling:
    """Tell what a person or a program wrote."""
    files = [
        Block(
            text=prose(one.text or one.note or "No text in it."),
            label=f"File {one_line(one.name)} ({one.size:,} bytes)",
            is_code=bool(one.text),
        )
        for one in event.attachments
    ]
    others = f", with {known.people(event.others)}" if event.others else ""
    return Telling(
        tone="person",
        who=known.person(event.sender),
        what=f"wrote{others}",
        by=channel_of(event.sender),
        blocks=[*words(event.text), *files],
    )


def replied(event: ev.ModelReplied, known: Known) -> Telling:
    """Tell what the model said and chose."""
    calls = [
        argument_lines(one.arguments, one_line(one.tool))
        if not one.malformed
        else Block(text=exact(one.malformed), label=f"{one_line(one.tool)}, not JSON", is_code=True)
        for one in event.calls
    ]
    names = ", ".join(one_line(one.tool, 80) for one in event.calls)
    what = f"chose {names}" if names else "said"
    return Telling(
        tone="agent",
        who=one_line(known.agent) or "the agent",
        what=what,
        note=_cost(event.usage, event.model),
        blocks=[*words(event.text), *calls],
    )


def _cost(usage: Usage, model: str = "") -> str:
    tokens = (
        f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens" if usage.input_tokens else ""
    )
    money = f"${usage.cost:.4f}" if usage.cost else ""
    return " · ".join(filter(None, (one_line(model, 60), tokens, money)))


def compacted(event: ev.ContextCompacted, _known: Known) -> Telling:
    """Tell that the model sees a summary from here on."""
    what = f"From here on the model sees a summary of all up to event {event.through}"
    return Telling(
        tone="quiet", who="", what=what, note=_cost(event.usage), blocks=words(event.summary)
    )
