"""Standard Webhooks, the sender's side: published vectors, and an oracle that is not ours."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook

from channels.callback.signing import (
    derive_key,
    message_id,
    parse_secret,
    show_secret,
    signed_headers,
)

PUBLISHED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_published_vector() -> None:
    """Of the standard's own libraries."""
    headers = signed_headers(
        [parse_secret(PUBLISHED)],
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


@given(
    body=st.text().map(lambda text: json.dumps(text).encode()),
    key=st.binary(min_size=24, max_size=64),
)
def test_the_oracle_takes_what_we_sign(body: bytes, key: bytes) -> None:
    """Any body, any key; also where another key has signed as well."""
    other = derive_key(b"other")
    headers = signed_headers([other, key], message_id("th_1.3+0"), int(time.time()), body)

    for one in (other, key):
        Webhook(show_secret(one)).verify(body, headers)


def test_a_message_has_an_id_without_a_full_stop() -> None:
    """It separates what is signed; and each delivery keeps an id of its own."""
    ids = [message_id(one) for one in ("th_1.3", "th_1.4", "th_1.3+callback:x", "th_1.3>0")]

    assert ids[0] == "msg_th_1-3"
    assert len(set(ids)) == 4
    assert all(set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-") for one in ids)


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!", "x"]
)
def test_a_secret_that_is_none_is_refused(secret: str) -> None:
    """When the server starts."""
    with pytest.raises(ValueError, match=r"."):
        parse_secret(secret)


def test_the_derived_secret_is_the_same_on_every_machine_and_says_nothing_of_its_source() -> None:
    """It holds 32 bytes, made from the secret key alone."""
    key = derive_key(b"secret key")

    assert key == derive_key(b"secret key") != derive_key(b"secret key!")
    assert parse_secret(show_secret(key)) == key
    assert b"secret" not in key
