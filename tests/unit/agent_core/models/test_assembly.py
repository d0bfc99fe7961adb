"""How a reply is put together from chunks, whatever habits the server has."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.errors import ModelRejected, ModelUnavailable
from agent_core.models.assembly import Assembly
from agent_core.models.chunk import parse_chunk, parse_whole_answer
from agent_core.models.model import ModelReply, RequestedCall
from tests.doubles.openai_server import call_chunk, call_piece, chunk, text


def assembled(*chunks: dict[str, Any]) -> ModelReply:
    """Put chunks together as the client does."""
    assembly = Assembly()
    for each in chunks:
        assembly.add(parse_chunk(each))
    return assembly.reply(model="asked-for")


def calls_of(*pieces: dict[str, Any], finish: str = "tool_calls") -> list[tuple[str, str]]:
    """Send each piece in a chunk of its own, and give the calls as pairs."""
    reply = assembled(*[call_chunk(piece) for piece in pieces], chunk(finish=finish))
    return [(call.name, call.arguments) for call in reply.calls]


# A value, as JSON text, cut at random places: how a server streams the arguments of one call.
any_characters = st.characters(codec=None)  # also halves, as `json.loads` gives them
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(any_characters),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
small_values = st.integers() | st.text(max_size=6) | st.just({"nested": [None, "}{"]})
argument_texts = st.dictionaries(st.text(max_size=4), small_values, max_size=2).map(json.dumps)
Repeat: TypeAlias = Literal["once", "always"]
repeats: st.SearchStrategy[Repeat] = st.sampled_from(["once", "always"])


@st.composite
def cut(draw: st.DrawFn, whole: str) -> list[str]:
    """Cut a text at random places; some pieces may be empty."""
    places = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    return [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]


@st.composite
def interleaved(draw: st.DrawFn, sequences: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Mix several streams of pieces, each one staying in its own order."""
    turns = [i for i, pieces in enumerate(sequences) for _ in pieces]
    rest = [iter(pieces) for pieces in sequences]
    return [next(rest[i]) for i in draw(st.permutations(turns))]


@given(st.data(), st.lists(argument_texts, min_size=1, max_size=4), repeats, repeats)
def test_calls_with_an_index_come_out_whole_however_they_are_cut_and_mixed(
    data: st.DataObject, texts: list[str], names: Repeat, ids: Repeat
) -> None:
    """`index` alone decides; the order of calls is that of their indexes."""
    sequences = []
    for i, whole in enumerate(texts):
        pieces = [
            call_piece(
                index=i,
                arguments=part,
                name=f"tool{i}" if n == 0 or names == "always" else None,
                id=f"call_{i}" if n == 0 or ids == "always" else None,
            )
            for n, part in enumerate(data.draw(cut(whole)))
        ]
        sequences.append(pieces)

    expected = [(f"tool{i}", whole) for i, whole in enumerate(texts)]

    assert expected == calls_of(*data.draw(interleaved(sequences)))


@given(st.data(), st.lists(argument_texts, min_size=1, max_size=4), repeats)
def test_calls_without_an_index_come_out_whole_when_their_ids_are_repeated(
    data: st.DataObject, texts: list[str], names: Repeat
) -> None:
    """Without `index`, an id says which call a piece belongs to; calls stand as they began."""
    pieces = [
        call_piece(id=f"c{i}", name="tool" if n == 0 or names == "always" else None, arguments=part)
        for i, whole in enumerate(texts)
        for n, part in enumerate(data.draw(cut(whole)))
    ]

    assert [("tool", whole) for whole in texts] == calls_of(*pieces)


@given(st.data(), st.lists(argument_texts, min_size=1, max_size=4), repeats)
def test_calls_without_index_and_id_are_told_apart_by_their_names(
    data: st.DataObject, texts: list[str], names: Repeat
) -> None:
    """A name after complete arguments begins another call, also of the same tool."""
    pieces = [
        call_piece(name="tool" if n == 0 or names == "always" else None, arguments=part)
        for whole in texts
        for n, part in enumerate(p for p in data.draw(cut(whole)) if p)
    ]

    assert [("tool", whole) for whole in texts] == calls_of(*pieces)


