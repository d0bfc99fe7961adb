"""Compaction: when a thread is too long, what to summarise, and what to keep."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_core.context.compaction import SUMMARISE, Compaction, cut, render_for_summary
from agent_core.errors import DefinitionError
from agent_core.thread.events import Event, ModelReplied
from agent_core.thread.fold import fold
from agent_core.thread.state import ThreadState
from agent_core.thread.usage import Usage
from tests.unit.agent_core.thread.logs import (
    CHOSEN,
    SPOKEN,
    answered,
    ask,
    asked,
    chose,
    compacted,
    launched,
    log,
    paused,
    replied,
    resumed,
    returned,
    said,
    started,
    state_of,
)
from tests.unit.agent_core.thread.walks import histories

BY_MESSAGES = Compaction(after_tokens=None, after_messages=4, keep=2)


def compact_once(state: ThreadState, through: int, summary: str = "Short.") -> ThreadState:
    """Go on with a summary."""
    return fold([replace(compacted(through, summary), at=state.updated_at)], onto=state)


def test_a_short_thread_is_left_alone() -> None:
    """By messages and by tokens."""
    state = state_of(launched(), *(said(str(n)) for n in range(4)))

    assert cut(state, BY_MESSAGES) is None
    assert cut(state, Compaction()) is None


def test_a_thread_of_too_many_messages_is_cut_before_the_last_ones() -> None:
    """So many stay as they are."""
    state = state_of(launched(), *(said(str(n)) for n in range(5)))

    through = cut(state, BY_MESSAGES)

    assert through == 4
    assert len(compact_once(state, 4).entries) == 1 + 2


@pytest.mark.parametrize(("tokens", "through"), [(100, None), (101, 2)])
def test_the_servers_own_count_of_tokens_decides(tokens: int, through: int | None) -> None:
    """Where there is one."""
    state = state_of(*SPOKEN, replied("hm", usage=Usage(tokens, 5)), said("x"))

    assert cut(state, Compaction(after_tokens=100, keep=2)) == through


@pytest.mark.parametrize(
    "long",
    [
        (said("x" * 4000),),
        (replied("x" * 4000),),
        (replied("", chose(text="x" * 4000)), started("3.0"), returned("x", "3.0")),
        (replied("", chose()), started("3.0"), returned("x" * 4000, "3.0")),
        (replied(""), compacted(2, "x" * 4000)),
    ],
    ids=["message", "reply", "arguments", "result", "summary"],
)
def test_without_a_count_the_length_of_the_text_decides(long: tuple[Event, ...]) -> None:
    """About four characters a token, wherever the text stands."""
    events = (*SPOKEN, *long, said("a"), said("b"))

    assert cut(state_of(*events), Compaction(after_tokens=900, keep=1)) is not None
    assert cut(state_of(*events), Compaction(after_tokens=1200, keep=1)) is None


def test_news_without_text_of_their_own_weigh_nothing() -> None:
    """They are short."""
    state = state_of(*SPOKEN, paused(), resumed("otto", "go"), said("x"))

    assert cut(state, Compaction(after_tokens=100, keep=1)) is None


def test_neither_tokens_nor_messages_never_cuts() -> None:
    """A plan that says nothing does nothing."""
    state = state_of(launched(), *(said("x" * 9999) for _ in range(50)))

    assert cut(state, Compaction(after_tokens=None)) is None


def test_what_must_be_kept_is_kept_however_long_it_is() -> None:
    """And it is not summarised over and over: only a summary would be left to summarise."""
    plan = Compaction(after_tokens=100, keep=2)
    state = state_of(launched(), *(said("x" * 1000) for _ in range(5)))

    through = cut(state, plan)
    assert through == 4
    assert cut(compact_once(state, 4), plan) is None


def test_a_later_summary_takes_in_the_earlier_one() -> None:
    """Nothing is lost on the way."""
    state = compact_once(state_of(launched(), *(said(str(n)) for n in range(5))), 4, "Once.")
    state = fold(log(said("x"), said("y")), onto=state)

    through = cut(state, BY_MESSAGES)

    assert through == 6
    request = render_for_summary(state, 6, "")
    assert [one["content"].splitlines()[-1] for one in request[:-1]] == ["Once.", "3", "4"]


def test_a_message_that_stands_after_the_reply_that_it_came_before_is_cut_with_it() -> None:
    """Order in the rendering and number in the log differ there; nothing may slip through."""
    state = state_of(*SPOKEN, said("wait!"), replied("ok", seen=2), said("so?"), said("hello?"))
    plan = Compaction(after_tokens=None, after_messages=4, keep=3)

    through = cut(state, plan)

    assert through == 2
    kept = [seq for seq, _ in compact_once(state, 2).entries]
    assert kept == [2, 4, 3, 5, 6]


def test_if_nothing_can_be_cut_cleanly_nothing_is_cut() -> None:
    """All that the model is shown first came last."""
    state = state_of(*SPOKEN, said("a"), said("b"), said("c"), replied("ok", seen=1))

    assert cut(state, Compaction(after_tokens=None, after_messages=2, keep=1)) is None


def test_the_part_that_goes_is_shown_and_its_summary_asked_for() -> None:
    """With the instructions, and nothing of what stays."""
    state = state_of(*SPOKEN, replied("ok"), said("stays"))

    assert render_for_summary(state, 3, "Be kind.") == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "refund order 123"},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": SUMMARISE},
    ]
    assert len(state.entries) == 3


def test_a_question_that_is_still_open_outlives_the_summary() -> None:
    """Its answer is news, whenever it comes."""
    state = state_of(
        *CHOSEN, started(), asked(ask(wait=False)), returned(), replied("posted"), compacted(3)
    )

    assert fold([answered("blue")], onto=state).unseen


@settings(max_examples=50)
@given(histories(), st.integers(1, 4))
def test_compaction_always_comes_to_an_end(events: list[Event], keep: int) -> None:
    """However often it is asked for at once, and it never parts a reply from its results."""
    state = fold(events)
    if state.lifecycle != "active" or state.open_calls:
        return
    plan = Compaction(after_tokens=0, keep=keep)

    for _ in range(3):
        through = cut(state, plan)
        if through is None:
            return
        before = len(state.entries)
        state = compact_once(state, through)
        assert len(state.entries) <= before
        for seq, entry in state.entries:
            if isinstance(entry, ModelReplied):
                assert all(f"{seq}.{n}" in state.calls for n in range(len(entry.calls)))
    assert cut(state, plan) is None


@pytest.mark.parametrize("keep", [0, -1])
def test_keeping_nothing_is_refused(keep: int) -> None:
    """The model would have nothing to reply to."""
    with pytest.raises(DefinitionError, match=f"at least 1 message, not {keep}"):
        Compaction(keep=keep)


@pytest.mark.parametrize("after", [1, 5])
def test_a_plan_that_would_compact_for_ever_is_refused(after: int) -> None:
    """It must trip later than at what it keeps."""
    with pytest.raises(DefinitionError, match="more than keep"):
        Compaction(after_messages=after, keep=5)
