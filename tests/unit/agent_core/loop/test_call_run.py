"""Small parts of running a tool: how functions are called, results taken, exceptions named."""

from __future__ import annotations

import threading

import pytest
from pydantic import BaseModel

from agent_core import NotJson
from agent_core.loop.call_run import as_json, describe, invoke


class Point(BaseModel):
    """A place."""

    x: float
    y: float


async def test_a_coroutine_function_runs_here_and_a_plain_one_in_a_thread() -> None:
    """A plain tool that blocks must not block the others."""

    async def here() -> int:
        return threading.get_ident()

    assert await invoke(here) == threading.get_ident()
    assert await invoke(threading.get_ident) != threading.get_ident()


def test_json_is_taken_as_it_is_and_models_are_written_out() -> None:
    """Nothing else is converted."""
    assert as_json({"a": [1, None]}) == {"a": [1, None]}
    assert as_json(Point(x=1, y=2)) == {"x": 1.0, "y": 2.0}


@pytest.mark.parametrize("value", [(1, 2), {1}, b"x", object(), float("nan"), {1: 2}, "\0"])
def test_what_is_not_json_is_refused_with_its_place(value: object) -> None:
    """Where it stands in the result."""
    with pytest.raises(NotJson, match=r"^result"):
        as_json(value)
    with pytest.raises(NotJson, match=r"^result\.deep\[0\]"):
        as_json({"deep": [value]})


def test_an_exception_is_named_with_its_message() -> None:
    """Or by its name alone."""
    assert describe(KeyError("order")) == "KeyError: 'order'"
    assert describe(ValueError()) == "ValueError"


def test_a_long_message_is_cut_to_what_a_model_should_read() -> None:
    """And what no database stores is dropped."""
    text = describe(ValueError("\0\ud800" + "x" * 10_000))

    assert len(text) == 2000
    assert text.startswith("ValueError: ?xxx")


def test_of_a_group_of_exceptions_each_one_is_named() -> None:
    """A TaskGroup wraps what went wrong; the wrapping says nothing."""
    inner = ExceptionGroup("inner", [KeyError("order")])

    text = describe(ExceptionGroup("unhandled errors", [RuntimeError("out of paper"), inner]))

    assert "RuntimeError: out of paper" in text
    assert "KeyError: 'order'" in text
