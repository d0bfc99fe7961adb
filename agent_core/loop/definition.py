"""What an agent is, to the loop: plain values and the functions that its author gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from agent_core.context.chat import ChatMessage
from agent_core.context.compaction import Compaction
from agent_core.models import Model, RetryPolicy
from agent_core.thread.events import LimitAction
from agent_core.thread.limits import Limit
from agent_core.thread.questions import WaitingRules, waiting_rules
from agent_core.thread.state import ThreadState
from agent_core.tools.handler import Handler
from agent_core.tools.tool import Tool

Render: TypeAlias = Callable[[ThreadState, str], list[ChatMessage]]
"""From a thread and the agent's instructions to the messages that the model gets."""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """An agent's parts."""

    name: str
    instructions: str
    tools: Mapping[str, Tool]
    handlers: Mapping[str, Handler]
    model: Model
    limits: Limit
    on_limit: LimitAction
    render: Render
    compaction: Compaction | None
    waiting: WaitingRules
    ask_after_failures: int
    model_retries: RetryPolicy
    undo_attempts: int

    def waiting_of(self, tool: Tool) -> WaitingRules:
        """Give how long what concerns this tool waits: as it says itself, else as the agent."""
        return self.waiting if tool.waiting is None else waiting_rules(tool.waiting)