@given(st.data(), st.lists(argument_texts, min_size=2, max_size=4))
def test_parallel_calls_that_are_all_numbered_zero_are_told_apart_by_their_ids(
    data: st.DataObject, texts: list[str]
) -> None:
    """Some servers give every parallel call the index 0, and only the id is new."""
    pieces = [
        call_piece(
            index=0,
            arguments=part,
            id=f"call_{i}" if n == 0 else None,
            name="tool" if n == 0 else None,
        )
        for i, whole in enumerate(texts)
        for n, part in enumerate(data.draw(cut(whole)))
    ]

    assert [("tool", whole) for whole in texts] == calls_of(*pieces)


def test_one_id_for_several_tools_is_several_calls() -> None:
    """Some servers count ids from zero in each chunk; another name is then another call."""
    first = call_piece(id="0", name="a", arguments="{}")
    second = call_piece(id="0", name="b", arguments="{}")

    assert calls_of(first, second) == [("a", "{}"), ("b", "{}")]


def test_several_whole_calls_in_one_chunk_stay_apart() -> None:
    """Ollama and others send a call in one piece, several in a chunk, with no index."""
    pieces = [call_piece(name="a", arguments='{"x":1}'), call_piece(name="a", arguments='{"x":2}')]

    reply = assembled(call_chunk(*pieces, finish="tool_calls"))

    assert (RequestedCall("a", '{"x":1}'), RequestedCall("a", '{"x":2}')) == reply.calls


def test_an_id_that_changes_within_a_call_does_not_split_it() -> None:
    """With an index, an id is only believed where another call can have begun."""
    pieces = [
        call_piece(index=0, id="one", name="a", arguments='{"x"'),
        call_piece(index=0, id="two", name="a", arguments=":1}"),
    ]

    assert calls_of(*pieces) == [("a", '{"x":1}')]


def test_an_id_that_comes_late_does_not_split_a_call() -> None:
    """A call that began without an id has no other one."""
    pieces = [
        call_piece(index=0, name="a", arguments="{}"),
        call_piece(index=0, id="late", name="a", arguments=""),
    ]

    assert calls_of(*pieces) == [("a", "{}")]


@pytest.mark.parametrize("known_by", [{"index": 0}, {"id": "x"}, {}])
def test_a_name_may_come_after_the_arguments(known_by: dict[str, Any]) -> None:
    """Some servers stream the arguments first; the call waits for its name."""
    pieces = [call_piece(**known_by, arguments='{"x":1}'), call_piece(**known_by, name="a")]

    assert calls_of(*pieces) == [("a", '{"x":1}')]


def test_an_empty_id_is_no_id() -> None:
    """Some servers send `""` after the first piece."""
    first = {"id": "", "function": {"name": "a", "arguments": "{"}}
    second = {"id": "", "function": {"arguments": "}"}}

    assert calls_of(first, second) == [("a", "{}")]


def test_an_index_may_follow_where_the_call_began_without_one() -> None:
    """A call that began without an index has the place where it stood."""
    pieces = [call_piece(name="a", arguments="{"), call_piece(index=0, arguments="}")]

    assert calls_of(*pieces) == [("a", "{}")]


@pytest.mark.parametrize("arguments", [None, "", "  "])
def test_a_call_without_arguments_has_an_empty_object(arguments: str | None) -> None:
    """A tool without parameters is called with nothing by some servers: that is `{}`."""
    piece = {"index": 0, "function": {"name": "a", "arguments": arguments}}

    assert calls_of(piece) == [("a", "{}")]


def test_a_piece_without_a_function_only_opens_the_call() -> None:
    """The first piece may carry nothing but the id."""
    pieces = [{"index": 0, "id": "x"}, call_piece(index=0, name="a", arguments="{}")]

    assert calls_of(*pieces) == [("a", "{}")]


def test_arguments_as_an_object_become_text() -> None:
    """Some servers send the arguments decoded."""
    assert calls_of(call_piece(name="a", arguments={"x": 1})) == [("a", '{"x": 1}')]


@pytest.mark.parametrize("arguments", ["", '{"order": "1'])
def test_arguments_that_were_cut_off_stay_malformed(arguments: str) -> None:
    """A reply cut off by its length must not look complete: the loop tells the model."""
    piece = call_piece(index=0, name="a", arguments=arguments)

    assert [("a", arguments)] == calls_of(piece, finish="length")


