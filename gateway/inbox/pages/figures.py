"""What has happened lately, counted: threads by day, time to answer, what agents cost. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median, quantiles
from typing import Final

from msgspec import Struct

from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime

DAYS: Final = 14
STANDS: Final = ("finished", "waiting", "running", "paused", "failed", "cancelled")
"""How threads stand, in the order in which they are stacked; who is queued counts as running."""
_FEW: Final = 2


class ThreadCount(Struct, frozen=True, kw_only=True, gc=False):
    """What is counted of a thread."""

    agent: str
    status: str
    created_at: Millis
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


class AnswerTime(Struct, frozen=True, gc=False):
    """When somebody was asked, and when they answered."""

    asked_at: Millis
    settled_at: Millis


class Day(Struct, frozen=True, kw_only=True, gc=False):
    """One day: threads that began then, by how they stand now; and how long answers took."""

    label: str
    counts: tuple[int, ...]
    """In the order of `STANDS`."""
    answers: int
    median_minutes: float | None
    p90_minutes: float | None


class AgentCost(Struct, frozen=True, kw_only=True, gc=False):
    """What an agent has used."""

    agent: str
    threads: int
    input_tokens: int
    output_tokens: int
    cost: float


class Figures(Struct, frozen=True, kw_only=True, gc=False):
    """All that the page shows."""

    days: tuple[Day, ...]
    agents: tuple[AgentCost, ...]
    threads: int
    answers: int
    median_minutes: float | None
    p90_minutes: float | None


def begin_of(now: Millis) -> Millis:
    """Give the first moment that is counted."""
    return Millis(round(_days(now)[0].timestamp() * 1000))


def count(threads: Sequence[ThreadCount], answers: Sequence[AnswerTime], now: Millis) -> Figures:
    """Count what there is."""
    by_day: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in threads:
        by_day[_key(one.created_at)][_stand(one.status)] += 1
    waits: defaultdict[str, list[float]] = defaultdict(list)
    for answer in answers:
        waits[_key(answer.asked_at)].append(_minutes(answer))
    whole = [_minutes(one) for one in answers]
    return Figures(
        days=tuple(
            _day(day, by_day[f"{day:%Y-%m-%d}"], waits[f"{day:%Y-%m-%d}"]) for day in _days(now)
        ),
        agents=_costs(threads),
        threads=len(threads),
        answers=len(answers),
        median_minutes=median(whole) if whole else None,
        p90_minutes=_p90(whole),
    )


def _day(day: datetime, counts: Counter[str], waits: list[float]) -> Day:
    return Day(
        label=f"{day:%d %b}",
        counts=tuple(counts[stand] for stand in STANDS),
        answers=len(waits),
        median_minutes=median(waits) if waits else None,
        p90_minutes=_p90(waits),
    )


def _costs(threads: Iterable[ThreadCount]) -> tuple[AgentCost, ...]:
    groups: defaultdict[str, list[ThreadCount]] = defaultdict(list)
    for one in threads:
        groups[one.agent].append(one)
    costs = [
        AgentCost(
            agent=agent,
            threads=len(group),
            input_tokens=sum(one.input_tokens for one in group),
            output_tokens=sum(one.output_tokens for one in group),
            cost=sum(one.cost for one in group),
        )
        for agent, group in groups.items()
    ]
    return tuple(sorted(costs, key=lambda one: (-one.cost, -one.input_tokens, one.agent)))


def _p90(minutes: Sequence[float]) -> float | None:
    """Give the time within which nine of ten are answered."""
    if not minutes:
        return None
    if len(minutes) < _FEW:
        return minutes[0]
    return quantiles(minutes, n=10, method="inclusive")[-1]


def _minutes(one: AnswerTime) -> float:
    return max(0, one.settled_at - one.asked_at) / 60_000


def _stand(status: str) -> str:
    return "running" if status == "queued" else status


def _days(now: Millis) -> list[datetime]:
    today = as_datetime(now).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]


def _key(moment: Millis) -> str:
    return f"{as_datetime(moment):%F}"
