"""Forms behind a link: any schema that a model writes has a page, and any post an answer."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import urlencode

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.json_values import Json, JsonObject, plain
from channels.email.link_page import question_page
from channels.posted_answers import Answer, Mistakes, read_posted
from tests.unit.channels.email.cards import FORM

_TEXT = st.text(max_size=12)
_JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_KINDS = ["string", "integer", "number", "boolean", "array", "object", "null", "odd"]
_PART: st.SearchStrategy[Json] = (
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(_KINDS) | st.lists(st.sampled_from(_KINDS), max_size=3) | _JSON,
            "enum": st.lists(_JSON, max_size=4) | _JSON,
            "title": _TEXT | _JSON,
            "description": _TEXT | _JSON,
            "default": _JSON,
            "format": st.sampled_from(["date", "multiline", "x"]),
            "items": st.fixed_dictionaries({"enum": st.lists(_JSON, max_size=3)}) | _JSON,
            "$ref": st.sampled_from(["#/$defs/a", "https://evil.example/x", "#"]),
            "anyOf": st.lists(st.just({"type": "null"}) | _JSON, max_size=3),
            "maxLength": st.integers(-5, 500) | _JSON,
        },
    )
    | _JSON
)
_SCHEMAS = st.fixed_dictionaries(
    {"properties": st.dictionaries(_TEXT, _PART, max_size=4) | _JSON},
    optional={"required": st.lists(_TEXT, max_size=3) | _JSON, "$defs": _JSON},
)
_POSTED = st.dictionaries(
    st.sampled_from([f"field-{at}" for at in range(5)]),
    st.lists(_TEXT | st.sampled_from(["0", "1", "9" * 30, "2026-01-01", "{", "[1]"]), max_size=3),
    max_size=5,
)


class _Inputs(HTMLParser):
    """Finds what a browser would post, if somebody pressed the button at once."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {}
        self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        is_off = given.get("type") in {"radio", "checkbox"} and "checked" not in given
        if tag == "input" and name and not is_off:
            self.found.setdefault(name, []).append(value)
        if tag == "textarea":
            self._area = name

    def handle_data(self, data: str) -> None:
        if self._area:
            self.found.setdefault(self._area, []).append(data.removeprefix("\n"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""


@settings(max_examples=300)
@given(schema=_SCHEMAS, posted=_POSTED)
def test_any_schema_has_a_page_and_any_post_an_answer(
    schema: JsonObject, posted: dict[str, list[str]]
) -> None:
    """Nothing that a model or a stranger writes is an error of ours."""
    card = replace(FORM, schema=schema)
    shown = question_page(card, "otto@example.org").body
    read = read_posted(card, posted)
    again = question_page(
        card,
        "otto@example.org",
        posted=posted,
        mistakes=read if isinstance(read, Mistakes) else None,
    )

    assert shown.endswith(b"</html>\n")
    assert again.status == 200
    if isinstance(read, Answer):
        plain(read.value)


def test_defaults_come_back_as_they_are() -> None:
    """What the form begins with is an answer, in the types of the schema."""
    defaults: JsonObject = {
        "street": "High Street\n<b>", "floor": 3, "express": False, "size": 3,
        "extras": ["card"], "day": "2026-11-16", "more": {"a": [1, "ü"]},
    }  # fmt: skip
    assert FORM.schema is not None
    properties = {
        name: {**part, "default": defaults[name]}
        for name, part in FORM.schema["properties"].items()
    }
    card = replace(FORM, schema={**FORM.schema, "properties": properties})
    inputs = _Inputs()
    inputs.feed(question_page(card, "otto@example.org").body.decode())
    read = read_posted(card, inputs.found)

    assert isinstance(read, Answer), read
    assert read.value == defaults
    assert urlencode(inputs.found, doseq=True)
