"""Where the samples are, and how the files of many short ones are read."""

from __future__ import annotations

from pathlib import Path

SAMPLES = Path(__file__).parents[3] / "payloads" / "email"


def paragraphs(name: str) -> list[str]:
    """Give the samples of a file that are kept apart by blank lines."""
    text = (SAMPLES / "replies" / name).read_text(encoding="utf-8")
    return [one.strip("\n") for one in text.split("\n\n") if one.strip()]


def lines(name: str) -> list[str]:
    """Give the samples of a file that take a line each."""
    return [
        one for one in (SAMPLES / "replies" / name).read_text(encoding="utf-8").splitlines() if one
    ]


def raw(name: str) -> bytes:
    """Give a raw mail."""
    return (SAMPLES / "raw" / name).read_bytes()
