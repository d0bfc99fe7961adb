"""Where signing in leads: only ever to a page of ours."""

from __future__ import annotations

import pytest

from gateway.inbox.signing.ways import safe_next, sign_in_address


@pytest.mark.parametrize("path", ["/", "/threads", "/threads?status=waiting&agent=a%20b", "/q/%2F"])
def test_a_path_of_ours_is_kept(path: str) -> None:
    """With its query."""
    assert safe_next(path) == path


@pytest.mark.parametrize(
    "elsewhere",
    [
        "",
        "threads",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "/signin/key",
        "/signout",
        "/static/style.css",
        "/" + "x" * 3000,
        "//[",
    ],
)
def test_anything_else_is_the_first_page(elsewhere: str) -> None:
    """Browsers leave out tabs and line breaks, and take a backslash for a slash."""
    assert safe_next(elsewhere) == "/"


def test_the_sign_in_remembers_where_one_wanted_to_be() -> None:
    """As one value, whatever stands in it."""
    assert sign_in_address("/threads?a=1&b=2") == "/signin?next=%2Fthreads%3Fa%3D1%26b%3D2"
    assert sign_in_address("/") == sign_in_address("//evil.example") == "/signin"
