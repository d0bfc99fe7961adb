"""Handlers: where an agent goes on when a tool paused with `resume_to={"event": name}`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent_core.errors import DefinitionError
from agent_core.json_values import Json
from agent_core.tools.context import ToolContext

_TAKES_CONTEXT = 2


@dataclass(frozen=True, eq=False)
class Handler:
    """A function of the answer, or of the context and the answer; its result is the call's."""

    name: str
    function: Callable[..., Any]

    def __post_init__(self) -> None:
        """Refuse a function that can't be called so."""
        if not 1 <= self._takes() <= _TAKES_CONTEXT:
            raise DefinitionError(
                f"the handler for {self.name!r} takes the answer, or the context and the answer"
            )

    def arguments(self, context: ToolContext, answer: Json) -> tuple[Any, ...]:
        """Give what the function takes, in its order."""
        return (context, answer) if self._takes() == _TAKES_CONTEXT else (answer,)

    def _takes(self) -> int:
        return len(inspect.signature(self.function).parameters)
