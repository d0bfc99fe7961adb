"""The part of Jinja2 that templates may use: what can't be made to run or grow without end.

The sandbox keeps a template away from Python, not from `'a' * 200_000_000`. So the parts that
multiply (`*`, `**`, `%`, `range`, macros, padding) are not offered, which is told at the start;
loops are counted and output is cut while they run (`templates`). A sender's payload is only data
in it, and never becomes a template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from jinja2 import StrictUndefined, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

VARIABLES = frozenset({"payload", "headers"})
BUDGET = "budget of this rendering"
"""Not a name that a template can spell."""
COUNTED = "counted"
MOST_TEXT = 100_000

_OFFERED = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign),
    *(nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Keyword),
    *(nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Filter, nodes.Test, nodes.Call),
    *(nodes.CondExpr, nodes.And, nodes.Or, nodes.Not, nodes.Compare, nodes.Operand),
    *(nodes.Add, nodes.Sub, nodes.Neg, nodes.Pos, nodes.Concat),
)
_METHODS = frozenset(
    {"get", "items", "keys", "values", "startswith", "endswith", "lower", "upper", "title"}
    | {"strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "partition", "rpartition"}
    | {"removeprefix", "removesuffix", "isdigit"}
)
_FILTERS = frozenset(
    {"abs", "capitalize", "count", "d", "default", "first", "float", "int", "items", "last"}
    | {"length", "lower", "reverse", "round", "string", "title", "trim", "truncate", "upper"}
    | {"urlencode"}
)
_FILTERS_OF_LISTS = frozenset(
    {"list", "map", "max", "min", "reject", "rejectattr", "select", "selectattr", "sort", "unique"}
)
"""What they take is counted, as a loop's rounds are."""
_NOT_HERE = ("self", "super", "caller")


class Environment(ImmutableSandboxedEnvironment):
    """Jinja2 with less in it."""

    def __init__(self) -> None:
        # Text for a model, not a page: escaping would only garble it.
        super().__init__(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
        self.globals = {}
        plain = {name: one for name, one in self.filters.items() if name in _FILTERS}
        bounded = {name: _bounded(self.filters[name]) for name in _FILTERS_OF_LISTS}
        own = {"join": _join, "replace": _replace, "tojson": _tojson, COUNTED: _counted}
        self.filters = plain | bounded | own

    def checked(self, source: str) -> nodes.Template:
        """Parse a template, and refuse what is not offered or not known."""
        tree = self.parse(source)
        for node in _all(tree):
            _check(node)
        set_here = {one.name for one in tree.find_all(nodes.Name) if one.ctx == "store"}
        unknown = find_undeclared_variables(tree) - VARIABLES - set_here
        if unknown:
            names = ", ".join(sorted(unknown))
            raise TemplateSyntaxError(f"there is no {names} here, only payload and headers", 1)
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, COUNTED, [], [], None, None, lineno=loop.lineno)
        _KeysFirst().visit(tree)
        return tree

    def getitem(self, obj: Any, argument: Any) -> Any:  # noqa: ANN401 (any JSON)
        """Look into a payload by its keys alone."""
        if isinstance(obj, dict):
            return obj[argument] if argument in obj else self.undefined(obj=obj, name=argument)
        return super().getitem(obj, argument)


class _KeysFirst(NodeTransformer):
    """Makes `payload.items` mean the payload's own items, not a method of Python's."""

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802 (as Jinja2 calls it)
        called = node.node
        self.generic_visit(called if isinstance(called, nodes.Getattr) else node)
        node.args = [self.visit(one) for one in node.args]
        node.kwargs = [self.visit(one) for one in node.kwargs]
        return node

    def visit_Getattr(self, node: nodes.Getattr) -> nodes.Node:  # noqa: N802 (as above)
        self.generic_visit(node)
        key = nodes.Const(node.attr, lineno=node.lineno)
        return nodes.Getitem(node.node, key, node.ctx, lineno=node.lineno)


def _all(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in node.iter_child_nodes():
        yield from _all(child)


def _check(node: nodes.Node) -> None:
    match node:
        case nodes.For(recursive=True):
            _refuse(node, "a recursive loop")
        case nodes.Call(node=called) if not _is_offered(called):
            _refuse(node, f"calling {getattr(called, 'attr', getattr(called, 'name', 'this'))}()")
        case nodes.Filter(name="counted"):
            _refuse(node, "the filter counted")
        case nodes.Name(name=name) if name in _NOT_HERE:
            _refuse(node, name)
        case nodes.Assign() if any(node.find_all((nodes.Add, nodes.Concat))):
            _refuse(node, "adding within set")  # a few lines of that double a text a few times
        case _ if not isinstance(node, _OFFERED):
            _refuse(node, type(node).__name__)


def _is_offered(called: nodes.Node) -> bool:
    return isinstance(called, nodes.Getattr) and called.attr in _METHODS


def _refuse(node: nodes.Node, what: str) -> None:
    raise TemplateSyntaxError(f"{what} is not offered in templates", node.lineno)


# Filters of our own, where Jinja2's may make much out of little


@pass_context
def _counted(context: Context, items: Iterable[Any]) -> Iterator[Any]:
    spend = context[BUDGET].spend
    for item in items:
        spend()
        yield item


def _bounded(original: Callable[..., Any]) -> Callable[..., Any]:
    """Count what one of Jinja2's filters takes."""
    passes = getattr(original, "jinja_pass_arg", None)

    @pass_context
    def bounded(context: Context, items: Iterable[Any], *given: Any, **named: Any) -> Any:  # noqa: ANN401 (as Jinja2 calls it)
        before = {
            "context": context,
            "environment": context.environment,
            "eval_context": context.eval_ctx,
        }
        first = [] if passes is None else [before[passes.name]]
        return original(*first, _counted(context, items), *given, **named)

    return bounded


def _join(items: Iterable[Any], between: str = "", attribute: str | None = None) -> str:
    """Join texts, up to as much as a message may have."""
    parts: list[str] = []
    size = 0
    for item in items:
        part = str(item if attribute is None else _attribute(item, attribute))
        size += len(part) + len(between)
        if size > MOST_TEXT:
            raise SecurityError(f"join makes more than {MOST_TEXT:,} characters")
        parts.append(part)
    return between.join(parts)


def _attribute(item: object, name: str) -> object:
    if isinstance(item, Mapping) and name in item:
        return item[name]
    raise SecurityError(f"join: there is no {name!r} in one of them")


def _replace(text: object, old: str, new: str) -> str:
    """Replace, if that makes no more than a message may have, or less than there was."""
    whole = str(text)
    if len(new) > len(old) and whole.count(old) * len(new) > MOST_TEXT:
        raise SecurityError(f"replace makes more than {MOST_TEXT:,} characters")
    return whole.replace(old, new)


def _tojson(value: object) -> str:
    """Write JSON, without the escapes that Jinja2 makes for the inside of a page."""
    return msgspec.json.encode(value).decode()
