"""The agent that is measured: it asks to pay back, waits for approval, pays, and says so.

Also a module for PARLEY_AGENTS.
"""

from __future__ import annotations

from agent_core import (
    Agent,
    Compaction,
    ModelReply,
    ModelRequest,
    ScriptedModel,
    call,
    calls,
    says,
    tool,
)
from bench.gateway.stopwatch import DONE, REFUNDED, REPLY, REQUEST


@tool(approval=True)
async def refund(order: str, amount: float) -> str:
    """Pay the customer back."""
    return f"{amount} paid back for {order}"


def _reply(request: ModelRequest) -> ModelReply:
    model.requests.clear()  # it remembers them all, for tests
    last = request.messages[-1]["content"]
    if last == REQUEST:
        return calls(call("refund", order="A-123", amount=49.9), text=REPLY)
    return says(DONE if last == REFUNDED else REPLY)


model = ScriptedModel(_reply)
desk = Agent("desk", tools=[refund], model=model)
clerk = Agent("clerk", tools=[refund], model=model, compaction=Compaction(after_messages=60))
"""For threads that grow: the model is shown a summary and the last messages, as it would be."""
