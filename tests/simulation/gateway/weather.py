"""The weather of one seed: which faults it has, and how bad. Drawn once, then a plain value.

Not every seed has every fault ("swarm testing"): where all is broken all the time, what needs two
calm minutes and one crash is never reached.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random


@dataclass(frozen=True, kw_only=True)
class Weather:
    """Chances are of one call or one message; times are mean seconds between two, 0 for never."""

    store_loses: float = 0.0
    store_slow: float = 0.0
    hints_lost: float = 0.0
    hints_odd: float = 0.0
    """Late, or twice."""
    posts_lost: float = 0.0
    copies: float = 0.0
    """Of what comes in: delivered again, though it was acknowledged."""
    crashes: float = 0.0
    freezes: float = 0.0
    jumps: float = 0.0
    cuts: float = 0.0
    bounces: float = 0.0
    gone: float = 0.0
    """Whether somebody's address is nobody's."""
    outages: float = 0.0
    restarts: float = 0.0
    model: float = 0.0
    tools: float = 0.0
    operators: float = 0.0

    @property
    def kinds(self) -> list[str]:
        """Name what there is of it."""
        return [name for name, value in vars(self).items() if value]


CALM = Weather()

_BAD: dict[str, tuple[float, ...]] = {
    "store_loses": (0.003, 0.01, 0.03),
    "store_slow": (0.02, 0.1),
    "hints_lost": (0.05, 0.5, 1.0),
    "hints_odd": (0.1, 0.5),
    "posts_lost": (0.03, 0.15),
    "copies": (0.2, 0.5),
    "bounces": (0.1, 0.3),
    "gone": (1.0,),
    "crashes": (15.0, 40.0, 90.0),
    "freezes": (30.0, 90.0),
    "jumps": (40.0, 120.0),
    "cuts": (40.0, 120.0),
    "outages": (60.0, 150.0),
    "restarts": (40.0, 120.0),
    "model": (0.1, 0.3),
    "tools": (0.1, 0.3),
    "operators": (15.0, 40.0),
}


def draw(chance: Random) -> Weather:
    """Draw the weather of a seed: each fault in about half of them."""
    return replace(
        CALM, **{name: chance.choice(how) for name, how in _BAD.items() if chance.random() < 0.55}
    )
