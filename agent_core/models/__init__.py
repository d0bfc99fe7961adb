"""Models: the interface that the loop uses, the real client, the scripted one, and retries.

Importing this package does not import the vendor's SDK; the first call of `OpenAIChat` does.
"""

from __future__ import annotations

from agent_core.models.model import (
    ChatMessage,
    Model,
    ModelReply,
    ModelRequest,
    OnText,
    RequestedCall,
    ToolSchema,
)
from agent_core.models.openai_chat import OpenAIChat
from agent_core.models.prices import Prices
from agent_core.models.retry import RetryPolicy, delay_before, reply_with_retries
from agent_core.models.scripted import ScriptedModel, call, calls, says

__all__ = [
    "ChatMessage",
    "Model",
    "ModelReply",
    "ModelRequest",
    "OnText",
    "OpenAIChat",
    "Prices",
    "RequestedCall",
    "RetryPolicy",
    "ScriptedModel",
    "ToolSchema",
    "call",
    "calls",
    "delay_before",
    "reply_with_retries",
    "says",
]
