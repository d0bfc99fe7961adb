"""Every statement in the code of a store: found by reading the code, so that none is forgotten."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

_SQL = re.compile(r"\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\s")
_NAMED = re.compile(r"\{\w+\}")


def constants(package: ModuleType) -> dict[str, str]:
    """Give the statements that stand at the top of a module, by module and name."""
    return {
        f"{module}.{name}": value
        for module, code in _modules(package)
        for name, value in vars(importlib.import_module(f"{package.__name__}.{module}")).items()
        if isinstance(value, str) and _is_sql(value) and _is_assigned(code, name)
    }


def literals(package: ModuleType) -> dict[str, str]:
    """Give the statements that stand within functions, whole."""
    return {
        f"{where}:{node.lineno}": node.value
        for where, node in _within_functions(package)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_sql(node.value)
    }


def builders(package: ModuleType) -> set[str]:
    """Name the functions that put statements together, by module and name."""
    return {
        where
        for where, node in _within_functions(package)
        if isinstance(node, ast.JoinedStr)
        and isinstance(node.values[0], ast.Constant)
        and _is_sql(str(node.values[0].value))
    }


def is_template(sql: str) -> bool:
    """Tell whether something must be filled in before it is a statement."""
    return _NAMED.search(sql) is not None


def _is_sql(text: str) -> bool:
    return _SQL.match(text) is not None


def _modules(package: ModuleType) -> Iterator[tuple[str, ast.Module]]:
    folder = Path(package.__path__[0])
    for found in pkgutil.iter_modules(package.__path__):
        yield found.name, ast.parse((folder / f"{found.name}.py").read_text(encoding="utf-8"))


def _is_assigned(code: ast.Module, name: str) -> bool:
    """Tell a module's own constants from those that it imports."""
    targets = [
        target for node in code.body if isinstance(node, ast.Assign) for target in node.targets
    ]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _within_functions(package: ModuleType) -> Iterator[tuple[str, ast.AST]]:
    for module, code in _modules(package):
        for function in ast.walk(code):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                pieces = {
                    id(piece)
                    for node in ast.walk(function)
                    if isinstance(node, ast.JoinedStr)
                    for piece in node.values
                }
                for node in ast.walk(function):
                    if id(node) not in pieces:
                        yield f"{module}.{function.name}", node
