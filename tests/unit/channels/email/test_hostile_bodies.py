"""Bodies at random and bodies made to hurt: always read, in linear time, and no word lost."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.email.markup.body import trim_html
from channels.email.trimming.trimmer import trim
from tests.unit.channels.email.samples import lines, paragraphs

_PIECES = (
    *(
        "\n",
        " ",
        ">",
        "> ",
        "-",
        "--\n",
        "-- \n",
        "_",
        "*",
        "<",
        "<a@",
        "@",
        ":",
        "a:",
        "1.1.2026 ",
    ),
    *("On ", "On Mon 1 ", "wrote ", "wrote:\n", "From: a@b.c\n", "From: a\nTo: b\n\n", "Sent: \n"),
    *("On 1.1.2026 10:00 <a@b.c>\n", "sent from my ", "sent from my a b\n", "a\n> b\n", "please "),
    *(
        "von meinem x gesendet ",
        "---- a wrote\n",
        "-----Original Message",
        "(http",
        "> (http://a/\n",
    ),
    *(
        "> x\n(http://a) >\n",
        "outlook a ios ",
        "a outlook b c android\n",
        "envoyé de mon \n",
        "e" * 50,
    ),
)
_TAGS = (
    *(
        "<div>",
        "<p>x",
        "<b>",
        "<br>",
        "<table><tr><td>",
        "<blockquote>x",
        "<pre>\n",
        "<",
        "&amp;",
        "&",
    ),
    *("<blockquote>x</blockquote>", "<a href=http://x>x", "<a href=http://x>x</a>", "<!--", "<li>"),
    *("<div class=gmail_quote>x", "<div class=gmail_quote>x</div>", "<div class=gmail_signature>"),
    *(
        "<div style='border-top:solid #ffffff 1pt'>x:",
        "<p>On 1.1.2026 &lt;a@b.c&gt; wrote:<blockquote>",
    ),
)
_SIZE = 20_000
_PATIENCE = 2.0


def _cost(read: Callable[[str], object], body: str, tries: int = 2) -> float:
    """Give the time of the processor; the best of two, because the machine has other work."""
    tracer = sys.gettrace()
    sys.settrace(None)  # what measures coverage would measure itself here
    try:
        return min(_once(read, body) for _ in range(tries))
    finally:
        sys.settrace(tracer)


def _once(read: Callable[[str], object], body: str) -> float:
    start = time.process_time()
    read(body)
    return time.process_time() - start


def _grown(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


@pytest.mark.parametrize("piece", _PIECES)
def test_text_made_to_hurt_costs_no_more_than_its_length(piece: str) -> None:
    """Twice the body, at most about twice the time; 100 KB stay far under the limit."""
    small, large = (_cost(trim, _grown(piece, size)) for size in (_SIZE, 2 * _SIZE))

    assert large < 3.5 * small + 0.02
    assert _cost(trim, _grown(piece, 5 * _SIZE), tries=1) < _PATIENCE


@pytest.mark.parametrize("piece", _TAGS)
def test_markup_made_to_hurt_costs_no_more_than_its_length(piece: str) -> None:
    """The same for HTML."""
    small, large = (_cost(trim_html, _grown(piece, size)) for size in (_SIZE, 2 * _SIZE))

    assert large < 3.5 * small + 0.02
    assert _cost(trim_html, _grown(piece, 5 * _SIZE), tries=1) < _PATIENCE


_words = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "Po", "Zs")), min_size=1, max_size=60
)
_anything = st.lists(
    st.one_of(st.sampled_from((*_PIECES, *_TAGS)), st.text(max_size=20)), max_size=40
)


@given(_anything)
def test_any_text_is_read(pieces: list[str]) -> None:
    """Nothing raises, and the words are among the lines of the reply."""
    reply = trim("".join(pieces))

    assert set(reply.words.split()) <= set("".join(pieces).split()) | set(reply.text.split())


@given(_anything)
def test_any_markup_is_read(pieces: list[str]) -> None:
    """Nothing raises."""
    assert isinstance(trim_html("".join(pieces)).text, str)


_sentences = st.lists(
    st.sampled_from(
        (
            *("Yes, please go ahead.", "No: it is too much.", "Take 10.50 EUR, not 12.", "ok", "2"),
            *("I think that Ada wrote it", "Can we talk on Monday?", "好的，同意。", "Да.", "כן"),
            *("- first item", "1) second item", "    indented = code(1)", "https://example.com/x"),
            *lines("own_words.txt"),
        )
    ),
    min_size=1,
    max_size=6,
)
_around = st.one_of(
    st.sampled_from(paragraphs("attributions.txt")).map(lambda one: f"{one}\n\n> May I?\n> Parley"),
    st.sampled_from(paragraphs("header_blocks.txt")).map(lambda one: f"{one}\n\nMay I?\nParley"),
    st.sampled_from(lines("originals.txt")).map(lambda one: f"{one}\nMay I?"),
    st.just(""),
)
_signature = st.one_of(st.just(""), st.sampled_from(lines("programs_signatures.txt")))


@settings(max_examples=200)
@given(_sentences, _signature, _around)
def test_no_line_of_the_person_is_lost_and_none_is_added(
    said: list[str], signature: str, around: str
) -> None:
    """Whatever a program puts under it, the reply is what was written."""
    body = "\n\n".join(filter(None, (*said, signature, around)))

    assert trim(body).text == "\n\n".join(said)


@given(st.lists(st.tuples(_words, _sentences), min_size=2, max_size=4))
def test_no_answer_between_quotes_is_lost(pairs: list[tuple[str, list[str]]]) -> None:
    """Point by point: every line of the person is among their words."""
    body = "\n\n".join(f"> {asked}\n\n" + "\n".join(said) for asked, said in pairs)

    words = trim(f"Ada <ada@example.com> wrote:\n\n{body}").words.splitlines()

    assert [line for _, said in pairs for line in said] == [line for line in words if line]
