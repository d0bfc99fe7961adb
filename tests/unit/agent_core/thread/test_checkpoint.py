"""Checkpoints: what is written comes back; whatever else is read gives one named error."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_core.errors import CheckpointError, CheckpointMalformed, CheckpointTooNew, NotJson
from agent_core.thread.checkpoint import Log
from agent_core.thread.events import SCHEMA_VERSION, Event
from agent_core.thread.fold import fold
from tests.unit.agent_core.thread.logs import CHOSEN, SPOKEN, log, said
from tests.unit.agent_core.thread.renderings import SAMPLES, renderings
from tests.unit.agent_core.thread.stories import STORIES
from tests.unit.agent_core.thread.walks import histories


def written(events: list[Event]) -> str:
    """Write a checkpoint."""
    checkpoint = Log()
    checkpoint.extend(events)
    return checkpoint.text()


def with_events(*events: object, **header: object) -> bytes:
    """Forge a checkpoint."""
    return json.dumps({"parley": 1, **header, "events": events}).encode()


def event(type_: str, **fields: object) -> dict[str, Any]:
    """Forge an event."""
    return {"type": type_, "at": 1, **fields}


LAUNCH = event("ThreadLaunched", thread="t1", agent="support")
MESSAGE = event("MessageReceived", text="hello")
VALID = written(STORIES["several"]).encode()
SMALL = written(log(*CHOSEN)).encode()


# What is written comes back


@pytest.mark.parametrize("events", STORIES.values(), ids=STORIES)
def test_a_checkpoint_round_trips_at_every_event(events: list[Event]) -> None:
    """Events, state and text."""
    for length in range(1, len(events) + 1):
        text = written(events[:length])
        read, state = Log.read(text)

        assert read.events == events[:length]
        assert state == fold(events[:length])
        assert read.text() == text


@settings(max_examples=40)
@given(histories())
def test_any_history_round_trips(events: list[Event]) -> None:
    """As text and as bytes."""
    text = written(events)

    assert Log.read(text)[0].events == events
    assert Log.read(text.encode())[0].text() == text


@pytest.mark.parametrize("events", STORIES.values(), ids=STORIES)
def test_a_log_that_goes_on_writes_the_same_text(events: list[Event]) -> None:
    """Read, extended, written: as if it had never been away."""
    for cut in range(1, len(events)):
        read, _ = Log.read(written(events[:cut]))
        read.text()
        read.extend(events[cut:])

        assert read.text() == written(events)


def test_a_log_written_in_another_spelling_is_taken_over() -> None:
    """Spaces and the order of keys are nobody's fault; from here on it is spelled our way."""
    theirs = json.dumps({"events": [LAUNCH, MESSAGE], "parley": 1}, indent=2)
    read, _ = Log.read(theirs)
    read.extend(log(said("more")))

    again, state = Log.read(read.text())
    assert (len(again.events), state.seq) == (3, 3)
    assert read.text().startswith('{"parley":1,"events":[{"type":"ThreadLaunched"')


@pytest.mark.parametrize("spelling", ["x ", " x", "x\n", "\nx"])
def test_white_space_around_a_checkpoint_is_dropped(spelling: str) -> None:
    """An editor adds a line's end; nothing of the log is cut off with it."""
    read, _ = Log.read(spelling.replace("x", SMALL.decode()))

    assert read.text() == SMALL.decode()


def test_fields_at_their_defaults_are_not_written() -> None:
    """A checkpoint stays near the size of its messages."""
    assert written(log(said("hello", sender=""))) == (
        '{"parley":1,"events":[{"type":"MessageReceived","text":"hello","at":1791000000000}]}'
    )


def test_writing_is_by_the_event_and_an_empty_log_can_be_written() -> None:
    """It just can't be resumed from."""
    assert Log().text() == '{"parley":1,"events":[]}'


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"], ids=["NUL", "half a surrogate pair"])
def test_text_that_no_database_stores_is_refused_before_it_is_in_the_log(text: str) -> None:
    """With its place; nothing of what came with it is added either."""
    checkpoint = Log()

    with pytest.raises(NotJson, match=r"^MessageReceived\.text is not JSON"):
        checkpoint.extend(log(said("fine"), said(text)))

    assert checkpoint.events == []
    assert checkpoint.text() == '{"parley":1,"events":[]}'


