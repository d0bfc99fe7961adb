"""Our agents: whatever `Agent` stands here at the top level can be launched by its name."""

from __future__ import annotations

import os
import re
from pathlib import Path

from agent_core import (
    Agent,
    MaxSteps,
    ModelReply,
    ModelRequest,
    ScriptedModel,
    ToolContext,
    call,
    calls,
    contact_human,
    says,
    tool,
)

UNLOCKED = Path("unlocked.txt")


@tool(approval=True)
def unlock_account(ctx: ToolContext, user: str) -> str:
    """Unlock somebody's account. A person must approve each call; then it runs once."""
    with UNLOCKED.open("a") as book:
        book.write(f"{user} {ctx.idempotency_key}\n")
    return f"The account of {user} is unlocked."


def script(request: ModelRequest) -> ModelReply:
    """Answer in a model's place: for the test, and until there is a key in .env."""
    results = [message["content"] for message in request.messages if message["role"] == "tool"]
    if results:
        return says(str(results[-1]))
    asked = re.search(r"unlock (\w+)", str(request.messages[-1]["content"]), re.IGNORECASE)
    if asked is None:
        return says("(I am a script.) I can unlock accounts: say “please unlock ann”.")
    return calls(call("unlock_account", user=asked[1]))


HAS_MODEL = bool(os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"))

TOOLS = (unlock_account, contact_human)
helpdesk = Agent(
    name="helpdesk",
    instructions="You unlock accounts of colleagues. Ask with contact_human if you are not sure.",
    tools=TOOLS,
    model=None if HAS_MODEL else ScriptedModel(script),
    limits=MaxSteps(10),
)
