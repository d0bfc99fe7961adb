"""Who may post: our own pages, and nobody else's."""

from __future__ import annotations

import pytest

from gateway.http.problems import Problem
from gateway.inbox.guarding import check_origin, check_token, token_for

SECRET = b"s" * 32
URL = "https://parley.example"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "https://parley.example"},
        {"Origin": "http://127.0.0.1:8080"},
        {"Origin": "https://parley.example", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_our_own_pages_may_post(headers: dict[str, str]) -> None:
    """By our public address, or by the one that the browser asked; old browsers say nothing."""
    check_origin(headers, "127.0.0.1:8080", URL)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "https://parley.example.evil.example"},
        {"Origin": "https://parley.example", "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_may_not_post(headers: dict[str, str]) -> None:
    """Nor may another host of our domain, or a page without an origin."""
    with pytest.raises(Problem):
        check_origin(headers, "127.0.0.1:8080", URL)


def test_a_token_is_for_one_holder() -> None:
    """Another's, a changed one and none are refused; a form without a holder always is."""
    check_token(token_for(SECRET, "mine"), SECRET, "mine")
    for given, holder in (
        (token_for(SECRET, "yours"), "mine"),
        (token_for(b"x" * 32, "mine"), "mine"),
        ("", "mine"),
        ("é", "mine"),
        (token_for(SECRET, ""), ""),
    ):
        with pytest.raises(Problem):
            check_token(given, SECRET, holder)
