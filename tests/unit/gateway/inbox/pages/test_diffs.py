"""Arguments side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_core.json_values import compact
from gateway.inbox.pages.diffs import Piece, side_by_side

ARGUMENTS = st.dictionaries(
    st.sampled_from("abc"), st.one_of(st.integers(), st.text(max_size=12), st.booleans())
)


def test_changed_arguments_are_marked_letter_by_letter() -> None:
    """The eye falls on what is other, and both sides are whole."""
    (row,) = side_by_side({"amount": 5000}, {"amount": 4000})

    assert row.is_changed
    assert row.before == (Piece("5", is_changed=True), Piece("000"))
    assert row.after == (Piece("4", is_changed=True), Piece("000"))


def test_what_was_added_or_removed_has_an_empty_side() -> None:
    """Nobody overlooks an argument that was not there before."""
    rows = {one.name: one for one in side_by_side({"old": 1}, {"new": 2})}

    assert rows["old"].after == ()
    assert rows["new"].before == ()


def test_long_values_are_shown_whole_and_unmarked() -> None:
    """Comparing them letter by letter could take minutes."""
    (row,) = side_by_side({"text": "a" * 50_000}, {"text": "b" * 50_000})

    assert row.before == (Piece("a" * 50_000, is_changed=True),)


@given(before=ARGUMENTS, after=ARGUMENTS)
def test_a_row_is_changed_exactly_when_its_value_is(
    before: dict[str, object], after: dict[str, object]
) -> None:
    """Whatever is approved can be seen: every argument has a row, and no change is hidden."""
    rows = {one.name: one for one in side_by_side(before, after)}

    assert rows.keys() == before.keys() | after.keys()
    for name, row in rows.items():
        same = name in before and name in after and compact(before[name]) == compact(after[name])
        assert row.is_changed == (not same)
