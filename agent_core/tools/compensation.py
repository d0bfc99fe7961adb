"""How a finished call is undone: a function of the same arguments, and of its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from agent_core.errors import DefinitionError
from agent_core.json_values import Json
from agent_core.tools.context import ToolContext
from agent_core.tools.signature import Signature

_RESULT = "result"


@dataclass(frozen=True, eq=False)
class Compensation:
    """A function that undoes what a tool did; it must be safe to run twice."""

    function: Callable[..., Any]
    signature: Signature

    @classmethod
    def of(cls, tool: str, function: object, takes: Signature) -> Compensation:
        """Check that the function can be given what it wants."""
        if not callable(function):
            raise DefinitionError(f"{tool}: compensate is a function, not {function!r}")
        signature = Signature(function)
        strange = signature.names - takes.names - {_RESULT}
        if strange:
            raise DefinitionError(
                f"{tool}: its compensation takes {', '.join(sorted(strange))}, which the tool "
                "doesn't have"
            )
        return cls(function, signature)

    def prepared(
        self, context: ToolContext, arguments: dict[str, Any], result: Json
    ) -> Callable[[], Any]:
        """Bind what the function takes of the arguments, the result and the context."""
        offered = {_RESULT: result, **arguments}
        given = {name: offered[name] for name in self.signature.names}
        if self.signature.context_name is not None:
            given[self.signature.context_name] = context
        return partial(self.function, **given)
