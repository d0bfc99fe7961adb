"""Questions as channels show them: a row of the index, with people named as that channel can."""

from __future__ import annotations

from agent_core.json_values import JsonObject
from agent_core.thread.changes import Change
from channels.outgoing import Choice, QuestionCard, Vote
from gateway.people.directory import Directory


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
        quorum=body.get("quorum", 1),
        not_requester=body.get("not_requester", False),
        votes=[_vote(one, people, channel) for one in body.get("votes", ())],
        changes=_changes(body),
        expiry_denies=body.get("on_expiry") == "deny",
        taken_back=body.get("taken_back", False),
        asked_at=body["asked_at"],
        settled_at=body.get("settled_at"),
        expires_at=body["expires_at"],
    )


def _vote(body: JsonObject, people: Directory, channel: str) -> Vote:
    return Vote(
        by=people.seen_from(channel, body["by"]),
        approved=body["approved"],
        comment=body.get("comment", ""),
        arguments=body.get("arguments"),
        changes=_changes(body),
        at=body["at"],
    )


def _changes(body: JsonObject) -> list[Change]:
    return [Change(**one) for one in body.get("changes", ())]