@pytest.mark.parametrize("text", ["\\u0000", "\\", "\\\\u0000"])
def test_text_that_only_looks_like_a_nul_is_stored(text: str) -> None:
    """A person may well write about escapes."""
    read, _ = Log.read(written(log(*SPOKEN, said(text))))

    assert read.events == log(*SPOKEN, said(text))


# The samples of schema 1


def test_the_samples_are_of_this_schema_and_have_every_event_type() -> None:
    """A new event type, or a new schema, adds a sample; the old ones stay."""
    types = {one["type"] for path in SAMPLES for one in json.loads(path.read_bytes())["events"]}

    assert types == {type(one).__name__ for story in STORIES.values() for one in story}
    assert {json.loads(path.read_bytes())["parley"] for path in SAMPLES} == {SCHEMA_VERSION}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_of_an_earlier_day_still_loads_and_reads_the_same(path: Path) -> None:
    """A thread that has waited for a year resumes: same story, same messages to the model."""
    for rendering, text in renderings(path).items():
        assert rendering.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_of_an_earlier_day_is_written_as_it_was(path: Path) -> None:
    """Byte by byte, also when every event is written anew."""
    read, _ = Log.read(path.read_bytes())

    assert read.text().encode() == path.read_bytes()
    assert written(read.events).encode() == path.read_bytes()


# What is not a checkpoint


def refuse(text: object) -> CheckpointError:
    """Read what must be refused; any other error than ours fails the test."""
    with pytest.raises(CheckpointError) as refusal:
        Log.read(text)  # type: ignore[arg-type]  # that is the point
    return refusal.value


def test_a_checkpoint_truncated_anywhere_is_malformed() -> None:
    """At every byte."""
    for length in range(len(SMALL)):
        assert isinstance(refuse(SMALL[:length]), CheckpointMalformed)


@pytest.mark.parametrize(
    "text", [None, 1, 1.5, True, [], {}, ["x"], bytearray(SMALL), memoryview(SMALL), object()]
)
def test_what_is_no_text_is_malformed(text: object) -> None:
    """And is named by its type."""
    assert f"not a {type(text).__name__}" in str(refuse(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\0",
        "null",
        "[]",
        "{}",
        "0",
        '"parley"',
        "not json",
        '{"parley":1}',
        '{"events":[]}',
        '{"parley":1,"events":[]}',
        '{"parley":1,"events":null}',
        '{"parley":1,"events":{}}',
        '{"parley":1,"events":[null]}',
        '{"parley":1,"events":[[]]}',
        '{"parley":1,"events":[{}]}',
        SMALL.decode() + "x",
        SMALL.decode() * 2,
        "\ufeff" + SMALL.decode(),
        SMALL.decode().replace("refund order", "\ud800"),
        SMALL.decode().replace("refund order", "\\ud800"),
        SMALL.decode().replace("refund order", "\0"),
        SMALL.decode().replace("1791000000000", "NaN"),
        SMALL.decode().replace("1791000000000", "Infinity"),
        SMALL.decode().replace("1791000000000", "1e999"),
        SMALL.decode().replace("1791000000000", "9" * 5000),
        SMALL.decode().replace('"123"', "NaN"),
        SMALL.decode().replace('"123"', "1e999"),
        "[" * 100_000,
        '{"parley":' * 100_000,
        '{"parley":1,"events":' + "[" * 100_000,
        SMALL.decode().replace('"123"', "[" * 100_000 + "]" * 100_000),
        SMALL.decode().replace('"123"', '{"a":' * 100_000 + "1" + "}" * 100_000),
    ],
    ids=lambda text: repr(text[:40]),
)
def test_what_is_no_checkpoint_is_malformed(text: str) -> None:
    """Not JSON, not ours, or a bomb: one named error."""
    assert isinstance(refuse(text), CheckpointMalformed)
    if "\ud800" not in text:
        assert isinstance(refuse(text.encode()), CheckpointMalformed)


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xfe",
        SMALL.replace(b"refund order", b"\xff"),
        SMALL.replace(b'"order"', b'"\xc3"'),
        SMALL.replace(b'"123"', b'"\xed\xa0\x80"'),
        SMALL.replace(b"MessageReceived", b"Message\xff"),
        SMALL.replace(b'"parley"', b'"parl\xffy"'),
        SMALL.decode().encode("utf-16"),
        SMALL.decode().encode("utf-32"),
    ],
    ids=lambda raw: repr(raw[:40]),
)
def test_what_is_not_utf_8_is_malformed(raw: bytes) -> None:
    """Also when only a word in it is not."""
    assert isinstance(refuse(raw), CheckpointMalformed)


