"""The refund desk: an agent whose refunds wait for a person's approval.

A good file to copy. Leave out `model=`, and the model is the one that OPENAI_API_KEY,
OPENAI_BASE_URL and OPENAI_MODEL name. No terminal and no process here: an agent doesn't know
where it runs.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import PositiveFloat

from agent_core import Agent, MaxSteps, MaxTokens, ToolContext, contact_human, tool
from gateway.playground.script import desk_reply, model_for

LEDGER = Path("refunds.txt")
ORDERS: dict[str, dict[str, str | float]] = {
    "1042": {"item": "blender", "paid": 59.9, "status": "delivered"},
}


@tool
def look_up_order(order: str) -> dict[str, str | float]:
    """Find out what was bought, for how much, and whether it has arrived."""
    return ORDERS.get(order, {"status": "there is no such order"})


@tool(approval=True)
def refund(ctx: ToolContext, order: str, amount: PositiveFloat) -> str:
    """Pay the customer back."""
    with LEDGER.open("a") as ledger:
        ledger.write(f"{ctx.idempotency_key} order {order}: {amount:.2f} EUR\n")
    return f"Refunded {amount:.2f} EUR for order {order}."


desk = Agent(
    name="refund-desk",
    instructions="Look up the order before you refund it. Never refund more than was paid.",
    tools=[look_up_order, refund, contact_human],
    model=model_for(desk_reply),
    limits=MaxSteps(10) | MaxTokens(50_000),
)
