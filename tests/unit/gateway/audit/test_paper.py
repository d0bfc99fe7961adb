"""The exported file: any change of it shows, at the line where it begins."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.audit.entries import Entry
from gateway.audit.paper import Head, Paper, Spoiled, read_paper
from tests.doubles.seals import another_seal, seal

ENTRIES = [
    Entry(at=f"2026-11-16T09:0{n}:00.000Z", thread="t1", seq=n, what="Said", record="ab" * 32)
    for n in range(1, 6)
]


def written() -> list[bytes]:
    """Write a file of five entries and its end."""
    paper = Paper()
    lines = [paper.line(entry) for entry in ENTRIES]
    head = Head(at="2026-11-16T09:09:00.000Z", begun="", threads=1, lines=paper.lines)
    return [*lines, paper.head(head, seal)]


def test_file_is_read_as_it_was_written() -> None:
    """Each line is JSON, and holds the hash of the one before; anybody can work it out."""
    lines = written()

    assert list(read_paper(lines, seal)) == ENTRIES
    before = "0" * 64
    for line in lines:
        fields = json.loads(line)
        assert fields["prev"] == before
        before = hashlib.sha256(line[: line.index(b',"hash":')]).hexdigest()
        assert fields["hash"] == before
    assert json.loads(lines[-1])["lines"] == 5


@given(st.data())
def test_change_of_any_byte_is_found(data: st.DataObject) -> None:
    """In any line, also in the hashes and in the seal."""
    lines = written()
    which = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[which]) - 2))
    flip = data.draw(st.integers(1, 255))
    changed = bytearray(lines[which])
    changed[place] ^= flip
    lines[which] = bytes(changed)

    with pytest.raises(Spoiled, match=r"line|cut off"):
        list(read_paper(b"".join(lines).splitlines(keepends=True), seal))


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        ("line 3 was changed, or one before it is missing", [0, 1, 3, 4, 5]),
        ("line 2 was changed, or one before it is missing", [0, 2, 1, 3, 4, 5]),
        ("line 3 was changed, or one before it is missing", [0, 1, 1, 2, 3, 4, 5]),
        ("line 1 was changed, or one before it is missing", [1, 2, 3, 4, 5]),
        ("cut off after line 4", [0, 1, 2, 3]),
        ("cut off after line 0", []),
        ("line 7 comes after the end", [0, 1, 2, 3, 4, 5, 5]),
    ],
)
def test_missing_swapped_and_added_lines_are_found(told: str, lines: list[int]) -> None:
    """By what stands before each of them, and by the end."""
    whole = written()
    with pytest.raises(Spoiled, match=told):
        list(read_paper([whole[n] for n in lines], seal))


def test_end_can_only_be_made_with_the_key() -> None:
    """Somebody may chain lines of their own; the seal they can't."""
    with pytest.raises(Spoiled, match="not sealed with this PARLEY_SECRET_KEY"):
        list(read_paper(written(), another_seal))


def test_what_is_no_audit_is_told_so() -> None:
    """Whatever file somebody names."""
    for text in (b"hello\n", b"{}\n", b"\xff\xfe\n", b"[" * 1000):
        with pytest.raises(Spoiled, match="line 1 is no line of an audit"):
            list(read_paper([text], seal))
    text = b'{"a":1,"prev":"' + b"0" * 64 + b'"'
    line = text + b',"hash":"' + hashlib.sha256(text).hexdigest().encode() + b'"}\n'
    with pytest.raises(Spoiled, match="line 1 is no entry"):
        list(read_paper([line], seal))
