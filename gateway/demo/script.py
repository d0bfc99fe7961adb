"""What the demo's model says. It is a script, and tells so; it reads its tools' results, though."""

from __future__ import annotations

import json

from agent_core import ModelReply, ModelRequest, ScriptedModel, call, calls, says

ORDER = "1042"
REQUEST = f"Please refund order {ORDER}, the blender arrived broken."


def next_reply(request: ModelRequest) -> ModelReply:
    """Look up, refund, report: the turn depends on the results that there are."""
    results = [message["content"] for message in request.messages if message["role"] == "tool"]
    match results:
        case []:
            words = "(I am a script, not a real model.) I look up the order first."
            return calls(call("look_up_order", order=ORDER), text=words)
        case [order]:
            found = json.loads(order)
            words = f"The {found['item']} was paid and delivered. I want to pay it back."
            return calls(call("refund", order=ORDER, amount=found["paid"]), text=words)
        case _:
            return says(_report(results[-1]))


def _report(result: str) -> str:
    """Tell the customer what became of the refund."""
    if "Refunded" in result:
        changed = " My colleague changed the amount." if result.startswith("(Approved") else ""
        return f"Sorry about that! {result.splitlines()[-1]}{changed}"
    _, _, reason = result.partition("They said: ")
    why = f"My colleague says: {reason}" if reason else "My colleague decided against it."
    return f"I have not refunded order {ORDER}. {why if result.startswith('Denied') else result}"


SCRIPTED_MODEL = ScriptedModel(next_reply)
