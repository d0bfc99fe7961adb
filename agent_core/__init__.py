"""Agents that can wait for people: a library that works alone, with no database or channel.

    from agent_core import Agent, MaxSteps, ToolContext, contact_human, tool

Everything that users rely on is named here; the rest is ours to change. A name is imported when it
is first asked for: whoever needs `agent_core.errors` alone, as a command line does, does not wait
for the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_core.agent.agent import Agent
    from agent_core.agent.outcome import Cancelled, Failed, Finished, Outcome, Paused, is_paused
    from agent_core.agent.thread import Thread
    from agent_core.context.chat import render_chat
    from agent_core.context.compaction import Compaction
    from agent_core.context.markdown import thread_as_markdown
    from agent_core.errors import (
        AlreadySettled,
        AlreadyVoted,
        AmbiguousAnswer,
        CheckpointError,
        CheckpointMalformed,
        CheckpointTooNew,
        DefinitionError,
        MayNotDecide,
        ModelError,
        ModelRejected,
        ModelUnavailable,
        NotJson,
        OpenQuestions,
        ParleyError,
        Refused,
        TooLate,
        ToolsChanged,
        UnknownQuestion,
        WrongAgent,
        WrongShape,
        WrongStatus,
    )
    from agent_core.loop.hand_driven import HandDrivenWorld
    from agent_core.loop.world import World
    from agent_core.models import (
        Model,
        ModelReply,
        ModelRequest,
        OpenAIChat,
        Prices,
        RequestedCall,
        RetryPolicy,
        ScriptedModel,
        call,
        calls,
        says,
    )
    from agent_core.thread.limits import (
        Limit,
        MaxCost,
        MaxSeconds,
        MaxSteps,
        MaxTokens,
        SameCall,
        Signal,
    )
    from agent_core.thread.questions import Escalation, Option, Policy, Question, Waiting
    from agent_core.thread.usage import Usage
    from agent_core.tools.contact_human import contact_human
    from agent_core.tools.context import Resumed, ThreadInfo, ToolContext
    from agent_core.tools.tool import Tool, tool

_HOMES = {
    "agent.agent": ("Agent",),
    "agent.outcome": (
        "Cancelled",
        "Failed",
        "Finished",
        "Outcome",
        "Paused",
        "is_paused",
    ),
    "agent.thread": ("Thread",),
    "context.chat": ("render_chat",),
    "context.compaction": ("Compaction",),
    "context.markdown": ("thread_as_markdown",),
    "errors": (
        "AlreadySettled",
        "AlreadyVoted",
        "AmbiguousAnswer",
        "CheckpointError",
        "CheckpointMalformed",
        "CheckpointTooNew",
        "DefinitionError",
        "MayNotDecide",
        "ModelError",
        "ModelRejected",
        "ModelUnavailable",
        "NotJson",
        "OpenQuestions",
        "ParleyError",
        "Refused",
        "TooLate",
        "ToolsChanged",
        "UnknownQuestion",
        "WrongAgent",
        "WrongShape",
        "WrongStatus",
    ),
    "loop.hand_driven": ("HandDrivenWorld",),
    "loop.world": ("World",),
    "models": (
        "Model",
        "ModelReply",
        "ModelRequest",
        "OpenAIChat",
        "Prices",
        "RequestedCall",
        "RetryPolicy",
        "ScriptedModel",
        "call",
        "calls",
        "says",
    ),
    "thread.limits": (
        "Limit",
        "MaxCost",
        "MaxSeconds",
        "MaxSteps",
        "MaxTokens",
        "SameCall",
        "Signal",
    ),
    "thread.questions": (
        "Escalation",
        "Option",
        "Policy",
        "Question",
        "Waiting",
    ),
    "thread.usage": ("Usage",),
    "tools.contact_human": ("contact_human",),
    "tools.context": (
        "Resumed",
        "ThreadInfo",
        "ToolContext",
    ),
    "tools.tool": (
        "Tool",
        "tool",
    ),
}
"""Where each name lives; the imports above say the same to whoever checks types."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Agent",
    "AlreadySettled",
    "AlreadyVoted",
    "AmbiguousAnswer",
    "Cancelled",
    "CheckpointError",
    "CheckpointMalformed",
    "CheckpointTooNew",
    "Compaction",
    "DefinitionError",
    "Escalation",
    "Failed",
    "Finished",
    "HandDrivenWorld",
    "Limit",
    "MaxCost",
    "MaxSeconds",
    "MaxSteps",
    "MaxTokens",
    "MayNotDecide",
    "Model",
    "ModelError",
    "ModelRejected",
    "ModelReply",
    "ModelRequest",
    "ModelUnavailable",
    "NotJson",
    "OpenAIChat",
    "OpenQuestions",
    "Option",
    "Outcome",
    "ParleyError",
    "Paused",
    "Policy",
    "Prices",
    "Question",
    "Refused",
    "RequestedCall",
    "Resumed",
    "RetryPolicy",
    "SameCall",
    "ScriptedModel",
    "Signal",
    "Thread",
    "ThreadInfo",
    "TooLate",
    "Tool",
    "ToolContext",
    "ToolsChanged",
    "UnknownQuestion",
    "Usage",
    "Waiting",
    "World",
    "WrongAgent",
    "WrongShape",
    "WrongStatus",
    "call",
    "calls",
    "contact_human",
    "is_paused",
    "render_chat",
    "says",
    "thread_as_markdown",
    "tool",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value  # the next time, nobody asks here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
