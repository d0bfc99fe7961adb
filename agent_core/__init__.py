"""Agents that can wait for people: a library that works alone, with no database or channel.

    from agent_core import Agent, MaxSteps, ToolContext, contact_human, tool

Everything that users rely on is named here; the rest is ours to change.
"""

from __future__ import annotations

from agent_core.agent.agent import Agent
from agent_core.agent.outcome import Cancelled, Failed, Finished, Outcome, Paused, is_paused
from agent_core.agent.thread import Thread
from agent_core.context.chat import render_chat
from agent_core.context.compaction import Compaction
from agent_core.context.markdown import thread_as_markdown
from agent_core.errors import (
    AlreadySettled,
    AmbiguousAnswer,
    CheckpointError,
    CheckpointMalformed,
    CheckpointTooNew,
    DefinitionError,
    ModelError,
    ModelRejected,
    ModelUnavailable,
    NotJson,
    OpenQuestions,
    ParleyError,
    Refused,
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
from agent_core.thread.questions import Option, Question, Waiting
from agent_core.thread.usage import Usage
from agent_core.tools.contact_human import contact_human
from agent_core.tools.context import Resumed, ThreadInfo, ToolContext
from agent_core.tools.tool import Tool, tool

__all__ = [
    "Agent",
    "AlreadySettled",
    "AmbiguousAnswer",
    "Cancelled",
    "CheckpointError",
    "CheckpointMalformed",
    "CheckpointTooNew",
    "Compaction",
    "DefinitionError",
    "Failed",
    "Finished",
    "HandDrivenWorld",
    "Limit",
    "MaxCost",
    "MaxSeconds",
    "MaxSteps",
    "MaxTokens",
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
