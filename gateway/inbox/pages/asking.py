"""What people were asked, and what became of it. Pure."""

from __future__ import annotations

from typing import Any, Final

from agent_core.thread import events as ev
from agent_core.thread.changes import approved_changes
from agent_core.thread.questions import QuestionId
from gateway.inbox.pages.entries import Block, Tone
from gateway.inbox.pages.known import Known
from gateway.inbox.pages.telling import Telling, argument_lines, json_value, words
from gateway.inbox.pages.texts import channel_of, exact, one_line

_KINDS: Final = {
    "text": "asked{} a question",
    "choice": "asked{} to choose",
    "approval": "asked{} for approval",
    "form": "asked{} to fill in a form",
    "event": "waits for an event",
}


def asked(event: ev.QuestionAsked, known: Known) -> Telling:
    """Tell what people are asked, and who."""
    one = event.question
    again = " again" if event.replaces else ""
    to = f" {known.people(one.to)}" if one.to else ""
    offered = "\n".join(f"{option.name} {option.description}".strip() for option in one.options)
    blocks = [*words(one.prompt), *words(one.context, "Context")]
    if one.tool:
        blocks.append(argument_lines(one.arguments or {}, one_line(one.tool)))
    blocks += words(offered, "Options")
    urgent = "urgent" if one.urgency == "high" else ""
    quorum = f"{one.policy.quorum} must approve" if one.policy.quorum > 1 else ""
    return Telling(
        tone="question",
        who=one_line(known.agent) or "the agent",
        what=f"{_KINDS[one.kind].format(to)}{again}",
        note=" · ".join(filter(None, (urgent, quorum))),
        question=one.id,
        blocks=blocks,
    )


def answered(event: ev.QuestionAnswered, known: Known) -> Telling:
    """Tell who decided, and how."""
    what, tone, blocks = _decision(event.question, event.value, known)
    return Telling(
        tone=tone,
        who=known.person(event.by),
        what=what,
        by=channel_of(event.by),
        note=one_line(event.how, 80),
        question=event.question,
        blocks=[*blocks, *words(event.comment, "Comment")],
    )


def voted(event: ev.VoteCast, known: Known) -> Telling:
    """Tell what somebody said where more people decide."""
    what, _, blocks = _decision(event.question, event.value, known)
    return Telling(
        tone="control",
        who=known.person(event.by),
        what=f"{what}; more people are needed",
        by=channel_of(event.by),
        question=event.question,
        blocks=[*blocks, *words(event.comment, "Comment")],
    )


def _decision(key: QuestionId, value: Any, known: Known) -> tuple[str, Tone, list[Block]]:  # noqa: ANN401 (any JSON)
    asked = known.questions.get(key)
    match value:
        case {"approved": True}:
            changed = approved_changes(asked.arguments if asked else None, value)
            lines = "\n".join(one.words() for one in changed)
            shown = [Block(text=exact(lines), label="Changed", is_code=True)] if lines else []
            return f"approved{' with edits' if 'arguments' in value else ''}", "good", shown
        case {"approved": False}:
            return "denied", "bad", []
        case str(text) if asked is not None and asked.kind == "choice":
            return f"chose {one_line(text)}", "good", []
        case str(text):
            return "answered", "good", words(text)
    return "answered", "good", json_value(value)


def taken_back(event: ev.ApprovalTakenBack, known: Known) -> Telling:
    """Tell that an approval was taken back."""
    who, what = known.person(event.by), "took the approval back; it is asked anew"
    return Telling(
        tone="control", who=who, what=what, question=event.question, blocks=words(event.reason)
    )


def reminded(event: ev.QuestionReminded, _known: Known) -> Telling:
    """Tell that people were reminded."""
    return Telling(
        tone="quiet", who="", what="Nobody has answered: reminded", question=event.question
    )


def escalated(event: ev.QuestionEscalated, known: Known) -> Telling:
    """Tell who is asked as well."""
    what = f"Nobody has answered: {known.people(event.to)} asked as well"
    return Telling(tone="control", who="", what=what, question=event.question)


def expired(event: ev.QuestionExpired, _known: Known) -> Telling:
    """Tell that nobody answered in time."""
    return Telling(
        tone="bad", who="", what="Nobody answered in time: expired", question=event.question
    )


def withdrawn(event: ev.QuestionWithdrawn, known: Known) -> Telling:
    """Tell that nobody need answer any more."""
    by = known.person(event.by) if event.by else ""
    what = "withdrew the question" if by else "The question was withdrawn"
    return Telling(
        tone="control", who=by, what=what, question=event.question, blocks=words(event.reason)
    )


def refused(event: ev.AnswerRefused, known: Known) -> Telling:
    """Tell an answer that did not count, and why."""
    return Telling(
        tone="quiet",
        who=known.person(event.by),
        what="answered, and it did not count",
        by=channel_of(event.by),
        question=event.question,
        blocks=words(event.reason),
    )
