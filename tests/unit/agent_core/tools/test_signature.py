"""Signatures: parameters as a schema, arguments validated, and a fingerprint of their shape."""

from __future__ import annotations

from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from agent_core import ToolContext
from agent_core.tools.signature import BadArguments, Signature

MISSING = object()


class Size(Enum):
    """A choice of sizes."""

    SMALL = "small"
    LARGE = "large"


class Address(BaseModel):
    """Where somebody lives."""

    city: str
    zip: str = ""


def order(
    item: str,
    size: Size,
    to: Address,
    *,
    when: date | None = None,
    count: Annotated[int, Field(ge=1)] = 1,
) -> None:
    """Order something."""


def named_like_pydantics_own(schema: str, copy: int, model_config: bool, json: str) -> None:  # noqa: FBT001 (the names matter)
    """Have parameters that a model class could not have."""


def with_context(context: ToolContext, item: str) -> None:
    """Take a context."""


def with_sentinel(item: str = MISSING) -> None:  # type: ignore[assignment]
    """Have a default that no JSON can say."""


def test_arguments_become_what_the_function_takes() -> None:
    """Enums, models and dates, not the JSON that stood for them."""
    arguments = Signature(order).validate(
        {"item": "hat", "size": "large", "to": {"city": "Bonn"}, "when": "2026-01-02"}
    )

    assert arguments == {
        "item": "hat",
        "size": Size.LARGE,
        "to": Address(city="Bonn"),
        "when": date(2026, 1, 2),
    }


def test_what_was_left_out_is_filled_in_only_for_those_who_look() -> None:
    """The function has its own defaults."""
    signature = Signature(order)
    arguments = signature.validate({"item": "hat", "size": "small", "to": {"city": "Bonn"}})

    assert "count" not in arguments
    assert signature.with_defaults(arguments)["count"] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "item: Field required; size: Field required; to: Field required"),
        ({"item": "hat", "size": "huge", "to": {"city": "B"}}, "size: Input should be 'small'"),
        ({"item": "hat", "size": "small", "to": {}}, "to.city: Field required"),
        (
            {"item": "hat", "size": "small", "to": {"city": "B"}, "count": 0},
            "count: Input should be greater than or equal to 1",
        ),
        (
            {"item": "hat", "size": "small", "to": {"city": "B"}, "colour": "red"},
            "colour: Extra inputs are not permitted",
        ),
    ],
)
def test_what_does_not_fit_is_told_in_words_and_by_place(
    arguments: dict[str, Any], told: str
) -> None:
    """The model must be able to repair it."""
    with pytest.raises(BadArguments) as refused:
        Signature(order).validate(arguments)

    assert told in str(refused.value)


def test_of_many_problems_the_first_five_are_told() -> None:
    """A model that is wrong everywhere needn't read a page."""
    wrong = {f"extra_{n}": n for n in range(10)}

    with pytest.raises(BadArguments, match=r"; and 8 more$"):
        Signature(order).validate(wrong)


def test_no_argument_is_ever_in_a_message() -> None:
    """What a model or a person passed may be secret, and it is in the log once already."""
    with pytest.raises(BadArguments) as refused:
        Signature(order).validate({"item": {"password": "hunter2"}})

    assert "hunter2" not in str(refused.value)


def test_parameters_may_have_any_name() -> None:
    """Also those that a pydantic model keeps for itself."""
    given = {"schema": "a", "copy": 1, "model_config": True, "json": "b"}

    assert Signature(named_like_pydantics_own).validate(given) == given


def test_the_context_is_found_by_its_type_and_is_no_parameter() -> None:
    """The model neither sees nor sets it."""
    signature = Signature(with_context)

    assert signature.context_name == "context"
    assert signature.names == {"item"}
    with pytest.raises(BadArguments, match="context: Extra inputs"):
        signature.validate({"item": "hat", "context": "mine"})


def test_a_default_that_is_no_json_is_not_shown() -> None:
    """A sentinel means nothing to a model."""
    assert "default" not in Signature(with_sentinel).parameters["properties"]["item"]


# The fingerprint


def plain(title: str, count: int = 1) -> None:
    """Do it."""


def reworded(
    title: Annotated[str, Field(description="Its name.", examples=["x"])], count: int = 1
) -> None:
    """Do it, in other words."""


def renamed(name: str, count: int = 1) -> None:
    """Do it."""


def retyped(title: str, count: float = 1) -> None:
    """Do it."""


def required(title: str, count: int) -> None:
    """Do it."""


def narrowed(title: Literal["a", "b"], count: int = 1) -> None:
    """Do it."""


def reordered(count: int = 1, *, title: str) -> None:
    """Do it."""


def test_prose_is_no_part_of_the_fingerprint() -> None:
    """Words may be improved while threads wait; so may the order, as arguments go by name."""
    assert Signature(reworded).digest == Signature(plain).digest
    assert Signature(reordered).digest == Signature(plain).digest


@pytest.mark.parametrize("changed", [renamed, retyped, required, narrowed])
def test_names_types_and_what_is_required_are(changed: Any) -> None:  # noqa: ANN401 (a function)
    """A parameter called `title` is a name, not prose."""
    assert Signature(changed).digest != Signature(plain).digest
