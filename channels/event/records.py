"""What the board keeps, and under which names. Names are listed, so keys stand there as digests."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import msgspec

from agent_core.json_values import canonical
from channels.occurrences import Occurrence

CAME, WAITING = "came:", "waiting:"
_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A delivery that was seen: where its occurrence is kept, or who got it."""

    digest: str
    """Of what it said: the same delivery can't say something else."""
    name: str
    """Under which the occurrence is kept, until somebody has it."""
    question: str = ""
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The last question that waited for a key, and is over."""

    question: str
    status: Literal["open", "answered", "expired", "withdrawn"]


def digest(text: str) -> str:
    """Give what stands for a key or a delivery in a name."""
    return sha256(text.encode()).hexdigest()[:32]


def content(occurrence: Occurrence) -> str:
    """Give the digest of what was reported."""
    return sha256(canonical([occurrence.key, occurrence.value])).hexdigest()


def came(key: str, at: int, delivery: str) -> str:
    """Name an occurrence: those of one key stand in the order in which they came."""
    return f"{CAME}{digest(key)}:{at:0{_DIGITS}d}:{digest(delivery)}"


def waiting(key: str, asked_at: int, question: str) -> str:
    """Name somebody who waits: those of one key stand in the order in which they asked.

    The question stands in the name, which is not sealed: it is found also under another secret key.
    """
    return f"{WAITING}{digest(key)}:{asked_at:0{_DIGITS}d}:{question}"


def report(delivery: str) -> str:
    """Name a report."""
    return f"report:{digest(delivery)}"


def ended(key: str) -> str:
    """Name what is known of the last question that waited for a key."""
    return f"ended:{digest(key)}"


def key_of(name: str) -> str:
    """Give the digest of the key that a name is about."""
    return name.split(":")[1]


def question_of(name: str) -> str:
    """Give the question of somebody who waits."""
    return name.split(":", 3)[3]


def write(value: Occurrence | Report | Ended) -> bytes:
    """Write one of these."""
    return msgspec.json.encode(value)


def read_occurrence(kept: bytes) -> Occurrence:
    """Read it back."""
    return msgspec.json.decode(kept, type=Occurrence)


def read_report(kept: bytes) -> Report:
    """Read it back."""
    return msgspec.json.decode(kept, type=Report)


def read_ended(kept: bytes) -> Ended:
    """Read it back."""
    return msgspec.json.decode(kept, type=Ended)
