"""Forms there and back: what a person fills in is the answer that the question takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.errors import WrongShape
from agent_core.json_values import Json, JsonObject
from agent_core.thread.forms import check_form
from channels.outgoing import Choice, QuestionCard
from channels.slack.render.filled import (
    Filled,
    Mistakes,
    mistaken,
    read_opened,
    read_state,
    read_words,
)
from channels.slack.render.modals import ask_modal, question_modal
from channels.slack.tokens import ForgedValue
from tests.unit.channels.slack import asked

SECRET = b"a secret"
PLACE = {"place": "slack:T1:C1:1.2"}
APPROVAL = QuestionCard(
    id="q_1", thread="th_1", kind="approval", prompt="Pay?", tool="pay", arguments={"n": 1}
)
FORM = replace(APPROVAL, kind="form", tool="", arguments=None)
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "As on the card"},
        "story": {"type": "string", "maxLength": 2_000},
        "size": {"enum": ["S", "M", 3]},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}},
        "sure": {"type": "boolean", "default": True},
        "count": {"type": "integer", "minimum": 1, "default": 2},
        "price": {"type": "number"},
        "day": {"type": "string", "format": "date"},
        "deep": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["name", "maybe"],
    "$defs": {"Tag": {"enum": ["x", "y"]}},
}


def opened(name: str, card: QuestionCard) -> dict[str, Any]:
    """Open a form, as Slack would send it back untouched."""
    view = question_modal(name, card, secret=SECRET, context=PLACE)
    assert view is not None
    return submitted(view, {})


def submitted(view: dict[str, Any], typed: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Fill in a form as Slack's client does: what stands there at first, unless it is changed."""
    values = {}
    for block in view["blocks"]:
        if block["type"] == "input":
            element = block["element"]
            state: dict[str, Any] = {"type": element["type"], **_untouched(element)}
            changed = {**state, **typed.get(block["block_id"], {})}
            values[block["block_id"]] = {element["action_id"]: changed}
    return {**view, "state": {"values": values}}


def _untouched(element: dict[str, Any]) -> dict[str, Any]:
    match element["type"]:
        case "plain_text_input" | "number_input":
            return {"value": element.get("initial_value")}
        case "static_select" | "radio_buttons":
            return {"selected_option": element.get("initial_option")}
        case "multi_static_select":
            return {"selected_options": element.get("initial_options", [])}
        case _:
            return {"selected_date": element.get("initial_date")}


def option(number: int) -> dict[str, Any]:
    """Choose an option by its place."""
    return {"selected_option": {"value": str(number)}}


def test_form_shows_each_kind_of_field_as_its_own_input() -> None:
    """What Slack has an input for gets it; the rest is JSON."""
    view = opened("fill", replace(FORM, schema=SCHEMA))

    inputs = [block for block in view["blocks"] if block["type"] == "input"]
    assert [(one["label"]["text"], one["element"]["type"]) for one in inputs] == [
        ("Your name", "plain_text_input"),
        ("story", "plain_text_input"),
        ("size", "static_select"),
        ("tags", "multi_static_select"),
        ("sure", "radio_buttons"),
        ("count", "number_input"),
        ("price", "number_input"),
        ("day", "datepicker"),
        ("deep", "plain_text_input"),
        ("maybe", "plain_text_input"),
    ]
    assert [one["optional"] for one in inputs] == [False] + [True] * 9
    assert [one["element"]["multiline"] for one in (inputs[0], inputs[1])] == [False, True]
    assert inputs[0]["hint"]["text"] == "As on the card"
    assert inputs[5]["element"]["initial_value"] == "2"
    assert inputs[5]["element"]["min_value"] == "1"
    assert not inputs[5]["element"]["is_decimal_allowed"]


def test_filled_form_is_typed_back() -> None:
    """Numbers are numbers, dates are text, options are their values, empty is absent or null."""
    card = replace(FORM, schema=SCHEMA)
    view = submitted(
        opened("fill", card),
        {
            "field-0": {"value": "Ada"},
            "field-2": option(2),
            "field-3": {"selected_options": [{"value": "1"}]},
            "field-4": option(1),
            "field-6": {"value": "20.5"},
            "field-7": {"selected_date": "2026-11-16"},
            "field-8": {"value": '{"a": 1}'},
        },
    )

    assert read_state(view, card, "fill") == Filled(
        value={
            "name": "Ada",
            "size": 3,
            "tags": ["y"],
            "sure": False,
            "count": 2,
            "price": 20.5,
            "day": "2026-11-16",
            "deep": {"a": 1},
            "maybe": None,
        }
    )


