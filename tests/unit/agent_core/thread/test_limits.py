"""Limits: conditions over what a run has used, joined with `&` and `|`."""

from __future__ import annotations

import pytest

from agent_core.errors import DefinitionError
from agent_core.thread.limits import (
    NO_LIMIT,
    Limit,
    MaxCost,
    MaxSeconds,
    MaxSteps,
    MaxTokens,
    SameCall,
    Signal,
)
from agent_core.thread.state import Meter
from agent_core.thread.usage import Usage
from tests.unit.agent_core.thread.logs import SPOKEN, chose, failed, replied, state_of

USED = Meter(steps=3, usage=Usage(60, 40, 0.5), active_ms=1500, same_calls=2)


@pytest.mark.parametrize(
    ("limit", "name"),
    [
        (MaxSteps(3), "MaxSteps(3)"),
        (MaxTokens(100), "MaxTokens(100)"),
        (MaxCost(0.5), "MaxCost(0.5)"),
        (MaxSeconds(1.5), "MaxSeconds(1.5)"),
        (SameCall(2), "SameCall(2)"),
    ],
)
def test_a_limit_trips_when_it_is_reached_and_names_itself(limit: Limit, name: str) -> None:
    """The log shows which one it was, and how it was set."""
    assert limit.tripped(USED) == name


@pytest.mark.parametrize(
    "limit",
    [MaxSteps(4), MaxTokens(101), MaxCost(0.51), MaxSeconds(1.6), SameCall(3), NO_LIMIT],
)
def test_below_a_limit_nothing_trips(limit: Limit) -> None:
    """One less is still allowed."""
    assert limit.tripped(USED) is None


def test_large_figures_keep_all_their_digits() -> None:
    """A name that a person reads must be the figure that was set."""
    used = Meter(usage=Usage(1_234_567, 0))

    assert MaxTokens(1_234_567).tripped(used) == "MaxTokens(1234567)"


IN, OUT = MaxSteps(3), MaxSteps(4)
ALSO = SameCall(2)


@pytest.mark.parametrize(
    ("limit", "name"),
    [
        (IN | OUT, "MaxSteps(3)"),
        (OUT | IN, "MaxSteps(3)"),
        (OUT | OUT, None),
        (ALSO | IN, "SameCall(2)"),
        (IN & ALSO, "MaxSteps(3) & SameCall(2)"),
        (IN & OUT, None),
        (OUT & IN, None),
        (OUT | IN & ALSO, "MaxSteps(3) & SameCall(2)"),
        ((OUT | IN) & ALSO, "MaxSteps(3) & SameCall(2)"),
        (IN & NO_LIMIT, None),
        (NO_LIMIT | IN, "MaxSteps(3)"),
    ],
)
def test_limits_join_as_either_and_both(limit: Limit, name: str | None) -> None:
    """Either names the first that tripped, both name the two."""
    assert limit.tripped(USED) == name


def test_a_signal_asks_the_outside() -> None:
    """Each time anew."""
    flags = [False, True]
    signal = Signal("maintenance", flags.pop)

    assert signal.tripped(USED) == "Signal(maintenance)"
    assert signal.tripped(USED) is None


def test_limits_are_values() -> None:
    """Equal by what they say; a signal by its name."""
    assert MaxSteps(3) | MaxCost(1) == MaxSteps(3) | MaxCost(1)
    assert len({MaxSteps(3), MaxTokens(3), MaxSteps(3)}) == 2
    assert Signal("x", lambda: True) == Signal("x", lambda: False)


@pytest.mark.parametrize("most", [0, -1, float("nan")])
@pytest.mark.parametrize("kind", [MaxSteps, MaxTokens, MaxCost, MaxSeconds, SameCall])
def test_a_limit_that_would_trip_at_once_is_refused(
    kind: type[MaxSteps | MaxTokens | MaxCost | MaxSeconds | SameCall], most: float
) -> None:
    """Where it is written, by its name."""
    with pytest.raises(DefinitionError, match=f"^{kind.__name__} must be more than 0, not {most}$"):
        kind(most)


def test_going_round_in_circles_trips() -> None:
    """The very same call, three times in a row."""
    circle = [
        event for seq in (3, 5, 7) for event in (replied("", chose(n=1)), failed(call=f"{seq}.0"))
    ]

    assert SameCall(3).tripped(state_of(*SPOKEN, *circle).meter) == "SameCall(3)"
    assert SameCall(3).tripped(state_of(*SPOKEN, *circle[:4]).meter) is None
