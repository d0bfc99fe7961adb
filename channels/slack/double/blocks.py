"""Block Kit's limits: what Slack would refuse is refused here, with its reason. Pure.

Only the limits that an app can run into; a field that Slack would ignore is let through.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from channels.slack.double.errors import ApiError
from channels.slack.double.records import Payload

MAX_BLOCKS = 50
MAX_VIEW_BLOCKS = 100
MARKDOWN_TEXT = 12_000
_TEXTS = {"section": 3000, "header": 150}
_BLOCK_ID = 255
_ACTION_ID = 255
_BUTTON_TEXT = 75
_VALUE = 2000
_OPTION_VALUE = 150
_TITLE = 24
_PRIVATE_METADATA = 3000
_MAX_ELEMENTS = {"actions": 25, "context": 10}
_MAX_FIELDS = 10
_FIELD_TEXT = 2000
_MAX_OPTIONS = 100
_LABEL = 2000
_KINDS = {
    "actions",
    "alert",
    "card",
    "carousel",
    "context",
    "context_actions",
    "divider",
    "file",
    "header",
    "image",
    "input",
    "markdown",
    "plan",
    "rich_text",
    "section",
    "table",
    "task_card",
    "video",
}


class _Fault(Exception):
    """What is wrong, and where: Slack's `[ERROR] … [json-pointer:…]`."""

    def __init__(self, problem: str, pointer: str) -> None:
        super().__init__(f"[ERROR] {problem} [json-pointer:{pointer}]")


def _too_long(at_most: int, pointer: str) -> _Fault:
    return _Fault(f"must be less than {at_most + 1} characters", pointer)


def check_blocks(blocks: object, *, make_id: Callable[[], str]) -> list[Payload]:
    """Give a message's blocks with an id each, or refuse them as `invalid_blocks`."""
    try:
        checked = _checked(blocks, MAX_BLOCKS, "/blocks", make_id)
    except _Fault as fault:
        raise ApiError("invalid_blocks", str(fault)) from fault
    total = sum(len(block.get("text", "")) for block in checked if block["type"] == "markdown")
    if total > MARKDOWN_TEXT:
        raise ApiError("msg_blocks_too_long")
    return checked


def check_view(view: Payload, *, make_id: Callable[[], str]) -> list[Payload]:
    """Give a view's blocks with an id each, or refuse the view as `invalid_arguments`."""
    try:
        blocks = _checked(view.get("blocks"), MAX_VIEW_BLOCKS, "/view/blocks", make_id)
        _check_frame(view, blocks)
    except _Fault as fault:
        raise ApiError("invalid_arguments", str(fault)) from fault
    return blocks


def _check_frame(view: Payload, blocks: list[Payload]) -> None:
    if view.get("type") not in {"modal", "home"}:
        raise _Fault("must be one of: modal, home", "/view/type")
    if len(view.get("private_metadata", "")) > _PRIVATE_METADATA:
        raise _too_long(_PRIVATE_METADATA, "/view/private_metadata")
    if len(view.get("callback_id", "")) > _BLOCK_ID:
        raise _too_long(_BLOCK_ID, "/view/callback_id")
    if view["type"] == "home":
        return
    if "title" not in view:
        raise _Fault("missing required field: title", "/view")
    for name in ("title", "submit", "close"):
        if name in view and view[name] is not None:
            _text(view[name], _TITLE, f"/view/{name}", kinds={"plain_text"})
    if any(block["type"] == "input" for block in blocks) and not view.get("submit"):
        raise _Fault("missing required field: submit", "/view")


def _checked(
    blocks: object, at_most: int, pointer: str, make_id: Callable[[], str]
) -> list[Payload]:
    if not isinstance(blocks, list):
        raise _Fault("must be an array", pointer)
    if len(blocks) > at_most:
        raise _Fault(f"no more than {at_most} items allowed", pointer)
    checked: list[Payload] = []
    for index, block in enumerate(blocks):
        where = f"{pointer}/{index}"
        if not isinstance(block, dict) or block.get("type") not in _KINDS:
            raise _Fault("unsupported type", where)
        _check_block(block, where)
        checked.append({**copy.deepcopy(block), "block_id": block.get("block_id") or make_id()})
    _check_unique(checked, pointer)
    return checked


