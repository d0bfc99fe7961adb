"""A checkpoint that was damaged or forged: a named error, or a thread that still behaves.

Texts from random stories are changed at random, as bytes and as JSON. Opening one either raises
a CheckpointError, or gives a thread whose commands and runs raise nothing but our own errors,
and which comes to rest. For a long run see `test_interleavings`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from agent_core import CheckpointError, thread_as_markdown
from tests.property.agents_at_random import Act, Story, acts, examples, stories
from tests.property.people import perform
from tests.property.stage import Stage
from tests.property.test_interleavings import on_stage

pytestmark = pytest.mark.timeout(900)  # making a failing example smaller takes its time

_DEEP = {f"{depth} deep": depth for depth in (50, 120, 300, 990, 5_000)}
_SCALARS = st.sampled_from(
    [None, True, 0, -1, 2**63, 1e300, "", "x", "\ud800", "\0", "3.0", "q_1", "own-1"]
)


def _objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(["n", "type", "prompt", "q_1"]), values, max_size=2)


_VALUES: st.SearchStrategy[Any] = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=2) | _objects(inner), max_leaves=4
)


@given(stories(most_acts=8), st.data())
@examples(100)
def test_a_checkpoint_with_changed_json_is_refused_or_behaves(
    story: Story, data: st.DataObject
) -> None:
    """Events dropped, doubled or moved; fields changed, dropped, taken from elsewhere."""
    events = json.loads(told(story))["events"]
    for _ in range(data.draw(st.integers(1, 3), label="changes")):
        if events:
            data.draw(st.sampled_from(_CHANGES), label="change")(data, events)
    spelled = data.draw(st.sampled_from([(",", ":"), (", ", ": ")]), label="spelled")
    text = _written(events, spelled)
    then = data.draw(st.lists(acts(), max_size=4), label="then")
    on_stage(story, lambda stage: behaves(stage, text, then))


@given(stories(most_acts=4), st.data())
@examples(60)
def test_a_checkpoint_with_changed_bytes_is_refused_or_behaves(
    story: Story, data: st.DataObject
) -> None:
    """Bits flipped, the end torn off, bytes put in."""
    text = bytearray(told(story).encode())
    for _ in range(data.draw(st.integers(1, 3), label="changes")):
        place = data.draw(st.integers(0, len(text) - 1), label="place")
        match data.draw(st.sampled_from(["flip", "tear", "insert", "digit"]), label="how"):
            case "flip":
                text[place] ^= 1 << data.draw(st.integers(0, 7))
            case "tear":
                del text[place + 1 :]
            case "insert":
                text[place:place] = data.draw(st.binary(max_size=3))
            case _:
                text[place] = ord("7")
    on_stage(story, lambda stage: behaves(stage, bytes(text), []))


def told(story: Story) -> str:
    """Tell a story, not always to its end, and give its checkpoint."""

    async def tell(stage: Stage) -> None:
        for act in (Act("release all"), *story.acts):
            await perform(stage, act)
        await stage.crash()

    return on_stage(story, tell).thread.checkpoint


def _written(events: list[Any], separators: tuple[str, str]) -> str:
    text = json.dumps({"parley": 1, "events": events}, separators=separators)
    for mark, depth in _DEEP.items():
        text = text.replace(json.dumps(mark), "[" * depth + "]" * depth)
    return text


async def behaves(stage: Stage, checkpoint: str | bytes, then: list[Act]) -> None:
    """Open it; whatever is then done with it, only our own errors come of that."""
    try:
        stage.open_forged(checkpoint)
    except CheckpointError as exc:
        note(f"refused: {exc!r}")
        return
    note(f"opened: {checkpoint!r}")
    for act in [Act("answer", how="yes"), *then, Act("release all"), Act("cancel")]:
        note(f"  {act!r}: {await perform(stage, act)}")
    await stage.let_all_go()
    thread_as_markdown(stage.thread.events)
    stage.thread.outcome()


# Changes to a checkpoint's JSON


def _drop(data: st.DataObject, events: list[Any]) -> None:
    del events[_place(data, events)]


def _double(data: st.DataObject, events: list[Any]) -> None:
    events.insert(_place(data, events), copy.deepcopy(events[_place(data, events)]))


def _move(data: st.DataObject, events: list[Any]) -> None:
    events.insert(_place(data, events), events.pop(_place(data, events)))


def _change_field(data: st.DataObject, events: list[Any]) -> None:
    owner, name = _some_field(data, events)
    owner[name] = copy.deepcopy(data.draw(_VALUES, label=f"new {name}"))


def _drop_field(data: st.DataObject, events: list[Any]) -> None:
    owner, name = _some_field(data, events)
    del owner[name]


def _take_from_elsewhere(data: st.DataObject, events: list[Any]) -> None:
    owner, name = _some_field(data, events)
    other, theirs = _some_field(data, events)
    owner[name] = copy.deepcopy(other[theirs])


def _take_namesake(data: st.DataObject, events: list[Any]) -> None:
    """Give a field what the same field holds elsewhere: it fits, and lies."""
    owner, name = _some_field(data, events)
    alike = [other[name] for other, theirs in _fields(events) if theirs == name]
    owner[name] = copy.deepcopy(data.draw(st.sampled_from(alike), label=f"another {name}"))


def _add_field(data: st.DataObject, events: list[Any]) -> None:
    owners = [owner for owner, _ in _fields(events) if isinstance(owner, dict)]
    owner = data.draw(st.sampled_from(owners or [{}]), label="owner")
    name = data.draw(st.sampled_from(_NAMES), label="added")
    owner[name] = copy.deepcopy(data.draw(_WORDS | _VALUES, label="with"))


def _nest(data: st.DataObject, events: list[Any]) -> None:
    """Leave a mark, because Python's own writer of JSON can't go so deep."""
    owner, name = _some_field(data, events)
    owner[name] = data.draw(st.sampled_from([*_DEEP]), label="depth")


_CHANGES: list[Callable[[st.DataObject, list[Any]], None]] = [
    _drop,
    _double,
    _move,
    _change_field,
    _drop_field,
    _take_from_elsewhere,
    _take_namesake,
    _take_namesake,
    _add_field,
    _nest,
]
_NAMES = [
    *("seen", "attempt", "compensable", "wait", "purpose", "kind", "resume_to", "handler"),
    *("replaces", "forked_at", "forked_from", "digest", "waiting", "schema", "options", "call"),
    *("arguments", "tool", "malformed", "signature", "usage", "through", "settled", "value"),
]
_WORDS = st.sampled_from(
    [
        *("approval", "ask", "outcome", "limit", "failures", "text", "choice", "form", "event"),
        *("next", "self", "arrived", "3.0", "3.1", "q_1", "q_2", True, False, 1, 3),
        *({"approved": True}, {"expires_after": 1}, {"type": 7}, {"$ref": "#/x"}),
    ]
)


def _place(data: st.DataObject, events: list[Any]) -> int:
    return data.draw(st.integers(0, max(0, len(events) - 1)), label="place")


def _some_field(data: st.DataObject, events: list[Any]) -> tuple[Any, Any]:
    fields = _fields(events)
    return fields[data.draw(st.integers(0, len(fields) - 1), label="field")]


def _fields(value: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 (JSON)
    """Every place in a JSON value: what holds it, and its name or index there."""
    if not isinstance(value, (dict, list)):
        return []
    names = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [place for name in names for place in [(value, name), *_fields(value[name])]]
