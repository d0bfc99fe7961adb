"""What has happened so far, as values: the lives of the server, and the threads as its API tells.

Everything that the page, the guide and `--once` say is read from here. Pure.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

Json = Mapping[str, Any]
_OVER: Final = frozenset({"finished", "failed", "cancelled"})
_RESULTS: Final = frozenset({"ToolReturned", "ToolFailed"})
_ENDS: Final = frozenset(
    {"QuestionAnswered", "QuestionExpired", "QuestionWithdrawn", "ApprovalTakenBack"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One process of the server: from its start to its end, in seconds since 1970."""

    pid: int
    started: float
    ready: float | None = None
    """When it first answered."""
    ended: float | None = None
    code: int | None = None

    @property
    def was_killed(self) -> bool:
        """Tell whether it died by kill -9."""
        return self.code == -signal.SIGKILL


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A thread, its whole log, and who heard of it where."""

    thread: Json
    events: Sequence[Json]
    deliveries: Sequence[Json] = ()

    @property
    def id(self) -> str:
        """Give its id."""
        return str(self.thread["id"])

    @property
    def name(self) -> str:
        """Give its name in short: the agent, and the last signs of the id."""
        return f"{self.thread['agent']} …{self.id[-4:]}"

    @property
    def origin(self) -> str:
        """Give the kind of place where it began: slack, email, webhook."""
        return str(self.thread["origin"]).partition(":")[0]

    @property
    def is_over(self) -> bool:
        """Tell whether it has come to an end."""
        return self.thread["status"] in _OVER

    def of(self, *kinds: str) -> list[Json]:
        """Give its events of these types, in order."""
        return [event for event in self.events if event["type"] in kinds]

    @property
    def questions(self) -> list[Json]:
        """Give what was asked, in order."""
        return [event["question"] for event in self.of("QuestionAsked")]

    def copies(self, question: str) -> list[Json]:
        """Give the messages that carried a question to people."""
        return [
            one for one in self.deliveries if one["question"] == question and "asked" in one["kind"]
        ]

    def places(self, question: str) -> set[str]:
        """Give the channels where a question has been delivered."""
        return {
            str(one["address"]).partition(":")[0]
            for one in self.copies(question)
            if one["status"] in {"sent", "settled"}
        }

    def is_settled(self, question: str) -> bool:
        """Tell whether every copy of a question shows how it ended."""
        copies = self.copies(question)
        return bool(copies) and all(one["status"] in {"settled", "failed"} for one in copies)

    def open_at(self, moment: float) -> Json | None:
        """Give the question that was open at some time."""
        ended = {event["question"]: at(event) for event in self.of(*_ENDS) if at(event) is not None}
        for event in self.of("QuestionAsked"):
            if at(event) < moment < ended.get(event["question"]["id"], float("inf")):
                return event["question"]  # type: ignore[no-any-return]
        return None

    def running_at(self, moment: float) -> Json | None:
        """Give the start of the call that was cut off at some time."""
        for event in self.of("ToolStarted"):
            results = [one for one in self.of(*_RESULTS) if one["call"] == event["call"]]
            if at(event) < moment and not any(at(one) < moment for one in results):
                return event
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """All of it, at one moment."""

    lives: Sequence[Life] = ()
    threads: Sequence[Seen] = ()
    """Oldest first."""
    questions: Sequence[Json] = ()
    """Those that are open now, as the API lists them."""

    @property
    def is_up(self) -> bool:
        """Tell whether the server answers."""
        return bool(self.lives) and self.lives[-1].ready is not None and not self.lives[-1].ended

    def kills(self) -> Iterator[tuple[Life, Life | None]]:
        """Give each life that ended by kill -9, and the one after it, once that answered."""
        following = (*self.lives[1:], None)
        for life, after in zip(self.lives, following, strict=False):  # there may be no life yet
            if life.was_killed:
                yield life, after if after is not None and after.ready is not None else None


def at(event: Json) -> float:
    """Give when an event happened, in seconds since 1970."""
    return datetime.fromisoformat(event["at"]).timestamp()
