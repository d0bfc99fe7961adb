"""Response URLs: only what we have signed is read, and as we wrote it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.callback.links import Link, NoSuchLink, read_link, sign_link

SECRET = b"secret"
LINK = Link(
    question="q_1", callback="0123abcd", host="ci.example.com", expires_at=1_800_000_000_000
)


@given(st.text(max_size=300), st.integers(min_value=0, max_value=2**53))
def test_what_is_signed_is_read(question: str, expires_at: int) -> None:
    """Any id of a question: callers may choose them."""
    link = Link(question=question, callback="c", host="h", expires_at=expires_at)

    assert read_link(sign_link(link, SECRET), SECRET) == link


@given(st.data())
def test_a_token_that_was_changed_is_none(data: st.DataObject) -> None:
    """Wherever, and into whatever."""
    token = sign_link(LINK, SECRET)
    place = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("Aa0_-.~%\u00fc").filter(lambda one: one != token[place]))

    with pytest.raises(NoSuchLink):
        read_link(token[:place] + letter + token[place + 1 :], SECRET)


@pytest.mark.parametrize("token", ["", ".", "a.b", "x" * 9000, sign_link(LINK, b"another")])
def test_what_we_have_not_signed_is_none(token: str) -> None:
    """Also what another installation has."""
    with pytest.raises(NoSuchLink):
        read_link(token, SECRET)
