"""Long texts as several messages: nothing lost, nothing cut where it hurts."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.slack.render.pieces import CUT_OFF, MOST_PIECES, first_piece, pieces

LIMIT = 300
_word = st.text("abcdefgh", min_size=1, max_size=12)
_link = st.builds("[{} {}](https://example.com/{}?a=1)".format, _word, _word, _word)
_span = st.builds("`{} {}`".format, _word, _word)
_atoms = st.one_of(_word, _word, _link, _span)
_paragraphs = st.lists(_atoms, min_size=1, max_size=80).map(" ".join)
_fences = st.builds(
    lambda lines: "```python\n" + "\n".join(lines) + "\n```",
    st.lists(st.builds("{} = {}".format, _word, _word), max_size=60),
)
documents = st.lists(st.one_of(_paragraphs, _fences), max_size=5).map("\n\n".join)


@given(documents)
def test_nothing_is_lost_and_nothing_is_too_long(text: str) -> None:
    """Put together again, the pieces hold every word in its order."""
    found = pieces(text, LIMIT)

    assert all(0 < len(piece) <= LIMIT for piece in found)
    if len(found) < MOST_PIECES:
        assert _words_of("\n".join(found)) == _words_of(text)


@given(documents)
def test_no_word_link_or_code_span_is_cut(text: str) -> None:
    """Each of them stands whole in one of the pieces."""
    found = pieces(text, LIMIT)
    if len(found) == MOST_PIECES:
        return
    joined = "\0".join(found)

    for link in re.findall(r"\[[^\]]+\]\([^)]+\)", text):
        assert link in joined
    for span in re.findall(r"(?<!`)`[^`\n]+`(?!`)", text):
        assert span in joined


@given(documents)
def test_every_piece_closes_the_fences_it_opens(text: str) -> None:
    """A fence that had to be cut is opened again with its language."""
    for piece in pieces(text, LIMIT):
        fences = re.findall(r"^```.*$", piece, re.MULTILINE)

        assert fences == ["```python", "```"] * (len(fences) // 2)


def _words_of(text: str) -> list[str]:
    return re.sub(r"^```.*$", "", text, flags=re.MULTILINE).split()


def test_paragraphs_are_not_torn_apart() -> None:
    """A paragraph that fits into a message stands in one, also when the one before is short."""
    first, second = "a " * 60, "b " * 100

    assert pieces(f"{first}\n\n{second}", LIMIT) == [first, second]


def test_lines_are_kept_whole_where_they_fit() -> None:
    """A long list is cut between two of its lines."""
    lines = [f"- item {at} of the list" for at in range(40)]

    found = pieces("\n".join(lines), LIMIT)

    assert len(found) > 1
    assert "\n".join(found).split("\n") == lines


def test_word_longer_than_a_message_is_cut_but_no_entity_is() -> None:
    """There is no other way; an escaped character stays whole."""
    found = pieces("&" * 800, LIMIT)

    assert "".join(found) == "&amp;" * 800
    assert all(piece.startswith("&amp;") and piece.endswith("&amp;") for piece in found)


def test_code_line_longer_than_a_message_is_cut_inside_fences() -> None:
    """Minified code is still code in every piece."""
    found = pieces("```js\n" + "x" * 1_000 + "\n```", LIMIT)

    assert "".join(piece.removeprefix("```js\n").removesuffix("\n```") for piece in found) == (
        "x" * 1_000
    )


def test_code_that_holds_a_fence_gets_a_longer_one() -> None:
    """Markdown about Markdown stays code to its end."""
    (piece,) = pieces("````md\n```py\nx\n```\n````")

    assert piece == "````md\n```py\nx\n```\n````"


def test_fence_that_is_never_closed_is_closed() -> None:
    """A model that stopped in the middle spoils nothing after it."""
    assert pieces("```sh\nls") == ["```sh\nls\n```"]


def test_table_is_shown_in_columns() -> None:
    """Slack's Markdown shows no tables, so they stand as code, in columns."""
    (piece,) = pieces("| name | n |\n|:--|--:|\n| otto | 1 |\n| a\\|b | 22 |\n\nafter")

    assert piece == "```\nname  n\n----  --\notto  1\na|b   22\n```\n\nafter"


def test_long_table_has_its_head_on_each_piece() -> None:
    """Who reads the second message still knows what the columns are."""
    rows = "\n".join(f"| order {at} | {at * 7} |" for at in range(60))

    found = pieces(f"| order | amount |\n|---|---|\n{rows}", LIMIT)

    assert len(found) > 1
    assert all(piece.startswith("```\norder     amount\n--------") for piece in found)


def test_wide_table_is_listed_row_by_row() -> None:
    """In columns its lines would wrap, and nobody could read it."""
    wide = "x" * 70

    assert pieces(f"| a | b |\n|---|---|\n| {wide} | {wide} |") == [
        f"- **a**: {wide}; **b**: {wide}"
    ]


def test_endless_text_is_cut_and_says_so() -> None:
    """A conversation is not filled for minutes."""
    found = pieces("word " * 100_000)

    assert len(found) == MOST_PIECES
    assert found[-1].endswith(CUT_OFF)
    assert len(found[-1]) <= 12_000


def test_first_piece_says_that_there_is_more() -> None:
    """A part that was cut ends in dots; a whole one doesn't."""
    assert first_piece("short", 100) == "short"
    assert first_piece("long " * 100, 100).endswith("\n…")
    assert len(first_piece("long " * 100, 100)) <= 100
    assert first_piece(" \n ", 100) == ""


@pytest.mark.parametrize(
    "bomb",
    [
        "`" * 200_000,
        "` `` ``` " * 20_000,
        "[" * 200_000,
        "[x](" * 50_000,
        "[x](" + "a" * 200_000,
        "<" * 200_000,
        "|-" * 100_000,
        "| a |\n" * 50_000,
        "|---|\n" * 40_000,
        "&amp" * 50_000,
        "```\n" * 50_000,
        "~~~\n" * 50_000,
        "> " * 100_000,
        "**" * 100_000,
    ],
)
def test_hostile_text_costs_no_more_than_its_length(bomb: str) -> None:
    """No shape of text makes the splitter slow: 200 KB in seconds, on a busy machine too."""
    start = time.process_time()
    pieces(bomb)

    assert time.process_time() - start < 5