@pytest.mark.parametrize("spelling", [SMALL, SMALL + b" "], ids=["ours", "another"])
@pytest.mark.parametrize("leaf", [b"", b'"\\u0000"'], ids=["empty", "NUL"])
def test_nesting_of_any_depth_loads_or_is_refused(spelling: bytes, leaf: bytes) -> None:
    """Also just at the depth where some reader's stack ends."""
    for depth in (*range(50, 900, 50), *range(900, 1000)):
        text = spelling.replace(b'"123"', b"[" * depth + leaf + b"]" * depth)
        with suppress(CheckpointError):
            Log.read(text)


@pytest.mark.parametrize("spelling", [SMALL, SMALL + b" "], ids=["ours", "another"])
def test_a_nul_that_was_smuggled_in_is_malformed(spelling: bytes) -> None:
    """No log of ours has one, and no database would take it; in whatever spelling it comes."""
    refusal = refuse(spelling.replace(b"refund order", b"\\u0000"))

    assert isinstance(refusal, CheckpointMalformed)


@pytest.mark.parametrize(
    "forged",
    [
        with_events(LAUNCH, event("SomethingElse")),
        with_events(LAUNCH, {"at": 1, "text": "x"}),
        with_events(LAUNCH, {**MESSAGE, "type": 1}),
        with_events(LAUNCH, {**MESSAGE, "type": None}),
        with_events(LAUNCH, {**MESSAGE, "extra": 1}),
        with_events(LAUNCH, {**MESSAGE, "at": "1"}),
        with_events(LAUNCH, {**MESSAGE, "at": 1.5}),
        with_events(LAUNCH, {**MESSAGE, "at": None}),
        with_events(LAUNCH, {**MESSAGE, "text": 1}),
        with_events(LAUNCH, {"type": "MessageReceived", "text": "x"}),
        with_events({**LAUNCH, "metadata": []}),
        with_events({**LAUNCH, "thread": 7}),
        with_events(LAUNCH, event("ModelReplied", calls=[{"tool": "x"}])),
        with_events(LAUNCH, event("ModelReplied", calls=[{"tool": "x", "arguments": []}])),
        with_events(LAUNCH, event("ModelReplied", calls=[{"tool": "x", "arguments": {}, "z": 1}])),
        with_events(LAUNCH, event("ModelReplied", usage={"cost": "much"})),
        with_events(LAUNCH, event("ToolFailed", call="3.0", reason="bad luck")),
        with_events(LAUNCH, event("LimitReached", limit="x", then="explode")),
        with_events(
            LAUNCH, event("QuestionAsked", question={"id": "q", "kind": "x", "prompt": ""})
        ),
        with_events(LAUNCH, event("QuestionAsked", question={"id": "q", "kind": "text"})),
        with_events(
            LAUNCH,
            event(
                "QuestionAsked",
                question={
                    "id": "q",
                    "kind": "text",
                    "prompt": "?",
                    "waiting": {"remind_after": 0},
                },
            ),
        ),
        with_events(LAUNCH, extra=1),
        with_events(LAUNCH, parley="1"),
        with_events(LAUNCH, parley=None),
        with_events(LAUNCH, parley=True),
        with_events(LAUNCH, parley=1.5),
    ],
)
def test_wrong_types_and_unknown_fields_are_malformed(forged: bytes) -> None:
    """The message says where."""
    assert str(refuse(forged)).startswith("not a checkpoint: ")


_TEXT_QUESTION = {"id": "q1", "kind": "text", "prompt": "?"}
_CHOICE = event("ModelReplied", calls=[{"tool": "x", "arguments": {}}])