def _check_unique(blocks: list[Payload], pointer: str) -> None:
    ids = [block["block_id"] for block in blocks]
    for index, block_id in enumerate(ids):
        if len(block_id) > _BLOCK_ID:
            raise _too_long(_BLOCK_ID, f"{pointer}/{index}/block_id")
        if block_id in ids[:index]:
            raise _Fault(f"`block_id`: {block_id} already exists", f"{pointer}/{index}")
    for index, block in enumerate(blocks):
        seen: set[str] = set()  # within one block: two rows may well have the same button
        for element in elements(block):
            action_id = element.get("action_id")
            if action_id and action_id in seen:
                raise _Fault(f"`action_id` {action_id} already exists", f"{pointer}/{index}")
            seen.add(action_id or "")


def _check_block(block: Payload, where: str) -> None:
    match block["type"]:
        case "section":
            _check_section(block, where)
        case "header":
            _text(block.get("text"), _TEXTS["header"], f"{where}/text", kinds={"plain_text"})
        case "markdown":
            _check_markdown(block, where)
        case "actions" | "context":
            _check_group(block, where)
        case "input":
            _text(block.get("label"), _LABEL, f"{where}/label", kinds={"plain_text"})
            if not isinstance(block.get("element"), dict):
                raise _Fault("missing required field: element", where)
        case _:
            pass  # no limits of its own that an app would meet
    for element in elements(block):
        _check_element(element, where)


def _check_section(block: Payload, where: str) -> None:
    fields = block.get("fields")
    if "text" not in block and not fields:
        raise _Fault("missing required field: text or fields", where)
    if "text" in block:
        _text(block["text"], _TEXTS["section"], f"{where}/text")
    if fields and len(fields) > _MAX_FIELDS:
        raise _Fault(f"no more than {_MAX_FIELDS} items allowed", f"{where}/fields")
    for index, text in enumerate(fields or []):
        _text(text, _FIELD_TEXT, f"{where}/fields/{index}")


def _check_markdown(block: Payload, where: str) -> None:
    text = block.get("text")
    if not isinstance(text, str) or not text:
        raise _Fault("missing required field: text", where)
    if len(text) > MARKDOWN_TEXT:
        raise _too_long(MARKDOWN_TEXT, f"{where}/text")


def _check_group(block: Payload, where: str) -> None:
    inside = block.get("elements")
    at_most = _MAX_ELEMENTS[block["type"]]
    if not isinstance(inside, list) or not inside:
        raise _Fault("missing required field: elements", where)
    if len(inside) > at_most:
        raise _Fault(f"no more than {at_most} items allowed", f"{where}/elements")


def elements(block: Payload) -> Iterator[Payload]:
    """Give the interactive elements of a block, wherever its kind keeps them."""
    candidates: list[Any] = [block.get("element"), block.get("accessory")]
    if block.get("type") in {"actions", "context_actions", "card"}:
        candidates += [*(block.get("elements") or []), *(block.get("actions") or [])]
    for element in candidates:
        if isinstance(element, dict) and element.get("type") != "image":
            yield element


def _check_element(element: Payload, where: str) -> None:
    if len(element.get("action_id", "")) > _ACTION_ID:
        raise _too_long(_BLOCK_ID, f"{where}/action_id")
    if len(str(element.get("value", ""))) > _VALUE:
        raise _too_long(_VALUE, f"{where}/value")
    if element["type"] == "button":
        _text(element.get("text"), _BUTTON_TEXT, f"{where}/text", kinds={"plain_text"})
        if element.get("style") not in {None, "primary", "danger"}:
            raise _Fault("must be one of: primary, danger", f"{where}/style")
    _check_options(element, where)


def _check_options(element: Payload, where: str) -> None:
    options = element.get("options", [])
    if len(options) > _MAX_OPTIONS:
        raise _Fault(f"no more than {_MAX_OPTIONS} items allowed", f"{where}/options")
    for option in options:
        _text(option.get("text"), _BUTTON_TEXT, f"{where}/options/text")
        if len(option.get("value", "")) > _OPTION_VALUE:
            raise _too_long(_OPTION_VALUE, f"{where}/options/value")


def _text(value: object, at_most: int, where: str, *, kinds: set[str] | None = None) -> None:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise _Fault("missing required field: text", where)
    if value.get("type") not in (kinds or {"plain_text", "mrkdwn"}):
        raise _Fault("invalid text object type", where)
    if not value["text"]:
        raise _Fault("must be more than 0 characters", f"{where}/text")
    if len(value["text"]) > at_most:
        raise _too_long(at_most, f"{where}/text")
