"""Any JSON, however odd, becomes a message, is ignored, or is refused in words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.json_values import plain, plain_object
from channels.webhook.declaration import Declaration, Source, make_source
from channels.webhook.mapping import Happened, Mapped, map_payload
from channels.webhook.payloads import Malformed, read_payload
from channels.webhook.presets import PRESETS
from channels.webhook.templates import Unmapped
from tests.unit.channels.webhook.samples import SAMPLES, body, headers, preset_of

SECRET = b"a:b"
SOURCES = {
    name: make_source(Declaration(name="ci", secrets=(SECRET,), preset=name, agent="a"))
    for name in PRESETS
}
WHOLE = make_source(
    Declaration(name="cd", secrets=(SECRET,), scheme="bearer", event_key="{{ payload }}")
)
PART = make_source(
    Declaration(
        name="cd",
        secrets=(SECRET,),
        scheme="bearer",
        event_key="{{ payload.id }}",
        event_value="{'state': payload.state, 'all': payload}",
    )
)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=())),
    st.sampled_from(["{{ payload }}", "\x00", "\ud800", "x" * 100_001, "🧵" * 50, "\r\n"]),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)
NAMES = st.sampled_from(["id", "state", "items", "\x00", "🧵"])
PLACES = st.lists(st.integers(min_value=0), min_size=1, max_size=6)


def spoil(value: Any, path: list[int], odd: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Put something odd (or nothing) somewhere into a payload."""
    if not path or not isinstance(value, dict | list) or not value:
        return odd
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    value[key] = spoil(value[key], path[1:], odd)
    return value


@settings(max_examples=400, deadline=None)
@given(sample=st.sampled_from(SAMPLES), path=PLACES, odd=ODD)
def test_spoilt_sample_is_mapped_ignored_or_refused(sample: str, path: list[int], odd: Any) -> None:  # noqa: ANN401 (any JSON)
    """Never anything else; and what is mapped can be stored."""
    sent = json.dumps(spoil(json.loads(body(sample)), path, odd)).encode()
    try:
        payload = read_payload({}, sent)
        mapped = map_payload(SOURCES[preset_of(sample)], payload, headers(sample))
    except (Malformed, Unmapped) as exc:
        assert str(exc)  # noqa: PT017 (either way is good, if it has words)
        return

    if isinstance(mapped, Mapped):
        assert mapped.text.strip()
        assert len(mapped.text) <= 100_000
        plain([mapped.text, mapped.thread_key, mapped.agent, mapped.requester])


@settings(max_examples=300, deadline=None)
@given(payload=st.recursive(ODD, lambda inner: st.dictionaries(NAMES, inner), max_leaves=8))
@pytest.mark.parametrize("source", [WHOLE, PART], ids=["whole", "part"])
def test_any_json_is_an_event_ignored_or_refused(source: Source, payload: Any) -> None:  # noqa: ANN401 (any JSON)
    """An event's key is one line, and its value an object that can be stored."""
    try:
        read = read_payload({}, json.dumps(payload).encode())
        mapped = map_payload(source, read, {})
    except (Malformed, Unmapped) as exc:
        assert str(exc)  # noqa: PT017 (as above)
        return

    if mapped is not None:
        assert isinstance(mapped, Happened)
        assert mapped.key == " ".join(mapped.key.split())
        assert 0 < len(mapped.key) <= 300
        plain_object({"key": mapped.key, "value": mapped.value})


@settings(max_examples=300, deadline=None)
@given(
    sent=st.binary(max_size=200), kind=st.sampled_from(["", "application/x-www-form-urlencoded"])
)
def test_any_bytes_are_json_or_malformed(sent: bytes, kind: str) -> None:
    """No other exception leaves the parser."""
    try:
        read_payload({"content-type": kind}, sent)
    except Malformed as exc:
        assert str(exc)  # noqa: PT017 (as above)
