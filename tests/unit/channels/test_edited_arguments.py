"""A call's arguments as a form, and back."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from agent_core.json_values import JsonObject
from channels.form_fields import Field, edit_fields
from channels.form_inputs import initial, input_name
from channels.posted_answers import Mistakes, edited_arguments

PARAMETERS: JsonObject = {
    "properties": {
        "order": {"type": "string"},
        "amount": {"type": "number"},
        "kind": {"enum": ["full", "part"]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        "fast": {"type": "boolean"},
        "note": {"type": "string"},
    },
    "required": ["order", "amount"],
}
ARGUMENTS: JsonObject = {"order": "007", "amount": 5.5, "kind": "part", "tags": ["b"], "fast": True}
JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.text(), st.floats(allow_nan=False, width=32)
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=5,
)


def posted(
    arguments: dict[str, object], parameters: dict[str, object] | None
) -> dict[str, list[str]]:
    """Post a form as it was shown, the way that browsers do."""
    fields = edit_fields(arguments, parameters) or ()
    return {
        input_name(at): [as_browsers_send(field, one) for one in initial(field)]
        for at, field in enumerate(fields)
        if initial(field)
    } | {
        input_name(at): sorted(set(initial(field)))  # boxes are ticked once, and sent in order
        for at, field in enumerate(fields)
        if field.shape == "many" and initial(field)
    }


def as_browsers_send(field: Field, value: str) -> str:
    """Do as HTML says: one line holds no line breaks, several end by CRLF, a date is one."""
    if field.shape in {"lines", "json"}:
        return re.sub(r"\r\n|\r|\n", "\r\n", value)
    if field.shape == "date" and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return ""
    return re.sub(r"[\r\n]", "", value)


def test_the_form_is_that_of_the_tools_own_parameters() -> None:
    """Menus where there is a list of values, and what nobody gave is offered."""
    fields = {one.name: one for one in edit_fields(ARGUMENTS, PARAMETERS) or ()}

    assert [fields[name].shape for name in ("order", "amount", "kind", "tags", "fast")] == [
        "text",
        "number",
        "one",
        "many",
        "yes-no",
    ]
    assert fields["note"].default is None
    assert not fields["note"].is_required


def test_a_value_that_the_parameter_cannot_hold_is_shown_as_it_is() -> None:
    """A model may have given anything; nobody may be shown something else."""
    odd: JsonObject = {"order": 7, "amount": "much", "kind": "other", "tags": "b", "fast": "yes"}
    fields = edit_fields(odd, PARAMETERS) or ()

    assert [one.default for one in fields[:5]] == list(odd.values())
    assert edited_arguments(fields, posted(odd, PARAMETERS)) == odd


def test_what_is_changed_is_read_and_the_rest_stays() -> None:
    """A number stays a number, and a text that looks like one a text."""
    fields = edit_fields(ARGUMENTS, PARAMETERS) or ()
    form = {**posted(ARGUMENTS, PARAMETERS), "field-1": ["4"], "field-5": ["soon"]}

    assert edited_arguments(fields, form) == {**ARGUMENTS, "amount": 4, "note": "soon"}


def test_what_is_needed_and_what_is_wrong_is_said_beside_its_field() -> None:
    """Each by the name of its input."""
    fields = edit_fields(ARGUMENTS, PARAMETERS) or ()
    form = posted(ARGUMENTS, PARAMETERS)
    wrong = edited_arguments(fields, {**form, "field-1": ["a lot"]})
    missing = edited_arguments(fields, {**form, "field-0": [""]})

    assert isinstance(wrong, Mistakes)
    assert wrong.by_input == {"field-1": "Please give a number, such as 20.5."}
    assert isinstance(missing, Mistakes)
    assert missing.by_input == {"field-0": "This is needed."}


def test_lines_odd_days_and_lists_stay_as_the_model_gave_them() -> None:
    """No input is shown that drops a line break or a day that is none, or puts a list in order."""
    parameters: JsonObject = {
        "properties": {
            "text": {"type": "string"},
            "day": {"type": "string", "format": "date"},
            "old": {"type": "string"},
            "twice": {"type": "array", "items": {"enum": ["a", "b"]}},
            "back": {"type": "array", "items": {"enum": ["a", "b"]}},
        }
    }
    arguments: JsonObject = {
        "text": "Dear Ann,\nyes.",
        "day": "next Friday",
        "old": "a\rb",
        "twice": ["a", "a"],
        "back": ["b", "a"],
    }
    fields = edit_fields(arguments, parameters) or ()

    assert edited_arguments(fields, posted(arguments, parameters)) == arguments


def test_what_the_tool_would_take_by_itself_is_shown_and_not_added() -> None:
    """Who opens the form and sends it has changed nothing: a default stays the tool's own."""
    parameters: JsonObject = {
        "properties": {
            "order": {"type": "string"},
            "reason": {"type": "string", "default": "none"},
            "fast": {"type": "boolean", "default": False},
        }
    }
    arguments: JsonObject = {"order": "007"}
    fields = edit_fields(arguments, parameters) or ()
    form = posted(arguments, parameters)

    assert edited_arguments(fields, form) == arguments
    assert edited_arguments(fields, {**form, "field-1": ["late"]}) == {
        "order": "007",
        "reason": "late",
    }


@given(st.dictionaries(st.text(min_size=1), JSON, min_size=1, max_size=4))
def test_a_form_that_nobody_touched_gives_the_very_same_arguments(
    arguments: JsonObject,
) -> None:
    """Whatever a model wrote: to open the form and send it changes nothing."""
    fields = edit_fields(arguments, None) or ()
    given_back = edited_arguments(fields, posted(arguments, None))

    assert given_back == arguments
