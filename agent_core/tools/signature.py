"""A function's parameters as a schema for the model, and its arguments validated by pydantic."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NotRequired, Required, get_type_hints

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python
from typing_extensions import TypedDict

from agent_core.errors import DefinitionError
from agent_core.json_values import JsonObject
from agent_core.thread.digest import signature_digest
from agent_core.tools.context import ToolContext

_MOST_PROBLEMS = 5


class BadArguments(Exception):
    """The arguments don't fit the signature; the text tells the model how."""


class Signature:
    """What a function takes: its own parameters, and perhaps a ToolContext."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Read the signature, or say why no schema can be made of it."""
        self._name = getattr(function, "__name__", repr(function))
        parameters = inspect.signature(function).parameters
        hints = self._hints(function)
        self.context_name = _context_name(hints)
        self._own = [self._check(p) for p in parameters.values() if p.name != self.context_name]
        self._adapter = self._adapt(hints)
        self.parameters: JsonObject = self._schema()
        self.digest = signature_digest(self.parameters)

    @property
    def names(self) -> frozenset[str]:
        """The names that a caller may use."""
        return frozenset(parameter.name for parameter in self._own)

    def validate(self, arguments: JsonObject) -> dict[str, Any]:
        """Turn JSON arguments into what the function takes, or raise BadArguments in words."""
        try:
            return dict(self._adapter.validate_python(arguments))
        except ValidationError as exc:
            raise BadArguments(_problems(exc)) from exc

    def with_defaults(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Fill in what was left out, for those who look at the arguments before the run."""
        defaults = {p.name: p.default for p in self._own if p.default is not p.empty}
        return {**defaults, **arguments}

    def _hints(self, function: Callable[..., Any]) -> dict[str, Any]:
        try:
            return get_type_hints(function, include_extras=True)
        except (NameError, TypeError) as exc:
            raise DefinitionError(
                f"the annotations of {self._name} can't be read ({exc}): types that a tool's "
                "signature names must stand at the top level of its module"
            ) from exc

    def _check(self, parameter: inspect.Parameter) -> inspect.Parameter:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise DefinitionError(
                f"{self._name} takes {parameter}: a model can only pass arguments by name"
            )
        return parameter

    def _adapt(self, hints: dict[str, Any]) -> TypeAdapter[dict[str, Any]]:
        fields = {}
        for parameter in self._own:
            if parameter.name not in hints:
                raise DefinitionError(f"{self._name} has no type for its parameter {parameter}")
            needed = Required if parameter.default is parameter.empty else NotRequired
            fields[parameter.name] = needed[hints[parameter.name]]
        # A TypedDict, not a model: a parameter may be called `schema` or `copy`.
        make: Any = TypedDict
        shape = make("Arguments", fields)
        shape.__pydantic_config__ = ConfigDict(extra="forbid")
        try:
            return TypeAdapter(shape)
        except PydanticUserError as exc:
            raise DefinitionError(f"{self._name} has a type that can't be JSON: {exc}") from exc

    def _schema(self) -> JsonObject:
        try:
            schema = self._adapter.json_schema()
        except PydanticUserError as exc:
            raise DefinitionError(f"{self._name} has a type that can't be JSON: {exc}") from exc
        schema.pop("title", None)
        for parameter in self._own:
            if parameter.default is not parameter.empty:
                _set_default(schema["properties"][parameter.name], parameter.default)
        return schema


def _set_default(schema: JsonObject, default: object) -> None:
    try:
        schema["default"] = to_jsonable_python(default)
    except PydanticSerializationError:
        return  # a sentinel, say; the model need not know


def _context_name(hints: dict[str, Any]) -> str | None:
    for name, hint in hints.items():
        if hint is ToolContext and name != "return":
            return name
    return None


def _problems(exc: ValidationError) -> str:
    errors = exc.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{_where(error['loc'])}: {error['msg']}" for error in errors[:_MOST_PROBLEMS]]
    more = f"; and {len(errors) - _MOST_PROBLEMS} more" if len(errors) > _MOST_PROBLEMS else ""
    return "; ".join(told) + more


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "the arguments"
