"""Addresses of callbacks: what is taken, and what an endpoint is."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.callback.addresses import BadCallback, parse_address, parse_target


@pytest.mark.parametrize(
    ("url", "host", "port", "endpoint"),
    [
        ("https://ci.example.com/in?run=7", "ci.example.com", 443, "https://ci.example.com/in"),
        ("https://CI.example.com:443", "ci.example.com", 443, "https://ci.example.com/"),
        ("http://ci.example.com:8080/a/b", "ci.example.com", 8080, "http://ci.example.com:8080/a/b"),
        ("http://93.184.215.14/", "93.184.215.14", 80, "http://93.184.215.14/"),
        ("https://[2606:4700::1111]:8443/x", "2606:4700::1111", 8443, "https://[2606:4700::1111]:8443/x"),
        ("https://xn--bcher-kva.example/%C3%BC", "xn--bcher-kva.example", 443, "https://xn--bcher-kva.example/%C3%BC"),
    ],
)  # fmt: skip
def test_a_url_is_taken_as_it_is_written(url: str, host: str, port: int, endpoint: str) -> None:
    """Its endpoint is scheme, host and path: what fails, fails there."""
    target = parse_target(url)

    assert (target.url, target.host, target.port, target.endpoint) == (url, host, port, endpoint)
    assert parse_address(target.address) == target


@given(st.text())
def test_any_text_is_taken_or_refused_in_words(text: str) -> None:
    """Nobody can make it fail in another way."""
    for url in (text, f"https://{text}", f"http://[{text}]/", f"https://a.example:{text}/"):
        with suppress(BadCallback):
            assert parse_target(url).url.isascii()


@pytest.mark.parametrize(
    "address", ["", "callback", "callback:", "slack:T1:C1", "https://a.example/"]
)
def test_other_addresses_are_none_of_ours(address: str) -> None:
    """They would go nowhere."""
    with pytest.raises(BadCallback):
        parse_address(address)