def test_a_call_without_a_name_is_a_broken_reply() -> None:
    """It could neither be run nor be shown to the model again."""
    with pytest.raises(ModelUnavailable, match="without a name"):
        calls_of(call_piece(index=0, arguments="{}"))


def test_an_unfinished_reply_is_worth_another_try() -> None:
    """Without a finish reason nobody knows what is missing."""
    with pytest.raises(ModelUnavailable, match="before the reply was complete"):
        assembled(text("half a sen"))


def test_a_refusal_is_text() -> None:
    """What the model says instead of an answer is for people to read."""
    reply = assembled(chunk({"refusal": "I can't "}), chunk({"refusal": "help."}, "stop"))

    assert reply.text == "I can't help."


def test_only_the_first_alternative_counts() -> None:
    """With `n` in the options the reply is still one."""
    other = chunk({"content": "other"}, "stop")
    other["choices"][0]["index"] = 1

    assert assembled(other, text("mine", "stop")).text == "mine"


def test_a_choice_may_be_empty() -> None:
    """A last chunk with only a finish reason has no delta on some servers."""
    bare = {"choices": [{"finish_reason": "stop"}]}

    assert assembled(bare) == ModelReply(model="asked-for")


def test_an_impossible_count_of_tokens_is_not_believed() -> None:
    """A limit must not be widened by a server's bug, nor the log broken by a huge number."""
    usage = {"prompt_tokens": -5, "completion_tokens": 10**400}

    reply = assembled({**text("hi", "stop"), "usage": usage})

    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (0, 1_000_000_000)


def test_a_character_cut_in_two_is_joined() -> None:
    """JSON can escape half an emoji, and some servers stream it so; UTF-8 has no halves."""
    assembly = Assembly()
    pieces = [assembly.add(parse_chunk(text(half))) for half in ("a \ud83d", "\ude00 b", " \ud83d")]
    assembly.add(parse_chunk(chunk(finish="stop")))

    assert assembly.reply(model="m").text == "a 😀 b \ufffd"
    assert pieces == ["a \ufffd", "\ufffd b", " \ufffd"]


@pytest.mark.parametrize("arguments", ['{"x":"\ud83d"}', {"x": "\ud83d", "y": 10**30}])
def test_arguments_can_always_be_stored(arguments: object) -> None:
    """Half a character in them, raw or escaped, or a huge number, breaks nothing here."""
    pieces = [call_piece(name="a", arguments=arguments), call_piece(name="b", arguments="{}")]

    (_, stored), _ = calls_of(*pieces)

    assert stored.encode()


def test_a_reply_without_end_is_refused() -> None:
    """Over the limit it's rejected: another try would be paid for and end the same."""
    assembly = Assembly(most_characters=10)
    assembly.add(parse_chunk(text("12345")))

    with pytest.raises(ModelRejected, match="longer than 10 characters"):
        assembly.add(parse_chunk(call_chunk(call_piece(name="a", arguments="12345"))))


@pytest.mark.parametrize(
    "data", [None, 5, "text", [1], {"choices": 5}, {"choices": [{"delta": {"content": 5}}]}]
)
def test_what_is_no_chunk_is_worth_another_try(data: object) -> None:
    """JSON of another shape is a broken stream, not a crash."""
    with pytest.raises(ModelUnavailable, match="malformed chunk"):
        parse_chunk(data)


@given(json_values)
def test_no_json_value_crashes_the_assembly(data: object) -> None:
    """Whatever a server sends is refused in our own words, or gives what can be stored."""
    assembly = Assembly()
    try:
        assembly.add(parse_chunk({"choices": [{"delta": {"content": data}}], "model": data}))
        assembly.add(parse_chunk({"choices": [{"delta": {"tool_calls": data}}]}))
        assembly.add(parse_chunk({"choices": [{"delta": data, "finish_reason": data}]}))
        msgspec.json.encode(assembly.reply(model="m"))
    except ModelUnavailable:
        pass


@pytest.mark.parametrize("body", [b"", b"<html>", b"[" * 100_000])
def test_a_whole_answer_must_be_json(body: bytes) -> None:
    """A body that says it's JSON and isn't is worth another try."""
    with pytest.raises(ModelUnavailable, match="not JSON"):
        parse_whole_answer(body)
