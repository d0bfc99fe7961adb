"""`name=value` on the command line: a value is JSON where it is JSON, and else a text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import typer


def pairs(given: Iterable[str], option: str) -> dict[str, Any]:
    """Read pairs; the last of one name wins."""
    return {name: _json_or_text(value) for name, value in texts(given, option).items()}


def texts(given: Iterable[str], option: str) -> dict[str, str]:
    """Read pairs whose values are texts."""
    read = {}
    for pair in given:
        name, found, value = pair.partition("=")
        if not found or not name:
            raise typer.BadParameter(f"{option} should look like name=value, not {pair!r}")
        read[name] = value
    return read


def like(before: object, text: str) -> Any:  # noqa: ANN401 - any JSON
    """Read a new value for something: a text stays a text, also if it looks like a number."""
    return text if isinstance(before, str) else _json_or_text(text)


def _json_or_text(text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and its kin are no JSON
