"""Which agents there are: the `Agent` objects at the top level of the modules in PARLEY_AGENTS.

A module is named as Python does (`shop.agents`, looked for in the working folder last, so that
nothing there can stand in for a library) or by the path of its file. What can't be loaded is told
by the module's own line, before anything starts.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from agent_core import Agent
from gateway.settings.environment import SettingsError


class AgentsError(SettingsError):
    """PARLEY_AGENTS names something that gives no agents."""

    def __init__(self, spec: str, problem: str) -> None:
        super().__init__(f"PARLEY_AGENTS: {spec} {problem}")


def load_agents(specs: Sequence[str]) -> dict[str, Agent]:
    """Load all modules and give their agents by name."""
    agents: dict[str, Agent] = {}
    places: dict[str, str] = {}
    for spec in specs:
        for agent in _agents_in(spec):
            if agents.setdefault(agent.name, agent) is not agent:
                where = places[agent.name]
                also = "it" if where == spec else where
                raise AgentsError(spec, f"defines agent {agent.name!r}, and so does {also}")
            places.setdefault(agent.name, spec)
    return agents


def _agents_in(spec: str) -> list[Agent]:
    module = _load(spec)
    found = [value for value in vars(module).values() if isinstance(value, Agent)]
    if not found:
        raise AgentsError(
            spec, "has no agent: it should have an Agent(…) at its top level, like support = Agent("
        )
    return found


def _load(spec: str) -> ModuleType:
    try:
        if spec.endswith(".py") or "/" in spec:
            return _from_file(spec)
        return _from_path(spec)
    except AgentsError:
        raise
    except (Exception, SystemExit) as exc:
        if _is_missing(exc, spec):
            raise AgentsError(spec, "is not there: no module of that name was found") from exc
        raise AgentsError(spec, f"can't be loaded: {_line_of(exc)}") from exc


def _from_path(name: str) -> ModuleType:
    _also_look_in(Path.cwd())
    if not all(part.isidentifier() for part in name.split(".")):
        raise AgentsError(name, "is no module: it should look like shop.agents or ./agents.py")
    return importlib.import_module(name)


def _from_file(spec: str) -> ModuleType:
    path = Path(spec).expanduser().resolve()
    if not path.is_file():
        raise AgentsError(spec, f"is not there: {path} is no file")
    name = f"parley_agents_{path.stem}_{abs(hash(str(path))):x}"
    if name in sys.modules:
        return sys.modules[name]
    _also_look_in(path.parent)
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise AgentsError(spec, "is no Python file: it should end in .py")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module  # annotations are looked up there while the module is being made
    try:
        found.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _also_look_in(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _is_missing(exc: BaseException, spec: str) -> bool:
    """Tell a module that isn't there from one that imports something that isn't there."""
    return (
        isinstance(exc, ModuleNotFoundError)
        and bool(exc.name)
        and (f"{spec}.".startswith(f"{exc.name}."))
    )


def _line_of(exc: BaseException) -> str:
    what = traceback.format_exception_only(exc)[-1].strip()
    if isinstance(exc, SyntaxError):
        return f"{exc.filename}, line {exc.lineno}: {what}"
    frames = traceback.extract_tb(exc.__traceback__)
    inside = [f for f in frames if f.filename != __file__ and "importlib" not in f.filename]
    if not inside:
        return what
    top = inside[0]
    return f"{top.filename}, line {top.lineno}: {top.line or ''}\n  {what}"
