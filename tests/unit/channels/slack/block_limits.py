"""Slack's rules for blocks, from its documents: what `problems` names, Slack would refuse.

Written apart from the code under test, numbers included, so that neither can excuse the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

Surface = Literal["message", "modal", "home"]

_TEXTS = {"plain_text", "mrkdwn"}
_IN_MESSAGES = {"section", "markdown", "actions", "context", "divider", "header"}
_IN_VIEWS = (_IN_MESSAGES - {"markdown"}) | {"input"}


def message_problems(blocks: list[dict[str, Any]], text: str) -> list[str]:
    """Name what Slack would refuse in a message."""
    found = list(_blocks(blocks, "message", 50))
    markdown = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    return [*found, *_within("all markdown", markdown, 0, 12_000), *_size(text, 40_000)]


def view_problems(view: dict[str, Any]) -> list[str]:
    """Name what Slack would refuse in a form or on the Home page."""
    if view["type"] == "home":
        return list(_blocks(view["blocks"], "home", 100))
    found = list(_blocks(view["blocks"], "modal", 100))
    has_inputs = any(block["type"] == "input" for block in view["blocks"])
    if has_inputs and "submit" not in view:
        found.append("a form with inputs has no submit")
    for key in ("title", "submit", "close"):
        found += _text(view.get(key, {"type": "plain_text", "text": "x"}), 24, kinds={"plain_text"})
    found += _size(view["callback_id"], 255)
    return [*found, *_size(view["private_metadata"], 3_000)]


def called(value: object) -> set[str]:
    """Give every `<!…>`, `<@…>` and `<#…>` that Slack would find anywhere in a payload."""
    if isinstance(value, dict):
        raw = {"initial_value", "value", "private_metadata"}  # Slack finds nothing in these
        raw |= {"text"} if value.get("type") == "plain_text" else set()
        items = [item for key, item in value.items() if key not in raw]
        return set().union(*map(called, items)) if items else set()
    if isinstance(value, list):
        return set().union(*map(called, value)) if value else set()
    return set(_CALL.findall(value)) if isinstance(value, str) else set()


_CALL = re.compile(
    r"<(?:!\s*(?:channel|here|everyone|group|subteam|date)|[@#]\s*[UWBCDGS][A-Z0-9])[^>]*>?",
    re.IGNORECASE,
)


def _blocks(blocks: list[dict[str, Any]], surface: Surface, most: int) -> Iterator[str]:
    yield from _within("blocks", len(blocks), 1, most)
    known = _IN_MESSAGES if surface == "message" else _IN_VIEWS
    for block in blocks:
        if block["type"] not in known:
            yield f"{block['type']} is not for a {surface}"
        else:
            yield from _KINDS[block["type"]](block)
    named = Counter(block["block_id"] for block in blocks if "block_id" in block)
    yield from (f"block_id {name} twice" for name, count in named.items() if count > 1)


def _section(block: dict[str, Any]) -> Iterator[str]:
    yield from _text(block["text"], 3_000)


def _markdown(block: dict[str, Any]) -> Iterator[str]:
    yield from _size(block["text"], 12_000)


def _header(block: dict[str, Any]) -> Iterator[str]:
    yield from _text(block["text"], 150, kinds={"plain_text"})


def _context(block: dict[str, Any]) -> Iterator[str]:
    yield from _within("context", len(block["elements"]), 1, 10)
    for element in block["elements"]:
        yield from _text(element, 3_000)


def _divider(_block: dict[str, Any]) -> Iterator[str]:
    return iter(())


def _actions(block: dict[str, Any]) -> Iterator[str]:
    yield from _within("actions", len(block["elements"]), 1, 25)
    ids = [element["action_id"] for element in block["elements"]]
    if len(ids) != len(set(ids)):
        yield "an action_id stands twice in one block"
    for element in block["elements"]:
        yield from _element(element, {"button", "static_select"})


def _input(block: dict[str, Any]) -> Iterator[str]:
    yield from _text(block["label"], 2_000, kinds={"plain_text"})
    if "hint" in block:
        yield from _text(block["hint"], 2_000, kinds={"plain_text"})
    yield from _element(block["element"], set(_ELEMENTS) - {"button"})


_KINDS: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "section": _section,
    "markdown": _markdown,
    "header": _header,
    "context": _context,
    "divider": _divider,
    "actions": _actions,
    "input": _input,
}


def _element(element: dict[str, Any], kinds: set[str]) -> Iterator[str]:
    yield from _size(element["action_id"], 255)
    if element["type"] not in kinds:
        yield f"{element['type']} may not stand here"
    else:
        yield from _ELEMENTS[element["type"]](element)


def _button(element: dict[str, Any]) -> Iterator[str]:
    yield from _text(element["text"], 75, kinds={"plain_text"})
    yield from _size(element["value"], 2_000)
    if element.get("style", "primary") not in {"primary", "danger"}:
        yield "no such style"


def _menu(element: dict[str, Any]) -> Iterator[str]:
    groups = element.get("option_groups")
    if groups is not None:
        yield from _within("groups", len(groups), 1, 100)
    for group in groups or [element]:
        yield from _options(group["options"], 100)
        yield from _text(group.get("label", _FINE), 75, kinds={"plain_text"})
    given = [option for group in groups or [element] for option in group["options"]]
    initial = element.get("initial_options", [element.get("initial_option", given[0])])
    if not initial or any(option not in given for option in initial):
        yield "an initial option is none of the options"


_FINE = {"type": "plain_text", "text": "fine"}


def _radio(element: dict[str, Any]) -> Iterator[str]:
    yield from _options(element["options"], 10)


def _options(options: list[dict[str, Any]], most: int) -> Iterator[str]:
    yield from _within("options", len(options), 1, most)
    for option in options:
        yield from _text(option["text"], 75, kinds={"plain_text"})
        yield from _size(option["value"], 150)


def _text_input(element: dict[str, Any]) -> Iterator[str]:
    least, most = element.get("min_length", 0), element.get("max_length", 3_000)
    if not 0 <= least <= most <= 3_000:
        yield f"lengths {least} to {most}"
    if len(element.get("initial_value", "")) > most or element.get("initial_value") == "":
        yield "the initial value doesn't fit"


def _number_input(element: dict[str, Any]) -> Iterator[str]:
    for key in ("initial_value", "min_value", "max_value"):
        if not re.fullmatch(r"-?\d+(\.\d+)?", element.get(key, "0")):
            yield f"{key} is no number"


def _datepicker(element: dict[str, Any]) -> Iterator[str]:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", element.get("initial_date", "2026-01-01")):
        yield "no date"


_ELEMENTS: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "button": _button,
    "static_select": _menu,
    "multi_static_select": _menu,
    "radio_buttons": _radio,
    "plain_text_input": _text_input,
    "number_input": _number_input,
    "datepicker": _datepicker,
}


def _text(value: dict[str, Any], most: int, *, kinds: set[str] = _TEXTS) -> Iterator[str]:
    if value["type"] not in kinds:
        yield f"text of type {value['type']}"
    yield from _size(value["text"], most)


def _size(text: str, most: int) -> list[str]:
    try:
        text.encode()
    except UnicodeEncodeError:
        return ["half of a surrogate pair"]
    if not text.strip():
        return ["text of nothing"]
    return _within(f"text {text[:20]!r}", len(text), 1, most)


def _within(what: str, count: int, least: int, most: int) -> list[str]:
    return [] if least <= count <= most else [f"{what}: {count}, not {least} to {most}"]
