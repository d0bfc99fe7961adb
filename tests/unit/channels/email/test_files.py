"""Files in a mail: named always, as text where they are small text, else with the way to them."""

from __future__ import annotations

import codecs

import pytest

from channels.email.files import attachments
from channels.email.mail import Attachment, ReadMail

DIGEST = "0123456789abcdef" * 4


def given(*files: Attachment, is_truncated: bool = False) -> list[tuple[str, str]]:
    """Give text and note of what the agent would get."""
    mail = ReadMail(
        kind="human", reason="", digest=DIGEST, attachments=files, is_truncated=is_truncated
    )
    return [(one.text, one.note) for one in attachments(mail, 1_000)]


def a_file(content: bytes | None, kind: str = "text/plain", name: str = "a.txt") -> Attachment:
    """Make a file."""
    size = 20_000_000 if content is None else len(content)
    return Attachment(name=name, type=kind, size=size, content=content)


@pytest.mark.parametrize(
    ("content", "text", "note"),
    [
        ("héllo".encode(), "héllo", ""),
        (codecs.BOM_UTF8 + b"x", "x", ""),
        ("héllo".encode("utf-16"), "héllo", ""),
        ("h\xe9llo".encode("latin-1"), "héllo", "not UTF-8: read as Windows-1252"),
        (b"x" * 100_001, "x" * 100_000, "only the first 100,000 of 100,001 characters"),
    ],
)
def test_small_text_is_given(content: bytes, text: str, note: str) -> None:
    """In the encodings that people use."""
    assert given(a_file(content)) == [(text, note)]


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (a_file(b"a\0b"), "it holds no text"),
        (a_file(b"%PDF", "application/pdf"), "not text"),
        (a_file(None), "too large"),
        (a_file(b"x" * 1_000_001), "larger than 1 MB"),
        (a_file(b"x", "application/octet-stream", "a.exe"), "not text"),
    ],
)
def test_what_is_not_given_is_named_with_the_way_to_it(file: Attachment, why: str) -> None:
    """The mail itself is kept: the file is taken out of it."""
    [(text, note)] = given(file)

    assert text == ""
    assert note == f"named only: {why}; `parley email raw {DIGEST[:16]} --file 1` gives it"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("application/json", "x"),
        ("application/ld+json", "x"),
        ("image/svg+xml", "x"),
        ("message/rfc822", "x"),
        ("application/octet-stream", "build.LOG"),
        ("", "notes.md"),
    ],
)
def test_text_goes_by_many_names(kind: str, name: str) -> None:
    """By its type, and by its name where the type says nothing."""
    assert given(a_file(b"words", kind, name)) == [("words", "")]


def test_many_files_have_a_limit_together() -> None:
    """Those after it are named."""
    texts = [len(text) for text, _ in given(*[a_file(b"x" * 900_000) for _ in range(5)])]

    assert texts == [100_000, 100_000, 100_000, 0, 0]


def test_mail_that_was_not_read_to_its_end_is_named_itself() -> None:
    """So that whoever looks at the log can find the rest."""
    [(_, note)] = given(is_truncated=True)

    assert f"parley email raw {DIGEST[:16]}" in note
