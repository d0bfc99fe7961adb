"""Templates: what they may say, and that none takes the server down."""

from __future__ import annotations

import time
from typing import Any

import pytest

from channels.webhook.templates import (
    MOST_SOURCE,
    BadTemplate,
    Unmapped,
    compile_condition,
    compile_template,
    holds,
)

LIST = [{"n": number, "ok": number % 2 == 0} for number in range(3000)]
PAYLOAD: Any = {
    "name": "shop",
    "n": 3,
    "list": LIST,
    "run": {"name": "CI <&>", "id": 7},
    "big": "x" * 500_000,
}


def render(source: str, payload: Any = PAYLOAD) -> str:  # noqa: ANN401 (any JSON)
    """Compile and render at once."""
    return compile_template(source).render({"payload": payload, "headers": {"x-event": "push"}})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("no holes, 100 %", "no holes, 100 %"),
        ("{{ payload.run.name }} failed", "CI <&> failed"),
        ("{{ headers['x-event'] }}", "push"),
        ("{{ payload.get('gone', 'none') }}", "none"),
        ("{{ payload.gone|default('none') }}", "none"),
        ("{% if payload.n > 2 %}many{% else %}few{% endif %}", "many"),
        ("{% for one in payload.list[:2] %}{{ loop.index }}:{{ one.n }} {% endfor %}", "1:0 2:1 "),
        ("{{ payload.list[:4]|selectattr('ok')|map(attribute='n')|join(', ') }}", "0, 2"),
        ("{{ payload.list[:3]|join('+', attribute='n') }}", "0+1+2"),
        ("{{ payload.list[:3]|sort(attribute='n')|map(attribute='n')|max }}", "2"),
        ("{{ payload.list[:2]|list|length }}", "2"),
        ("{{ [3, 1, 3]|unique|sort|list }}", "[1, 3]"),
        ("{{ [3, 1]|reject('equalto', 3)|first + [3, 1]|min }}", "2"),
        ("{{ payload.run|tojson }}", '{"name":"CI <&>","id":7}'),
        ("{{ payload.name.upper() ~ '-' ~ payload.n }}", "SHOP-3"),
        ("{{ payload.name|replace('sh', 'h') }}", "hop"),
        ("{% set run = payload.run %}{{ run.id }}", "7"),
        ("{% for k, v in payload.run.items() %}{{ k }}={{ v }};{% endfor %}", "name=CI <&>;id=7;"),
        ("{{ payload.get('run').get('gone', payload.run.id) }}", "7"),
        ("{% if payload.n %}{% set x = payload.n %}{{ x }}{% endif %}", "3"),
    ],
)
def test_what_is_offered_works(source: str, expected: str) -> None:
    """Values, conditions, loops, the usual filters; nothing is escaped as for a page."""
    assert render(source) == expected


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("{{ 'a' * 200000000 }}", "Mul is not offered"),
        ("{{ 9 ** 9 ** 9 }}", "Pow is not offered"),
        ("{{ '%1000000000d' % 1 }}", "Mod is not offered"),
        ("{{ range(10) }}", r"calling range\(\) is not offered"),
        ("{{ payload.name.ljust(1000000000) }}", r"calling ljust\(\) is not offered"),
        ("{{ payload.name.format() }}", r"calling format\(\) is not offered"),
        ("{{ payload.name|center(1000000000) }}", "No filter named 'center'"),
        ("{{ lipsum() }}", r"calling lipsum\(\) is not offered"),
        ("{% macro m() %}{% endmacro %}", "Macro is not offered"),
        ("{% include 'passwd' %}", "Include is not offered"),
        ("{% set a = payload.big ~ payload.big %}", "adding within set is not offered"),
        ("{% for a in payload recursive %}{% endfor %}", "a recursive loop is not offered"),
        ("{{ self }}", "self is not offered"),
        ("{{ payload|counted }}", "the filter counted is not offered"),
        ("{{ paylod.name }}", "there is no paylod here"),
        ("{{ loop.index }}", "there is no loop here"),
        ("{{ payload.", "unexpected|expected"),
        ("{% if payload %}", "endif|end of template"),
        ("{{ payload|nofilter }}", "No filter named 'nofilter'"),
        ("{{ " + "(" * 500 + "1" + ")" * 500 + " }}", "nested too deeply"),
        ("{{ payload }}" + "x" * MOST_SOURCE, "may have 20,000 characters"),
    ],
)
def test_what_is_not_offered_is_told_when_it_is_compiled(source: str, told: str) -> None:
    """Before any request; and not even compiling it takes long."""
    began = time.process_time()

    with pytest.raises(BadTemplate, match=told):
        compile_template(source)

    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("{{ payload.gone }}", "no attribute 'gone'"),
        ("{{ headers['x-gone'] }}", "x-gone"),
        ("{{ payload.n + payload.name }}", "unsupported operand"),
        ("{{ payload.__class__ }}", "no attribute '__class__'"),
        ("{{ payload.name.__class__ }}", "unsafe"),
        ("{{ payload.items }}", "no attribute 'items'"),
        ("{{ payload.name.startswith.__self__ }}", "unsafe"),
        (
            "{% for a in payload.list %}{% for b in payload.list %}{% endfor %}{% endfor %}",
            "more than 10,000 steps",
        ),
        ("{% for a in payload.list %}{{ payload.big }}{% endfor %}", "more than 100,000 char"),
        ("{{ payload.big }}", "more than 100,000 characters"),
        ("{{ payload.big|sort|list }}", "more than 10,000 steps"),
        ("{{ [payload.big]|map('sort')|map('list')|list }}", "more than 10,000 steps"),
        ("{{ payload.list|join(payload.big) }}", "join makes more"),
        ("{{ payload.big|replace('x', payload.big) }}", "replace makes more"),
        ("{{ payload.name|replace('', payload.big) }}", "replace makes more"),
    ],
)
def test_rendering_that_fails_or_grows_is_refused_in_good_time(source: str, told: str) -> None:
    """Whatever the payload: an error of ours with words, and well under a second."""
    template = compile_template(source)
    began = time.process_time()

    with pytest.raises(Unmapped, match=told):
        template.render({"payload": PAYLOAD, "headers": {}})

    assert time.process_time() - began < 1


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_text_that_no_database_stores_is_refused(text: str) -> None:
    """A clear refusal, not a failing commit."""
    with pytest.raises(Unmapped, match=r"NUL|surrogate"):
        render("{{ payload.name }}", {"name": text})


