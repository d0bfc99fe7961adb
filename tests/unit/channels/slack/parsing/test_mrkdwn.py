"""Slack's mark-up becomes the text that a person sees."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.slack.parsing.mrkdwn import mentions, plain_text, unescaped, without_mention

NAMES = {"U1": "ann"}


@pytest.mark.parametrize(
    ("mrkdwn", "text"),
    [
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
        ("&amp;lt;", "&lt;"),
        ("ask <@U1> or <@U2> or <@U3|cleo>", "ask @ann or @U2 or @cleo"),
        ("in <#C1|general> or <#C2> or <#C3|>", "in #general or #C2 or #C3"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@support> <!subteam^S2>", "@support @S2"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("<https://example.com>", "https://example.com"),
        (
            "<https://example.com/a?b=1&amp;c=2|the page>",
            "the page (https://example.com/a?b=1&c=2)",
        ),
        ("<http://example.com|example.com>", "http://example.com"),
        ("<https://example.com/|example.com>", "https://example.com/"),
        ("<mailto:ann@example.com|ann@example.com>", "ann@example.com"),
        ("<mailto:ann@example.com|write to Ann>", "write to Ann (ann@example.com)"),
        ("<tel:+4930123|+4930123>", "+4930123"),
        ("<>", ""),
        ("<<@U1>>", "<@ann>"),
    ],
)
def test_it_reads_as_people_see_it(mrkdwn: str, text: str) -> None:
    """Names where we know them, labels with their address, escapes undone once."""
    assert plain_text(mrkdwn, NAMES) == text


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("<@UBOT> do it", "do it"),
        ("<@UBOT>: do it", "do it"),
        ("<@UBOT|parley>, do it", "do it"),
        ("  <@UBOT>\n\ndo it ", "do it"),
        ("please <@UBOT> do it", "please do it"),
        ("do it, <@UBOT>", "do it,"),
        ("<@UBOT> <@UBOT> do it <@UBOT>", "do it"),
        ("<@U1> do it", "<@U1> do it"),
        ("<@UBOT2> do it", "<@UBOT2> do it"),
        ("<@UBOT>", ""),
    ],
)
def test_our_own_name_is_taken_out(said: str, left: str) -> None:
    """The agent needn't read that it was called."""
    assert without_mention(said, "UBOT") == left


def test_a_mention_is_exactly_ours() -> None:
    """Neither a longer id nor an escaped one calls us."""
    assert mentions("hi <@UBOT>", "UBOT")
    assert mentions("hi <@UBOT|parley>", "UBOT")
    assert not mentions("hi <@UBOT2>", "UBOT")
    assert not mentions("hi &lt;@UBOT&gt;", "UBOT")
    assert not mentions("hi <@>", "")


@given(st.text(st.sampled_from("<>@!#|&;ltgampU1BOT ^:/")))
def test_no_text_breaks_it(said: str) -> None:
    """Whatever people type, something readable comes out."""
    plain = plain_text(without_mention(said, "UBOT"), NAMES)

    assert unescaped(plain) is not None


def test_a_hostile_text_takes_no_longer() -> None:
    """Linear in its length: half a million brackets are no work."""
    began = time.process_time()
    for hostile in ("<" * 500_000, "<@UBOT" * 100_000, "<a|" * 200_000, "&" * 500_000):
        plain_text(without_mention(hostile, "UBOT"), NAMES)

    assert time.process_time() - began < 2