@pytest.mark.parametrize(
    ("block", "typed", "words"),
    [
        ("field-5", {"value": "two"}, "a whole number"),
        ("field-5", {"value": "2.5"}, "a whole number"),
        ("field-5", {"value": "0"}, "0 is less than"),
        ("field-6", {"value": "1e5"}, "a number"),
        ("field-8", {"value": "{a: 1}"}, "write JSON"),
        ("field-8", {"value": "[" * 100_000}, "write JSON"),
        ("field-8", {"value": '{"a": "1"}'}, "is not of type"),
        ("field-2", option(99), "one of the options"),
        ("field-7", {"selected_date": "2026-02-31"}, "date"),
    ],
)
def test_mistake_is_shown_at_its_field(block: str, typed: dict[str, Any], words: str) -> None:
    """A person sees at once what to mend, where it is."""
    card = replace(FORM, schema=SCHEMA)
    view = submitted(opened("fill", card), {"field-0": {"value": "Ada"}, block: typed})

    read = read_state(view, card, "fill")

    assert isinstance(read, Mistakes)
    assert list(read.errors) == [block]
    assert words in read.errors[block]


@given(asked.schemas)
def test_what_a_form_accepts_the_question_accepts(schema: JsonObject) -> None:
    """An untouched form is either an answer that fits the schema, or has something to mend."""
    card = replace(FORM, schema=schema)

    read = read_state(opened("fill", card), card, "fill")

    if isinstance(read, Filled):
        check_form(schema, read.value)
    else:
        assert read.errors


def test_schema_without_fields_is_answered_in_json() -> None:
    """One input for the whole answer."""
    card = replace(FORM, schema={"type": "object", "minProperties": 1})
    view = opened("fill", card)

    good = read_state(submitted(view, {"field-0": {"value": '{"a": [1]}'}}), card, "fill")
    bad = read_state(submitted(view, {"field-0": {"value": "[1]"}}), card, "fill")

    assert good == Filled(value={"a": [1]})
    assert isinstance(bad, Mistakes)


