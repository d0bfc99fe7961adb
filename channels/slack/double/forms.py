"""What people fill in: how each input says its value, and what Slack lets nobody send. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from channels.slack.double.blocks import elements
from channels.slack.double.records import Payload, View

_FIELDS = {
    "checkboxes": "selected_options",
    "channels_select": "selected_channel",
    "conversations_select": "selected_conversation",
    "datepicker": "selected_date",
    "datetimepicker": "selected_date_time",
    "multi_static_select": "selected_options",
    "multi_users_select": "selected_users",
    "overflow": "selected_option",
    "radio_buttons": "selected_option",
    "static_select": "selected_option",
    "timepicker": "selected_time",
    "users_select": "selected_user",
}
"""Where an input keeps its value; all others call it `value`."""
_INITIAL = {
    "checkboxes": "initial_options",
    "channels_select": "initial_channel",
    "conversations_select": "initial_conversation",
    "datepicker": "initial_date",
    "datetimepicker": "initial_date_time",
    "multi_static_select": "initial_options",
    "multi_users_select": "initial_users",
    "radio_buttons": "initial_option",
    "static_select": "initial_option",
    "timepicker": "initial_time",
    "users_select": "initial_user",
}
_STATELESS = {"button", "overflow", "image", "workflow_button"}
_OF_OPTIONS = {"selected_option", "selected_options"}


class FormRefused(Exception):
    """Slack's own client would not send this form: something is missing or doesn't fit."""


def value_field(kind: str) -> str:
    """Say where this kind of input keeps its value."""
    return _FIELDS.get(kind, "value")


def initial_values(blocks: list[Payload]) -> Payload:
    """Give `state.values` of blocks that nobody has touched yet."""
    values: Payload = {}
    for block in blocks:
        for element in elements(block):
            if element["type"] in _STATELESS:
                continue
            kind = element["type"]
            start = element.get(_INITIAL.get(kind, "initial_value"))
            if start is None and value_field(kind) in {"selected_options", "selected_users"}:
                start = []
            state = {"type": kind, value_field(kind): start}
            values.setdefault(block["block_id"], {})[element.get("action_id", "")] = state
    return values


def state_of(element: Payload, value: object) -> Payload:
    """Write a plain value as this input writes it: an option by its value, a text as it is."""
    field = value_field(element["type"])
    if field == "selected_option":
        return {"type": element["type"], field: None if value is None else _option(element, value)}
    if field == "selected_options":
        chosen = [_option(element, one) for one in _listed(value)]
        return {"type": element["type"], field: chosen}
    return {"type": element["type"], field: value}


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple, set)) else [value]


def _option(element: Payload, value: object) -> Payload:
    options: list[Payload] = list(element.get("options", []))
    for group in element.get("option_groups", []):
        options += group["options"]
    for option in options:
        if value in (option, option.get("value"), option["text"]["text"]):
            return option
    raise FormRefused(f"{element.get('action_id')} offers no {value!r}")


def filled(view: View, given: Mapping[str, Any]) -> Payload:
    """Give the view's `state.values` after a person filled in `given`, or refuse as Slack would.

    `given` is `{block_id: {action_id: value}}`; `{block_id: value}` and `{action_id: value}` do
    where no other input is meant.
    """
    values = {block: dict(actions) for block, actions in view.values.items()}
    _check_names(view, given)
    unused = set(given)
    for block in view.blocks:
        for element in elements(block):
            found, value = _given(block, element, given, unused)
            if found:
                values[block["block_id"]][element["action_id"]] = state_of(element, value)
    if unused:
        raise FormRefused(f"the form has no {', '.join(sorted(unused))}")
    for block in view.blocks:
        if block["type"] == "input":
            _check_input(block, values[block["block_id"]][block["element"]["action_id"]])
    return values


def _check_names(view: View, given: Mapping[str, Any]) -> None:
    """Refuse the name of an input that stands in several blocks: which one is meant?"""
    blocks = {block["block_id"] for block in view.blocks}
    inputs = [e.get("action_id") for block in view.blocks for e in elements(block)]
    for name in given:
        if name not in blocks and inputs.count(name) > 1:
            raise FormRefused(f"{name} stands in several blocks; name the block too")


def _given(
    block: Payload, element: Payload, given: Mapping[str, Any], unused: set[str]
) -> tuple[bool, Any]:
    block_id, action_id = block["block_id"], element.get("action_id", "")
    if element["type"] in _STATELESS:
        return False, None
    if block_id in given:
        inside = given[block_id]
        unused.discard(block_id)
        if not isinstance(inside, dict):
            return True, inside
        return action_id in inside, inside.get(action_id)
    unused.discard(action_id)
    return action_id in given, given.get(action_id)


def _check_input(block: Payload, state: Payload) -> None:
    element, name = block["element"], block["label"]["text"]
    value = state[value_field(element["type"])]
    if value in (None, "", []):
        if not block.get("optional"):
            raise FormRefused(f"{name!r} must be filled in")
        return
    if element["type"] == "plain_text_input" and not (
        element.get("min_length", 0) <= len(value) <= element.get("max_length", 3000)
    ):
        raise FormRefused(f"{name!r} is too short or too long")
    if element["type"] == "number_input":
        _check_number(name, element, value)


def _check_number(name: str, element: Payload, value: object) -> None:
    try:
        number = float(str(value))
    except ValueError as exc:
        raise FormRefused(f"{name!r} must be a number") from exc
    if not element.get("is_decimal_allowed") and not number.is_integer():
        raise FormRefused(f"{name!r} must be a whole number")
    low, high = element.get("min_value"), element.get("max_value")
    if (low is not None and number < float(low)) or (high is not None and number > float(high)):
        raise FormRefused(f"{name!r} is out of range")
