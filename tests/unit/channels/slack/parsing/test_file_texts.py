"""Which files are text, and what their bytes say."""

from __future__ import annotations

import pytest

from channels.file_texts import MOST_LETTERS, decoded
from channels.slack.parsing.file_texts import is_text
from channels.slack.parsing.meanings import SharedFile


@pytest.mark.parametrize(
    ("media_type", "kind", "expected"),
    [
        ("text/plain", "text", True),
        ("text/csv; charset=utf-8", "csv", True),
        ("application/json", "json", True),
        ("application/vnd.api+json", "", True),
        ("image/svg+xml", "svg", True),
        ("application/octet-stream", "python", True),
        ("", "yaml", True),
        ("application/pdf", "pdf", False),
        ("image/png", "png", False),
        ("application/octet-stream", "binary", False),
        ("", "", False),
    ],
)
def test_text_is_known_by_its_type_or_by_slacks_kind(
    media_type: str, kind: str, *, expected: bool
) -> None:
    """Slack guesses media types; its own kind knows code better."""
    file = SharedFile(id="F1", name="f", media_type=media_type, kind=kind)

    assert is_text(file) is expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("käse".encode(), ("käse", "")),
        ("käse".encode("utf-8-sig"), ("käse", "")),
        ("käse".encode("utf-16"), ("käse", "")),
        ("käse".encode("cp1252"), ("käse", "not UTF-8: read as Windows-1252")),
        (b"PK\x03\x04\x00\x00", ("", "named only: it holds no text")),
        (b"", ("", "")),
    ],
)
def test_bytes_become_text_where_they_are_some(content: bytes, expected: tuple[str, str]) -> None:
    """An odd encoding is read with a note; what holds NUL is no text."""
    assert decoded(content) == expected


def test_a_long_text_is_cut_with_a_note() -> None:
    """An agent can't read everything."""
    text, note = decoded(b"x" * (MOST_LETTERS + 5))

    assert len(text) == MOST_LETTERS
    assert note == "only the first 100,000 of 100,005 characters"