def test_keys_of_a_payload_come_before_the_methods_of_python() -> None:
    """An order has items, and a sender may call a key `get`."""
    order = {"items": [{"count": 2}], "get": "x", "keys": 3}

    assert render("{{ payload.items[0].count }}{{ payload.keys }}", order) == "23"
    assert render("{{ payload.get('keys') }}{{ payload.get }}", order) == "3x"


def test_payload_is_never_a_template() -> None:
    """What a sender writes stays what it is."""
    assert render("{{ payload.name }}", {"name": "{{ payload }}"}) == "{{ payload }}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("payload.n == 3", True),
        ("payload.n == 4", False),
        ("payload.n in [1, 3] and not payload.gone|default(false)", True),
        ("payload.name\nor false", True),
        ("{{ payload.n == 3 }}", True),
        ("{{ payload.n == 4 }}", False),
        ("{% if payload.n %}yes{% endif %}", True),
        ("{{ '' }}", False),
    ],
)
def test_condition_is_an_expression_or_a_template_that_says_something(
    source: str,
    expected: bool,  # noqa: FBT001 (what is expected)
) -> None:
    """`False`, `None`, `0` and nothing are no."""
    condition = compile_condition(source)

    assert holds(condition, {"payload": PAYLOAD, "headers": {}}) is expected
