"""What others wrote, made fit to be looked at."""

from __future__ import annotations

from agent_core.thread.events import Millis
from gateway.inbox.pages.texts import channel_of, clock, code, exact, one_line, prose, span


def test_what_turns_words_round_is_written_out() -> None:
    """A name can't run backwards over the words beside it, and nothing is hidden."""
    assert prose("pay \u202e001\u202c").head == "pay \\u202e001\\u202c"
    assert one_line("o\u200btto\x00") == "o\\u200btto\\u0000"
    assert exact("a\u2066b").head == "a\\u2066b"


def test_joiners_and_marks_stay_in_what_people_say() -> None:
    """Families of emoji and many scripts are held together by characters that can't be seen."""
    family = "👨\u200d👩\u200d👧"

    assert prose(family).head == family


def test_long_texts_are_folded_and_nothing_is_lost() -> None:
    """The beginning stands there, the rest is behind a click."""
    text = "x" * 5000
    shown = prose(text)

    assert shown.head + shown.rest == text
    assert len(shown.head) == 900
    assert shown.cut == 0


def test_many_lines_are_folded_too() -> None:
    """Fifty short lines would push everything else off the screen."""
    text = "\n".join(map(str, range(50)))
    shown = code(text)

    assert shown.head.count("\n") == 13
    assert shown.head + shown.rest == text


def test_a_little_too_long_is_shown_whole() -> None:
    """Nobody clicks for a few words more."""
    assert not prose("x" * 1300).rest


def test_huge_texts_are_cut_and_say_so() -> None:
    """A page stays small whatever a tool returns."""
    shown = prose("x" * 1_000_000)

    assert len(shown.head) + len(shown.rest) == 20_000
    assert shown.cut == 980_000


def test_values_are_shown_as_json() -> None:
    """Somebody may decide by it, so it is exact; words are not quoted."""
    assert code({"a": [1, "é"]}).head == '{\n  "a": [\n    1,\n    "é"\n  ]\n}'
    assert code("plain").head == "plain"


def test_addresses_name_their_channel() -> None:
    """People know Slack and email, not prefixes; a mere name has no channel."""
    assert channel_of("slack:T1:U2") == "Slack"
    assert channel_of("otto") == ""
    assert channel_of("carrier<b>:x") == "carrier<b>"


def test_spans_are_in_the_words_that_people_use() -> None:
    """The largest unit that fits, and no more digits than that."""
    assert [span(ms) for ms in (-5, 59_999, 60_000, 7_200_000, 172_800_000)] == [
        "less than a minute",
        "less than a minute",
        "1 minute",
        "2 hours",
        "2 days",
    ]


def test_a_forged_time_is_still_a_time() -> None:
    """A log from elsewhere may hold any number."""
    assert clock(Millis(10**18)).startswith("31 Dec 9999")
