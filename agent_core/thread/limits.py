"""Limits: small conditions over what a run has used, joined with `&` and `|`.

    MaxSteps(30) | MaxTokens(200_000) & MaxSeconds(600)

A limit looks at a meter and gives the name of what tripped, or nothing. The meter starts anew
whenever a person sets the run going: a new message after the end, a retry, a "go on".
Time spent waiting for people doesn't count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_core.errors import DefinitionError
from agent_core.thread.state import Meter


class Limit(ABC):
    """One condition, or several joined."""

    @abstractmethod
    def tripped(self, meter: Meter) -> str | None:
        """Name the limit if it has been reached."""

    def __or__(self, other: Limit) -> Limit:
        """Trip as soon as either does."""
        return Either(self, other)

    def __and__(self, other: Limit) -> Limit:
        """Trip only when both have."""
        return Both(self, other)


@dataclass(frozen=True)
class Either(Limit):
    """Trips as soon as one of two does."""

    left: Limit
    right: Limit

    def tripped(self, meter: Meter) -> str | None:
        """Name the first that tripped."""
        return self.left.tripped(meter) or self.right.tripped(meter)


@dataclass(frozen=True)
class Both(Limit):
    """Trips when two have tripped."""

    left: Limit
    right: Limit

    def tripped(self, meter: Meter) -> str | None:
        """Name both."""
        left, right = self.left.tripped(meter), self.right.tripped(meter)
        return f"{left} & {right}" if left and right else None


@dataclass(frozen=True)
class _Most(Limit):
    """A figure that may not be reached."""

    most: float

    def __post_init__(self) -> None:
        if not self.most > 0:
            raise DefinitionError(f"{type(self).__name__} must be more than 0, not {self.most}")

    def tripped(self, meter: Meter) -> str | None:
        """Compare what was used with what may be."""
        return f"{type(self).__name__}({self.most})" if self._used(meter) >= self.most else None

    @abstractmethod
    def _used(self, meter: Meter) -> float: ...


class MaxSteps(_Most):
    """So many model calls."""

    def _used(self, meter: Meter) -> float:
        return meter.steps


class MaxTokens(_Most):
    """So many tokens, in and out."""

    def _used(self, meter: Meter) -> float:
        return meter.usage.tokens


class MaxCost(_Most):
    """So much money, in the currency of the model's prices."""

    def _used(self, meter: Meter) -> float:
        return meter.usage.cost


class MaxSeconds(_Most):
    """So much time at work."""

    def _used(self, meter: Meter) -> float:
        return meter.active_ms / 1000


class SameCall(_Most):
    """The very same call, chosen so many times in a row: the model is going round in circles."""

    def _used(self, meter: Meter) -> float:
        return meter.same_calls


@dataclass(frozen=True)
class Signal(Limit):
    """Something outside says stop: an `asyncio.Event().is_set`, a flag, a file."""

    name: str
    is_set: Callable[[], bool] = field(compare=False)

    def tripped(self, meter: Meter) -> str | None:  # noqa: ARG002 (it looks elsewhere)
        """Ask the outside."""
        return f"Signal({self.name})" if self.is_set() else None


class _Never(Limit):
    def tripped(self, meter: Meter) -> str | None:  # noqa: ARG002 (nothing to hold it against)
        return None


NO_LIMIT: Limit = _Never()
