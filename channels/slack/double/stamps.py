"""Ids and timestamps of Slack's form, none twice.

A message's `ts` is its id within the channel, and it sorts: that is why the clock may stand still
here but never go back.
"""

from __future__ import annotations

import itertools
import secrets
import string
from collections.abc import Callable

_MILLION = 1_000_000
_STEP = 100
"""Microseconds between two stamps of a clock that stands still."""
_ALPHABET = string.ascii_uppercase + string.digits


class Stamps:
    """Gives out ids; the only place that asks for the time or for chance."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._last = 0
        # An app that outlives the double must not take a new event for one that it knows.
        self._counter = itertools.count(secrets.randbits(44))

    def ts(self) -> str:
        """Give a timestamp later than every one before: `1700000000.000100`."""
        self._last = max(int(self.clock() * _MILLION), self._last + _STEP)
        return f"{self._last // _MILLION}.{self._last % _MILLION:06d}"

    def now(self) -> int:
        """Give the time in whole seconds."""
        return int(self.clock())

    def id(self, prefix: str) -> str:
        """Give an id like `Ev08MFMKH6A1`: a letter or two, then a number nobody has had."""
        digits, number = "", next(self._counter)
        while number:
            number, digit = divmod(number, len(_ALPHABET))
            digits = _ALPHABET[digit] + digits
        return f"{prefix}0{digits.rjust(9, '0')}"

    def secret(self) -> str:
        """Give what nobody can guess."""
        return secrets.token_hex(16)

    def trigger(self) -> str:
        """Give a trigger id: `13345224609.738474920.8088930838d88f008e0…`."""
        return f"{self.now()}.{next(self._counter)}.{self.secret()}"

    def block_id(self) -> str:
        """Give the id of a block that came without one."""
        return secrets.token_urlsafe(4)[:5]
