"""Tokens: signed, short, and the same in any letter case."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.email.mail import Address, Purpose
from channels.email.packing import TokenTooLong
from channels.email.tokens import (
    delivery_of,
    mint_message_id,
    sign_token,
    signed_address,
    tag_of,
    tagged,
    verify_token,
)
from gateway.outbox.delivery_ids import ABSENT, ELSEWHERE, OPERATOR, REROUTED

SECRET = b"a secret of sixteen bytes or more"
REFERENCES = [
    "q_0123456789abcdef0123",
    "th_ffffffffffffffffffff",
    "th_0123456789abcdef0123.999999999",
    "q_0123456789abcdef01234",
    "th_fffffffffffffffffffff",
    "th_0123456789abcdef01234.1",
    "th_0123456789abcdef01234.128+0",
    "th_0123456789abcdef01234.5+1>0",
    "th_0123456789abcdef01234.5>0>1>2",
    "th_0123456789abcdef01234.5+a3!0",
    "th_0123456789abcdef01234.65536+499999>0",
    "refund-1",
]


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("purpose", ["reply", "bounce"])
def test_token_names_what_it_was_made_for(reference: str, purpose: Purpose) -> None:
    """Reference and purpose come back, whatever a server did to the letters."""
    text = sign_token(reference, purpose, SECRET)

    for changed in (text, text.upper(), text.title()):
        token = verify_token(changed, SECRET)
        assert token is not None
        assert (token.reference, token.purpose) == (reference, purpose)


@pytest.mark.parametrize("reference", REFERENCES)
def test_token_fits_into_a_local_part(reference: str) -> None:
    """RFC 5321 allows 64 characters; that leaves 16 for the address itself."""
    local = tagged("our-agent-s-name@example.com", sign_token(reference, "reply", SECRET))

    assert len(local.partition("@")[0]) <= 64


MARKED = "|".join(re.escape(mark) for mark in (ABSENT, ELSEWHERE, OPERATOR, REROUTED))


@given(
    st.from_regex(
        rf"th_[0-9a-f]{{21}}\.[1-9][0-9]{{0,4}}(({MARKED})(0|[1-9][0-9]{{0,2}})){{0,3}}",
        fullmatch=True,
    )
)
def test_every_delivery_comes_back_as_it_was(delivery: str) -> None:
    """By the return path and by the Message-ID, whatever was added to its id on the way."""
    token = verify_token(sign_token(delivery, "bounce", SECRET), SECRET)

    assert token is not None
    assert token.reference == delivery
    assert delivery_of(mint_message_id(delivery, "example.com", SECRET), SECRET) == delivery


def test_id_that_is_too_long_is_named_by_the_next() -> None:
    """A question by its thread; and where not even that fits, the address stays as it is."""
    question, thread = "an-id-that-is-much-too-long-for-it", "th_0123456789abcdef01234"
    made = signed_address("agent@example.com", (question, thread), "reply", SECRET)
    token = verify_token(tag_of(Address(email=made), "agent@example.com"), SECRET)
    cramped = f"{'a' * 40}@example.com"

    assert token is not None
    assert token.reference == thread
    assert signed_address(cramped, (question, thread), "reply", SECRET) == cramped


@given(st.data())
def test_token_that_was_changed_is_none(data: st.DataObject) -> None:
    """Each letter counts: another one, one less, one more, another secret."""
    text = sign_token("q_0123456789abcdef0123", "reply", SECRET)
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(
        st.sampled_from("abcdefghijklmnopqrstuvwxyz234567").filter(lambda c: c != text[place])
    )

    assert verify_token(text[:place] + letter + text[place + 1 :], SECRET) is None
    assert verify_token(text[:place] + text[place + 1 :], SECRET) is None
    assert verify_token(text[:place] + letter + text[place:], SECRET) is None
    assert verify_token(text, b"another secret") is None
    assert verify_token(text, b"") is None


def test_last_letter_has_no_second_spelling() -> None:
    """Base32 leaves bits over in the last letter; four letters would mean the same."""
    text = sign_token("q_0123456789abcdef0123", "reply", SECRET)
    spellings = [text[:-1] + letter for letter in "abcdefghijklmnopqrstuvwxyz234567"]

    assert [one for one in spellings if verify_token(one, SECRET)] == [text]


@given(st.text(max_size=60))
def test_any_text_can_be_looked_at(text: str) -> None:
    """Strangers write what they like before the at sign."""
    assert verify_token(text, SECRET) is None
    assert delivery_of(text, SECRET) == ""


def test_id_that_does_not_fit_is_refused() -> None:
    """A caller may choose ids; one that is too long is named by its thread instead."""
    with pytest.raises(TokenTooLong, match="fit into an address"):
        sign_token("an-id-that-is-really-much-too-long", "reply", SECRET)


def test_tag_counts_only_in_our_own_address() -> None:
    """Any letter case; another name, another domain and no tag are not ours."""
    ours = "Agent@Example.com"

    assert tag_of(Address(email="AGENT+AbC@EXAMPLE.com"), ours) == "abc"
    assert tag_of(Address(email="agent+a+b@example.com"), ours) == "a+b"
    assert tag_of(Address(email="other+abc@example.com"), ours) == ""
    assert tag_of(Address(email="agent+abc@example.org"), ours) == ""
    assert tag_of(Address(email="agent@example.com"), ours) == ""
    assert tag_of(Address(email="x+abc@example.org"), "") == "abc"


def test_message_id_names_its_delivery() -> None:
    """The same for each try; nobody else can make one; the domain may be rewritten."""
    made = mint_message_id("th_0123456789abcdef0123.7", "example.com", SECRET)

    assert made == mint_message_id("th_0123456789abcdef0123.7", "example.com", SECRET)
    assert delivery_of(made, SECRET) == "th_0123456789abcdef0123.7"
    assert delivery_of(made.upper().replace("EXAMPLE.COM", "eu.amazonses.com"), SECRET) != ""
    assert delivery_of(made.replace(".7.", ".8."), SECRET) == ""
    assert delivery_of(made, b"another secret") == ""
    assert delivery_of("<abc@example.com>", SECRET) == ""
