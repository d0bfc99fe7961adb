"""`@tool`: a function that a model may choose, and how it may be run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

from agent_core.errors import DefinitionError
from agent_core.json_values import JsonObject
from agent_core.thread.questions import ANY_ONE, Policy, Waiting
from agent_core.tools.compensation import Compensation
from agent_core.tools.signature import Signature

Approval: TypeAlias = bool | Callable[..., bool]

_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_LONGEST_NAME = 64


class Arguments(dict[str, Any]):
    """Arguments for a predicate to look at, by key or as attributes."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the tool takes)
        """Give an argument by its name."""
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True, eq=False)
class Tool:
    """A function with what the loop must know before it runs it."""

    name: str
    description: str
    function: Callable[..., Any]
    signature: Signature
    approval: Approval = False
    approvers: tuple[str, ...] = ()
    policy: Policy = ANY_ONE
    waiting: Waiting | None = None
    compensate: Compensation | None = None
    idempotent: bool = False
    interruptible: bool = False
    timeout: float | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        """Refuse what can't work, where it is defined."""
        _check_name(self.name)
        if not isinstance(self.approval, bool) and not callable(self.approval):
            raise DefinitionError(f"{self.name}: approval is True, False or a predicate")
        _check_policy(self)
        if self.timeout is not None and self.timeout <= 0:
            raise DefinitionError(f"{self.name}: timeout is more than 0 seconds")
        if self.retries < 0:
            raise DefinitionError(f"{self.name}: retries is 0 or more")
        if self.interruptible and not self.is_async:
            raise DefinitionError(
                f"{self.name}: a plain function can't be interrupted; make it async"
            )
        if inspect.iscoroutinefunction(self.approval):
            raise DefinitionError(f"{self.name}: the approval predicate must be a plain function")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (it is the function)
        """Call the function itself, as in its own tests."""
        return self.function(*args, **kwargs)

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function."""
        return inspect.iscoroutinefunction(self.function)

    def schema(self) -> JsonObject:
        """Describe the tool to a model, in Chat Completions form."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.signature.parameters,
        }
        return {"type": "function", "function": function}

    def needs_approval(self, arguments: dict[str, Any]) -> bool:
        """Ask the predicate; one that fails means yes, because a person should look."""
        if isinstance(self.approval, bool):
            return self.approval
        filled = self.signature.with_defaults(arguments)
        try:
            names = inspect.signature(self.approval).parameters
            if names and set(names) <= self.signature.names:
                return bool(self.approval(**{name: filled[name] for name in names}))
            return bool(self.approval(Arguments(filled)))
        except Exception:  # noqa: BLE001 (somebody else's code, and the safe side is to ask)
            return True


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = ...,
    description: str | None = ...,
    approval: Approval = ...,
    approvers: Sequence[str] = ...,
    quorum: int = ...,
    not_requester: bool = ...,
    veto: bool = ...,
    waiting: Waiting | None = ...,
    compensate: Callable[..., Any] | None = ...,
    idempotent: bool = ...,
    interruptible: bool = ...,
    timeout: float | None = ...,
    retries: int = ...,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None, /, **options: Any
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function: `@tool` or `@tool(approval=True, …)`.

    approval: True, or a predicate over the arguments, by name or as one object.
    approvers: who may approve, as names or roles; the operator says who they are.
    quorum: how many different people must approve the very same thing.
    not_requester: whoever began the thread can't approve, but may deny (four eyes).
    veto: one denial is enough (the default); else it takes as many as an approval.
    waiting: how long its approval, and what it asks itself, wait for people.
    compensate: undoes a finished call when the thread is cancelled; gets the same arguments,
        and `result` if it takes one. It must be safe to run twice.
    idempotent: running it again with the same `ctx.idempotency_key` does no harm.
    interruptible: a pause may stop it half-way.
    timeout: seconds for one attempt. retries: further attempts after an exception.
    """
    if function is None:
        return lambda decorated: _make(decorated, **options)
    return _make(function, **options)


def _make(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    approvers: Sequence[str] = (),
    quorum: int = 1,
    not_requester: bool = False,
    veto: bool = True,
    compensate: Callable[..., Any] | None = None,
    **options: Any,  # noqa: ANN401 (fields of Tool)
) -> Tool:
    if not callable(function):
        raise DefinitionError(f"@tool goes on a function, not on {function!r}")
    own_name = name or str(getattr(function, "__name__", ""))
    prose = description if description is not None else inspect.getdoc(function) or ""
    signature = Signature(function)
    undo = compensate.function if isinstance(compensate, Tool) else compensate
    return Tool(
        name=own_name,
        description=prose,
        function=function,
        signature=signature,
        approvers=tuple(approvers),
        policy=Policy(quorum, not_requester, veto),
        compensate=None if undo is None else Compensation.of(own_name, undo, signature),
        **options,
    )


def _check_policy(tool: Tool) -> None:
    """Refuse rules for an approval that is never asked for, or that nobody could ever give."""
    if tool.policy == ANY_ONE:
        return
    if tool.approval is False:
        raise DefinitionError(
            f"{tool.name}: quorum, not_requester and veto are for a tool with approval"
        )
    if not tool.approvers and (tool.policy.quorum > 1 or tool.policy.not_requester):
        raise DefinitionError(
            f"{tool.name}: name approvers; without them only whoever began the thread is asked"
        )


def _check_name(name: str) -> None:
    if not name or len(name) > _LONGEST_NAME or any(letter not in _NAME for letter in name):
        raise DefinitionError(
            f"{name!r} can't be a tool's name: model servers take 1 to {_LONGEST_NAME} letters, "
            "digits, _ and -"
        )
