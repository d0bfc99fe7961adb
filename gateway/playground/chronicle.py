"""What really happened, line by line: every thread's events and the server's lives. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.control.event_words import Calls, learn, words
from gateway.playground.scene import Life, Scene, Seen, at

_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Line:
    """Something that happened."""

    moment: float
    where: str
    """The thread, in short; or `server`."""
    what: str
    words: str

    @property
    def clock(self) -> str:
        """Give when, as the server's log does."""
        return datetime.fromtimestamp(self.moment, UTC).strftime("%H:%M:%S")


def chronicle(scene: Scene) -> list[Line]:
    """Put everything in order, oldest first."""
    lines = [line for life in scene.lives for line in _of_life(life)]
    lines += [line for seen in scene.threads for line in _of_thread(seen)]
    return sorted(lines, key=lambda line: line.moment)


def _of_life(life: Life) -> Iterator[Line]:
    yield Line(life.started, "server", "started", f"process {life.pid}")
    if life.ready is not None:
        yield Line(life.ready, "server", "answers", f"process {life.pid}")
    if life.ended is not None:
        how = "killed" if life.was_killed else "ended"
        yield Line(life.ended, "server", how, f"process {life.pid}, exit code {life.code}")


def _of_thread(seen: Seen) -> Iterator[Line]:
    calls: Calls = {}
    for event in seen.events:
        learn(event, calls)
        told = " · ".join(words(event, calls).splitlines())
        yield Line(at(event), seen.name, str(event["type"]), told[:_LONGEST])
