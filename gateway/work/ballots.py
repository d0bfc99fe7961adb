"""Who must decide a question, who has, and what they changed, as the index keeps it. Pure.

What is as usual goes without saying: most approvals take one person, who changes nothing.
"""

from __future__ import annotations

import msgspec

from agent_core.json_values import JsonObject
from agent_core.thread.changes import approved_changes
from agent_core.thread.questions import ANY_ONE
from agent_core.thread.state import QuestionState, Vote

_USUAL = "tell_agent"


def deciding_body(current: QuestionState) -> JsonObject:
    """Write the rules of a question, its votes, and what an approval changed."""
    policy, arguments = current.question.policy, current.question.arguments
    body: JsonObject = {} if policy == ANY_ONE else msgspec.to_builtins(policy)
    if current.votes:
        body["votes"] = [_vote(vote, arguments) for vote in current.votes]
    if current.taken_back:
        body["taken_back"] = True
    if current.question.waiting.on_expiry != _USUAL:
        body["on_expiry"] = current.question.waiting.on_expiry
    return body | _changed(arguments, current.value)


def _vote(vote: Vote, arguments: JsonObject | None) -> JsonObject:
    body: JsonObject = {"by": vote.by, "approved": vote.value["approved"], "at": vote.at}
    if vote.comment:
        body["comment"] = vote.comment
    changed = _changed(arguments, vote.value)
    return body | changed | ({"arguments": vote.value["arguments"]} if changed else {})


def _changed(arguments: JsonObject | None, value: object) -> JsonObject:
    changed = approved_changes(arguments, value)
    return {"changes": [msgspec.to_builtins(one) for one in changed]} if changed else {}
