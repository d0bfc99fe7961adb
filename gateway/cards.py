"""Questions as channels show them: a row of the index, with people named as that channel can."""

from __future__ import annotations

from agent_core.json_values import JsonObject
from channels.outgoing import Choice, QuestionCard
from gateway.people import Directory


def card(body: JsonObject, people: Directory, channel: str) -> QuestionCard:
    """Make a card of a question's body in the index."""
    by = body["answered_by"]
    return QuestionCard(
        id=body["id"],
        thread=body["thread_id"],
        kind=body["kind"],
        prompt=body["prompt"],
        context=body["context"],
        options=[Choice(**option) for option in body["options"]],
        schema=body["schema"],
        tool=body["tool"] or "",
        arguments=body["arguments"],
        audience=[people.seen_from(channel, one) for one in body["audience"]],
        urgency=body["urgency"],
        status=body["status"],
        answer=body["answer"],
        answered_by=people.seen_from(channel, by) if by else "",
        comment=body["comment"] or "",
        asked_at=body["asked_at"],
        settled_at=body.get("settled_at"),
        expires_at=body["expires_at"],
    )
