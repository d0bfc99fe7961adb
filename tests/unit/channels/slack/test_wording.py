"""The gateway's words, as Slack shows them."""

from __future__ import annotations

import pytest

from channels.slack.wording import wording


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("This is for slack:T1:U1, slack:T1:W2 and otto.", "This is for <@U1>, <@W2> and otto."),
        ("This is for slack:T1:U1: you may not.", "This is for <@U1>: you may not."),
        ("Answered by slack:T9:U9.", "Answered by slack:T9:U9."),
        ("In slack:T1:C1:1700000000.000100", "In slack:T1:C1:1700000000.000100"),
        ("<!channel> & <@U1>", "&lt;!channel&gt; &amp; &lt;@U1&gt;"),
    ],
)
def test_people_of_the_workspace_are_shown_by_name_and_nobody_is_called(
    words: str, shown: str
) -> None:
    """What others wrote stays text; an id that means nothing to people becomes their name."""
    assert wording(words, "T1", 3_000) == shown


def test_words_are_cut_within_the_limit() -> None:
    """A mention is shorter than the id it stands for."""
    assert len(wording("slack:T1:U1 " * 1_000, "T1", 100)) <= 100