def test_form_that_fits_no_schema_is_told_at_its_first_field() -> None:
    """A rule about the whole form has no field of its own."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 1}
    card = replace(FORM, schema=schema)

    read = read_state(opened("fill", card), card, "fill")

    assert isinstance(read, Mistakes)
    assert list(read.errors) == ["field-0"]
    with pytest.raises(WrongShape):
        check_form(schema, {})


@given(asked.objects)
def test_arguments_left_as_they_are_are_plainly_approved(arguments: JsonObject) -> None:
    """Opening "approve with edits" and editing nothing approves what was proposed, exactly."""
    card = replace(APPROVAL, arguments=arguments)

    assert read_state(opened("edit", card), card, "edit") == Filled(value={"approved": True})


@pytest.mark.parametrize(
    ("before", "typed", "after"),
    [
        ("A-17", {"value": "B-18"}, "B-18"),
        ("A-17", {"value": None}, ""),
        ("17", {"value": "18"}, "18"),
        (500, {"value": "20"}, 20),
        (500, {"value": "20.5"}, 20.5),
        (20.0, {"value": "20"}, 20),
        (True, option(1), False),
        (None, {"value": '"x"'}, "x"),
        ([1, 2], {"value": "[1]"}, [1]),
        ({"a": {"b": 1}}, {"value": '{"a": {"b": 2}}'}, {"a": {"b": 2}}),
        (10**20, {"value": "5"}, 5),
        (1e300, {"value": "2.5"}, 2.5),
    ],
)
def test_edited_argument_is_typed_back(before: Json, typed: dict[str, Any], after: Json) -> None:
    """Each argument keeps its kind; the others go along unchanged."""
    card = replace(APPROVAL, arguments={"keep": 1, "edit": before})
    view = submitted(opened("edit", card), {"field-1": typed})

    read = read_state(view, card, "edit")

    assert isinstance(read, Filled)
    assert read.value == {"approved": True, "arguments": {"keep": 1, "edit": after}}
    assert type(read.value["arguments"]["edit"]) is type(after)


def test_argument_too_long_for_an_input_stays_as_it_is() -> None:
    """It can't be shown, so it can't be lost either."""
    card = replace(APPROVAL, arguments={"long": "x" * 4_000, "n": 1})
    view = submitted(opened("edit", card), {"field-1": {"value": "2"}})

    assert read_state(view, card, "edit") == Filled(
        value={"approved": True, "arguments": {"long": "x" * 4_000, "n": 2}}
    )


def test_wrong_edit_is_shown_at_its_argument() -> None:
    """As in every form."""
    card = replace(APPROVAL, arguments={"n": 1, "deep": []})
    view = submitted(opened("edit", card), {"field-1": {"value": "[1"}})

    read = read_state(view, card, "edit")

    assert isinstance(read, Mistakes)
    assert list(read.errors) == ["field-1"]


def test_denial_carries_its_reason() -> None:
    """The agent is told the words."""
    view = submitted(opened("deny-reason", APPROVAL), {"words": {"value": " too much "}})

    read = read_state(view, APPROVAL, "deny-reason")

    assert read == Filled(value={"approved": False}, comment="too much")


def test_answer_in_words_must_have_some() -> None:
    """Spaces are no answer."""
    card = replace(FORM, kind="text")
    view = opened("answer", card)

    good = read_state(submitted(view, {"words": {"value": "Yes, but later."}}), card, "answer")
    bad = read_state(submitted(view, {"words": {"value": "  "}}), card, "answer")

    assert good == Filled(value="Yes, but later.")
    assert bad == Mistakes({"words": "Please answer in words."})


@given(st.integers(0, 249))
def test_picked_option_is_the_answer(number: int) -> None:
    """By its number, in groups of a hundred."""
    card = replace(FORM, kind="choice", options=[Choice(name=f"way {at}") for at in range(250)])
    view = opened("pick", card)

    read = read_state(submitted(view, {"pick": option(number)}), card, "pick")

    assert read == Filled(value=f"way {number}")


def test_all_of_long_arguments_can_be_read() -> None:
    """The form behind "show all" has every character of them."""
    card = replace(APPROVAL, arguments={"note": "xyz<" * 3_000})

    read = "".join(block["text"]["text"] for block in opened("show", card)["blocks"])

    assert read.count("xyz&lt;") >= 3_000 - 10
    assert read.count("x") == 3_000


def test_endless_arguments_are_cut_and_say_so() -> None:
    """A form has its limits; the log has none."""
    card = replace(APPROVAL, arguments={"note": "&" * 200_000})

    blocks = opened("show", card)["blocks"]

    assert len(blocks) <= 100
    assert "cut here" in blocks[-1]["text"]["text"]


def test_form_brings_back_what_it_was_opened_for() -> None:
    """Signed: the question, the action, the card, and where it was."""
    view = opened("edit", APPROVAL)

    read = read_opened(SECRET, view)

    assert (read.action, read.question, read.context) == ("edit", "q_1", PLACE)
    with pytest.raises(ForgedValue):
        read_opened(SECRET, {**view, "private_metadata": view["private_metadata"] + " "})


def test_action_without_a_form_has_none() -> None:
    """A plain approval is decided by the click."""
    assert question_modal("approve", APPROVAL, secret=SECRET, context=PLACE) is None


def test_shortcut_asks_what_to_do_with_the_message() -> None:
    """The message is quoted; the wish may be left out."""
    view = ask_modal("The build is red", secret=SECRET, context=PLACE)
    filled = submitted(view, {"words": {"value": "mend it"}})

    assert "The build is red" in str(view["blocks"])
    assert read_words(filled) == "mend it"
    assert read_words(submitted(view, {})) == ""
    assert read_opened(SECRET, filled).action == "ask"


def test_refusal_of_the_whole_form_stands_at_its_first_input() -> None:
    """What the gateway says of an answer's form is shown where the person is."""
    view = opened("edit", APPROVAL)

    assert mistaken(view, "order is missing") == Mistakes({"field-0": "order is missing"})
