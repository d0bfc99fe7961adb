"""`@tool`: what it makes of a function, and what it refuses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from agent_core import (
    DefinitionError,
    Policy,
    Tool,
    ToolContext,
    Waiting,
    contact_human,
    tool,
)
from agent_core.tools.tool import Arguments


async def look(thing: str, *, closely: bool = False) -> str:
    """Look at something.

    Take your time.
    """
    return f"{thing} {closely}"


def plain(amount: int) -> int:
    """Double it."""
    return amount * 2


def test_a_tool_takes_its_name_and_description_from_the_function() -> None:
    """Unless it is given others."""
    made = tool(look)
    renamed = tool(name="see", description="Just look.")(look)

    assert (made.name, made.description) == ("look", "Look at something.\n\nTake your time.")
    assert (renamed.name, renamed.description) == ("see", "Just look.")


def test_a_tools_schema_is_in_chat_completions_form() -> None:
    """Name, description, and the parameters as a JSON schema without a title."""
    assert tool(look).schema() == {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look at something.\n\nTake your time.",
            "parameters": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "thing": {"title": "Thing", "type": "string"},
                    "closely": {"title": "Closely", "type": "boolean", "default": False},
                },
                "required": ["thing"],
            },
        },
    }


async def test_a_tool_can_be_called_as_the_function_that_it_is() -> None:
    """So its own tests need no agent."""
    assert tool(plain)(21) == 42
    assert await tool(look)("x", closely=True) == "x True"


def test_a_tool_knows_whether_it_is_async() -> None:
    """An interruptible one must be."""
    assert tool(look).is_async
    assert not tool(plain).is_async


def test_a_bound_method_can_be_a_tool() -> None:
    """Its object is not a parameter."""

    class Desk:
        """Somewhere to work."""

        def work(self, hours: int) -> str:
            """Work."""
            return f"{self} {hours}"

    made = tool(Desk().work)

    assert (made.name, made.signature.names) == ("work", frozenset({"hours"}))


def test_approvers_are_kept_in_order() -> None:
    """Names or roles."""

    @tool(approval=True, approvers=["otto", "finance"])
    def pay() -> None:
        return None

    assert pay.approvers == ("otto", "finance")


@pytest.mark.parametrize(
    ("approval", "amount", "needed"),
    [
        (False, 500, False),
        (True, 1, True),
        (lambda amount: amount > 100, 101, True),
        (lambda amount: amount > 100, 100, False),
        (lambda it: it.amount > 100, 101, True),
        (lambda it: it["amount"] > 100, 100, False),
        (lambda it: it.nothing, 1, True),
        (lambda: False, 1, True),
        (lambda _it: 1 / 0, 1, True),
        (lambda _it: "", 1, False),
        (bool, 1, True),
    ],
)
def test_a_predicate_is_asked_by_name_or_as_one_object_and_a_failing_one_means_yes(
    approval: Any,  # noqa: ANN401 (what an author may pass)
    amount: int,
    *,
    needed: bool,
) -> None:
    """The safe side is to ask."""
    made = tool(approval=approval)(plain)

    assert made.needs_approval({"amount": amount}) is needed


def test_arguments_are_seen_by_key_and_as_attributes() -> None:
    """A missing one is an AttributeError, as for any object."""
    arguments = Arguments(amount=5)

    assert (arguments.amount, arguments["amount"]) == (5, 5)
    with pytest.raises(AttributeError, match="tip"):
        _ = arguments.tip


async def predicate(amount: int) -> bool:
    """Look, but too late: nobody awaits it."""
    return amount > 1


def undo(amount: int, result: int) -> None:
    """Undo it."""


def undo_more(amount: int, reason: str) -> None:
    """Want what the tool doesn't have."""


