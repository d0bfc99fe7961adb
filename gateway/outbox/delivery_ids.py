"""Ids of deliveries: which event each tells of, and whether it goes where the thread began. Pure.

`THREAD.SEQ` is what the place of a thread hears of an event. What others hear of it has more at its
end: `+2` for another address, `>0` for the next address when one has failed, `!0` for the operator.
"""

from __future__ import annotations

import re
from typing import Final

ELSEWHERE: Final = "+"
REROUTED: Final = ">"
OPERATOR: Final = "!"
ABSENT: Final = "+a"
"""For those who turned out not to be there."""

_BASE = re.compile(r"[^+>!]*")


def base(delivery: str) -> str:
    """Give what all deliveries of one event have in common."""
    found = _BASE.match(delivery)
    return found[0] if found else delivery


def is_elsewhere(delivery: str) -> bool:
    """Tell whether it goes to another address than where the thread began."""
    return base(delivery) != delivery


def told_of(delivery: str) -> int:
    """Give the number of the event that it tells of; 0 for what tells of none."""
    number = base(delivery).rpartition(".")[2]
    return int(number) if number.isascii() and number.isdigit() else 0