@pytest.mark.parametrize(
    "forged",
    [
        with_events(MESSAGE),
        with_events(LAUNCH, LAUNCH),
        with_events(LAUNCH, event("ThreadResumed")),
        with_events(LAUNCH, event("ToolReturned", call="3.0")),
        with_events(LAUNCH, event("QuestionAnswered", question="q1", value=1)),
        with_events(
            LAUNCH,
            event("QuestionAsked", question=_TEXT_QUESTION),
            event("QuestionAsked", question=_TEXT_QUESTION),
        ),
        with_events(LAUNCH, _CHOICE, event("ToolReturned", call="2.0")),
        with_events(LAUNCH, _CHOICE, event("ContextCompacted", summary="", through=2)),
        with_events(LAUNCH, event("ThreadCancelled"), event("CompensationRan", call="2.0")),
    ],
)
def test_a_history_that_could_not_have_happened_is_malformed(forged: bytes) -> None:
    """A tool that returned without a start, a question asked twice, an undoing of nothing."""
    assert str(refuse(forged)).startswith("this history could not have happened: ")


@pytest.mark.parametrize("version", [2, 3, 99, 10**30])
def test_a_newer_schema_is_named_as_such(version: int) -> None:
    """Its events may look malformed to this code; that is not the text's fault."""
    for forged in (
        with_events(LAUNCH, parley=version),
        with_events(event("FromTheFuture", x=1), parley=version),
        with_events(LAUNCH, parley=version, also="new"),
    ):
        refusal = refuse(forged)

        assert isinstance(refusal, CheckpointTooNew)
        assert str(version) in str(refusal)


@pytest.mark.parametrize("version", [0, -1, -(10**30)])
def test_a_schema_that_never_was_is_malformed(version: int) -> None:
    """There is nothing below 1."""
    forged = refuse(with_events(LAUNCH, parley=version))

    assert isinstance(forged, CheckpointMalformed)
    assert str(version) in str(forged)


def test_huge_whole_numbers_are_read_as_they_are() -> None:
    """JSON sets no bound, and neither do we, where Python can write it again."""
    text = SMALL.replace(b'"123"', b"9" * 300)

    assert Log.read(text)[0].text().encode() == text


_PIECES = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"\\",
    b",",
    b"null",
    b"-1",
    b"1e999",
    b"\xff",
    b"\0",
    b"9" * 30,
]


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(VALID)),
            st.integers(0, 12),
            st.sampled_from(_PIECES) | st.binary(max_size=6),
        ),
        min_size=1,
        max_size=4,
    )
)
@example([(VALID.index(b"hurry"), 1, b"\xff")])
def test_a_damaged_checkpoint_loads_or_gives_the_named_error(
    damage: list[tuple[int, int, bytes]],
) -> None:
    """Never anything else, whatever has happened to its bytes."""
    raw = VALID
    for where, length, piece in damage:
        raw = raw[:where] + piece + raw[where + length :]

    try:
        read, state = Log.read(raw)
    except CheckpointError:
        return
    assert state == fold(read.events)


@settings(max_examples=80)
@given(st.lists(st.sampled_from([one for story in STORIES.values() for one in story]), max_size=12))
def test_shuffled_events_load_or_give_the_named_error(events: list[Event]) -> None:
    """A forger may put real events in any order."""
    text = written([*log(*SPOKEN), *events])

    try:
        read, _ = Log.read(text)
    except CheckpointMalformed:
        return
    assert read.text() == text


@settings(max_examples=80)
@given(st.data())
def test_dropped_and_doubled_events_load_or_give_the_named_error(data: st.DataObject) -> None:
    """Nor may a log with a hole in it bring anything else down."""
    events = list(data.draw(st.sampled_from(list(STORIES.values()))))
    for _ in range(data.draw(st.integers(1, 3))):
        where = data.draw(st.integers(0, len(events) - 1))
        events[where : where + 1] = [events[where]] * data.draw(st.sampled_from([0, 2]))
        if not events:
            return

    try:
        Log.read(written(events))
    except CheckpointMalformed:
        return