def untyped(amount):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Take something."""
    return amount


def with_args(*amounts: int) -> int:
    """Take some."""
    return sum(amounts)


def with_kwargs(**amounts: int) -> int:
    """Take some by name."""
    return sum(amounts.values())


def positional(amount: int, /) -> int:
    """Take it by place."""
    return amount


def unreadable(amount: NoSuchType) -> int:  # type: ignore[name-defined]  # noqa: F821
    """Name a type that is nowhere."""
    return int(amount)


class NoJson:
    """Something that no model can write."""


def no_json(thing: NoJson) -> str:
    """Take it all the same."""
    return str(thing)


def a_function(thing: Callable[[], int]) -> str:
    """Take a function."""
    return str(thing)


def two_contexts(one: ToolContext, two: ToolContext) -> str:
    """Take two."""
    return f"{one} {two}"


def maybe_context(ctx: ToolContext | None = None) -> str:
    """Take one, perhaps."""
    return str(ctx)


@pytest.mark.parametrize(
    ("function", "options", "problem"),
    [
        (plain, {"name": "double it"}, "can't be a tool's name"),
        (plain, {"name": "größe"}, "can't be a tool's name"),
        (plain, {"name": "x" * 65}, "can't be a tool's name"),
        (lambda: None, {}, "can't be a tool's name"),
        (functools.partial(plain, 2), {}, "can't be"),
        (plain, {"timeout": 0}, "timeout is more than 0 seconds"),
        (plain, {"timeout": -1}, "timeout is more than 0 seconds"),
        (plain, {"retries": -1}, "retries is 0 or more"),
        (plain, {"interruptible": True}, "a plain function can't be interrupted"),
        (plain, {"approval": predicate}, "the approval predicate must be a plain function"),
        (plain, {"approval": "always"}, "approval is True, False or a predicate"),
        (plain, {"compensate": "undo"}, "compensate is a function"),
        (plain, {"compensate": undo_more}, "its compensation takes reason"),
        (plain, {"compensate": untyped}, "untyped"),
        (with_args, {}, r"takes \*amounts: .*only pass arguments by name"),
        (with_kwargs, {}, r"takes \*\*amounts: .*only pass arguments by name"),
        (positional, {}, "only pass arguments by name"),
        (untyped, {}, "untyped has no type for its parameter amount"),
        (unreadable, {}, "the annotations of unreadable can't be read"),
        (no_json, {}, "no_json has a type that can't be JSON"),
        (a_function, {}, "a_function has a type that can't be JSON"),
        (two_contexts, {}, "two_contexts has a type that can't be JSON"),
        (maybe_context, {}, "maybe_context has a type that can't be JSON"),
        ("plain", {}, "@tool goes on a function, not on 'plain'"),
    ],
)
def test_a_tool_that_cannot_work_is_refused_where_it_is_defined(
    function: Any,  # noqa: ANN401 (what nobody should pass)
    options: dict[str, Any],
    problem: str,
) -> None:
    """Not on the first call, at night."""
    with pytest.raises(DefinitionError, match=problem):
        tool(**options)(function)


@pytest.mark.parametrize("options", [{"compensate": undo}, {"compensate": tool(undo)}])
def test_a_compensation_may_take_the_tools_arguments_and_its_result(
    options: dict[str, Any],
) -> None:
    """As a function, or as another tool."""
    assert isinstance(tool(**options)(plain), Tool)


def test_contact_human_is_a_tool_whose_parameters_explain_themselves() -> None:
    """The model reads nothing else."""
    parameters = contact_human.schema()["function"]["parameters"]

    assert set(parameters["properties"]) == {
        "question",
        "context",
        "kind",
        "options",
        "schema",
        "urgency",
        "to",
        "wait",
    }
    assert parameters["required"] == ["question"]
    assert all("description" in one for one in parameters["properties"].values())


def test_a_tool_says_who_decides_and_how_long_to_wait() -> None:
    """As values, which the question then carries."""
    made = tool(
        approval=True,
        approvers=["leads"],
        quorum=2,
        not_requester=True,
        veto=False,
        waiting=Waiting(expires_after=60),
    )(look)

    assert made.policy == Policy(quorum=2, not_requester=True, veto=False)
    assert made.waiting == Waiting(expires_after=60)
    assert tool(approval=True, veto=False)(look).policy == Policy(veto=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"approval": True, "approvers": ["leads"], "quorum": 0}, "quorum is a number of people"),
        ({"approvers": ["leads"], "quorum": 2}, "for a tool with approval"),
        ({"not_requester": True}, "for a tool with approval"),
        ({"approval": True, "quorum": 2}, "name approvers"),
        ({"approval": True, "not_requester": True}, "name approvers"),
    ],
)
def test_rules_that_nobody_could_fulfil_are_refused(options: dict[str, Any], words: str) -> None:
    """Where the tool is defined, not when the first person is asked."""
    with pytest.raises(DefinitionError, match=words):
        tool(**options)(look)
