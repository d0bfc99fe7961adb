"""Which threads somebody wants to see."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qsl

from gateway.inbox.pages.filters import Filter, Fitting, read_filter
from gateway.inbox.pages.texts import millis

NOON = millis(datetime(2026, 11, 16, 12, tzinfo=UTC))
THREAD = Fitting(
    id="th_1a2b",
    key="acme/42",
    agent="desk",
    requester="slack:T1:U2",
    name="Otto",
    origin="slack:T1:C1:1.0",
    title="Refund order 1042, STRASSE broken",
    created_at=NOON,
)


def test_every_word_must_be_found_somewhere() -> None:
    """In the id, the key, the title, the agent or who began it; large and small letters alike."""
    assert Filter(words="refund otto").fits(THREAD)
    assert Filter(words="TH_1A acme").fits(THREAD)
    assert Filter(words="straße").fits(THREAD)
    assert not Filter(words="refund eve").fits(THREAD)


def test_people_and_channels_are_compared() -> None:
    """By the name that people know, or by the identity."""
    assert Filter(person="ott").fits(THREAD)
    assert Filter(person="U2").fits(THREAD)
    assert not Filter(person="ann").fits(THREAD)
    assert Filter(channel="slack").fits(THREAD)
    assert not Filter(channel="email").fits(THREAD)


def test_days_count_whole() -> None:
    """From the first moment of one to the last of the other, in UTC."""
    assert Filter(since="2026-11-16", until="2026-11-16").fits(THREAD)
    assert not Filter(since="2026-11-17").fits(THREAD)
    assert not Filter(until="2026-11-15").fits(THREAD)
    assert Filter(until="9999-12-31").fits(THREAD)


def test_what_makes_no_sense_is_left_out_and_told() -> None:
    """A typing error in an address shows all, and says so; it is never an empty page."""
    read, troubles = read_filter(
        {"status": "asleep", "channel": "pigeon", "since": "yesterday", "until": "2026-02-30"}
    )

    assert read.is_empty
    assert len(troubles) == 4


def test_a_query_round_trips() -> None:
    """What the next page is asked for is what this one was."""
    wanted = Filter(status="waiting", words="a & b", agent="desk", since="2026-01-01")
    again, troubles = read_filter(dict(parse_qsl(wanted.query(cursor="c"))))

    assert not troubles
    assert again == Filter(
        status="waiting", words="a & b", agent="desk", since="2026-01-01", cursor="c"
    )
