"""What a model or a person wrote calls nobody, and reads as it was meant."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.slack.render.brief import brief
from channels.slack.render.escaping import code_block, mrkdwn, prose
from channels.slack.render.pieces import pieces
from tests.unit.channels.slack import asked
from tests.unit.channels.slack.block_limits import called


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("<!channel> wake up", "&lt;!channel&gt; wake up"),
        ("<@U012> and <!subteam^S1>", "&lt;@U012&gt; and &lt;!subteam^S1&gt;"),
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("already &lt; fine", "already &lt; fine"),
        ("> a quote", "> a quote"),
        ("see <https://example.com/a?b=1&c=2>", "see <https://example.com/a?b=1&c=2>"),
        ("[a](https://example.com/?b=1&c=2)", "[a](https://example.com/?b=1&amp;c=2)"),
        ("<https://example.com|<!here>>", "&lt;https://example.com|&lt;!here&gt;&gt;"),
        ("`List<String>` & co", "`List<String>` &amp; co"),
        ("`<!channel>`", "`<\u2060!channel>`"),
        ("``a ` <@U012> b``", "``a ` <\u2060@U012> b``"),
    ],
)
def test_markdown_is_made_harmless_and_stays_markdown(written: str, sent: str) -> None:
    """Links, quotes and code go on working; mentions don't."""
    assert prose(written) == sent


def test_code_in_fences_is_left_alone_but_for_mentions() -> None:
    """What is copied from a code block must run."""
    (piece,) = pieces("```html\n<!doctype html> & <b>\n<!here>\n```")

    assert piece == "```html\n<!doctype html> & <b>\n<\u2060!here>\n```"


@given(asked.texts, st.integers(20, 400))
def test_mrkdwn_is_cut_within_the_limit_and_never_in_an_entity(text: str, limit: int) -> None:
    """The cut text is a beginning of the whole one."""
    whole, short = mrkdwn(text, 10**6), mrkdwn(text, limit)

    assert len(short) <= limit
    assert short == whole or whole.startswith(short[:-1])
    assert short == whole or not re.search(r"&[a-z]*…$", short)


@given(asked.texts)
def test_code_block_has_one_beginning_and_one_end(text: str) -> None:
    """No text can close the block that it stands in."""
    assert code_block(text, 2_000).count("```") == 2


@given(asked.texts)
def test_brief_form_calls_nobody(text: str) -> None:
    """The form for modals and the Home page is as harmless as the long one."""
    assert called({"text": brief(text, 500)}) == set()
    assert len(brief(text, 500)) <= 500


def test_brief_form_shows_what_mrkdwn_can() -> None:
    """Bold, headings, lists and links in Slack's older form; code as it is."""
    written = "# Head\n\n- **bold** <b>\n- [site](https://example.com/?a=1&b=2) `a<b **x**`"

    assert brief(written, 500) == (
        "*Head*\n\n• *bold* &lt;b&gt;\n• <https://example.com/?a=1&amp;b=2|site> `a&lt;b **x**`"
    )
