"""The agent `release`: asks a release manager, where they are, before a deploy goes on.

It has a rule where others have a model, so it needs no key and always does the same. Take `model=`
out, and a language model reads what the pipeline says, and may ask or explain more.
"""

from __future__ import annotations

from agent_core import Agent, ModelReply, ModelRequest, ScriptedModel, call, calls, says, tool


@tool(approval=True, approvers=["release-manager"])
async def go_ahead(deploy: str) -> str:
    """Let a deploy go on."""
    return f"Go ahead: {deploy}"


def rule(request: ModelRequest) -> ModelReply:
    """Ask leave for what the pipeline says; then tell what came of it."""
    last = request.messages[-1]
    if last["role"] == "tool":
        return says(str(last["content"]))
    return calls(call("go_ahead", deploy=str(last["content"])))


release = Agent(
    name="release",
    instructions="You guard the releases. Ask leave with go_ahead for what the pipeline wants.",
    tools=[go_ahead],
    model=ScriptedModel(rule),
)
