"""Templates: compiled and checked once, rendered under a budget of steps, time and characters.

They are the operator's, over a payload that is somebody else's. Rendering stays on the event loop:
it takes microseconds, and the budget is spent where a template can go on (each round of a loop,
each piece of output), so it stops by itself; a thread that runs away could not be stopped at all.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import Template as Compiled
from jinja2.exceptions import TemplateError

from agent_core.errors import NotJson, ParleyError
from agent_core.json_values import plain
from channels.webhook.language import BUDGET, MOST_TEXT, Environment

MOST_SOURCE = 20_000
MOST_STEPS = 10_000
MOST_SECONDS = 0.1

_MARKS = ("{{", "{%", "{#")
_ENVIRONMENT = Environment()


class BadTemplate(ParleyError):
    """The operator must act: a template can't be used as it is written."""


class Unmapped(ParleyError):
    """A payload that a template can't make anything of; the words are for its sender."""


class Budget:
    """How much one rendering may still do."""

    def __init__(self) -> None:
        self._steps = MOST_STEPS
        self._end = time.perf_counter() + MOST_SECONDS

    def spend(self) -> None:
        """Pay for one step."""
        self._steps -= 1
        if self._steps < 0:
            raise Unmapped(f"it takes more than {MOST_STEPS:,} steps")
        if time.perf_counter() > self._end:
            raise Unmapped(f"it takes more than {MOST_SECONDS} seconds")


@dataclass(frozen=True, slots=True)
class Template:
    """A text with holes, or without any."""

    source: str
    compiled: Compiled | None

    def render(self, variables: Mapping[str, Any], *, most: int = MOST_TEXT) -> str:
        """Fill the holes, or raise Unmapped."""
        if self.compiled is None:
            return self.source
        try:
            text = _render(self.compiled, variables, most)
            return str(plain(text, "the text"))
        except NotJson as exc:
            raise Unmapped(f"it makes {exc.problem}") from exc
        except Unmapped:
            raise
        except Exception as exc:  # an odd payload may fail a template in any way
            raise Unmapped(str(exc) or type(exc).__name__) from exc


def compile_template(source: str) -> Template:
    """Check and compile a template, or raise BadTemplate."""
    if not any(mark in source for mark in _MARKS):
        return Template(source, None)
    return Template(source, _compiled(source))


def compile_condition(source: str) -> Template:
    """Compile an expression to a template that renders to something where it holds."""
    if any(mark in source for mark in _MARKS):
        return Template(source, _compiled(source))
    return Template(source, _compiled(f"{{% if {source} %}}true{{% endif %}}"))


def compile_value(source: str) -> Template:
    """Compile an expression to a template that renders to its value, as JSON."""
    if any(mark in source for mark in _MARKS):
        return Template(source, _compiled(source))
    return Template(source, _compiled(f"{{{{ ({source})|tojson }}}}"))


def holds(condition: Template, variables: Mapping[str, Any]) -> bool:
    """Tell whether a condition renders to something that is not a spelling of no."""
    said = condition.render(variables, most=1_000)
    return said.strip().lower() not in {"", "false", "none", "0"}


def _compiled(source: str) -> Compiled:
    if len(source) > MOST_SOURCE:
        raise BadTemplate(f"a template may have {MOST_SOURCE:,} characters")
    try:
        tree = _ENVIRONMENT.checked(source)
        return Compiled.from_code(_ENVIRONMENT, _ENVIRONMENT.compile(tree), {})
    except TemplateError as exc:
        raise BadTemplate(exc.message or type(exc).__name__) from exc
    except (RecursionError, OverflowError, MemoryError, SyntaxError) as exc:
        raise BadTemplate("it is nested too deeply or too large") from exc


def _render(compiled: Compiled, variables: Mapping[str, Any], most: int) -> str:
    """Take the pieces as they come, so that too much is seen before it is there."""
    budget = Budget()
    context = compiled.new_context({**variables, BUDGET: budget}, shared=True)
    pieces: list[str] = []
    size = 0
    for piece in compiled.root_render_func(context):
        budget.spend()
        size += len(piece)
        if size > most:
            raise Unmapped(f"it makes more than {most:,} characters")
        pieces.append(piece)
    return "".join(pieces)
