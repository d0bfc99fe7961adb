"""Every kind of payload that we know, as a sample, and what it means."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from channels.slack.parsing.events import parse_loss
from channels.slack.parsing.payloads import is_readable, parse
from channels.slack.parsing.reader import Reader

FOLDER = Path(__file__).parents[3] / "payloads" / "slack"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected" / "meanings.json").read_text())
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
READER = Reader(
    bot_user="U0LAN0Z89",
    secret=b"the secret key of the samples",
    names={"U0OTTO001": "otto"},
)


def meaning(name: str) -> Any:  # noqa: ANN401 (whatever JSON can hold)
    """Parse a sample as the reception does, and write down what is not by default."""
    payload = json.loads((FOLDER / f"{name}.json").read_text())
    assert is_readable(payload)
    return described(parse_loss(payload) or parse(payload, READER))


def described(value: object) -> Any:  # noqa: ANN401 (the same)
    """Write a value as JSON: its kind, and the fields that were set."""
    if is_dataclass(value):
        told = {one.name: getattr(value, one.name) for one in fields(value) if is_set(one, value)}
        told.pop("view", None)  # the whole form, as it came
        return {"is": type(value).__name__, **{name: described(one) for name, one in told.items()}}
    return [described(one) for one in value] if isinstance(value, tuple) else value


def is_set(field: Any, value: object) -> bool:  # noqa: ANN401 (a dataclass's)
    """Say whether a field says anything."""
    return field.default is MISSING or getattr(value, field.name) != field.default


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_means_what_stands_beside_it(name: str) -> None:
    """A parser's bug adds a sample."""
    assert meaning(name) == EXPECTED[name]


def test_nothing_is_expected_that_is_not_there() -> None:
    """Each expectation has its sample."""
    assert sorted(EXPECTED) == NAMES
