"""What happened, in order: counted, hashed, and on request told line by line.

Two runs of one seed have the same digest, or something in between has looked at the real clock or
at real chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from hashlib import blake2b


class Trace:
    """The story of one seed."""

    def __init__(self, now: Callable[[], float], tell: Callable[[str], None] | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self._now = now
        self._tell = tell
        self._hash = blake2b(digest_size=16)

    def note(self, who: str, what: str, about: str = "") -> None:
        """Write down that something happened."""
        line = f"{self._now():10.3f}  {who:<10} {what:<22} {about}"
        self._hash.update(line.encode())
        self.counts[what] += 1
        if self._tell is not None:
            self._tell(line)

    def fault(self, who: str, what: str, about: str = "") -> None:
        """Write down what we have broken on purpose."""
        self.faults[what] += 1
        self.note(who, f"! {what}", about)

    def digest(self) -> str:
        """Give one short word for all of it."""
        return self._hash.hexdigest()
