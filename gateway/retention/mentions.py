"""Where somebody still occurs: in what others wrote, in a model's words, in arguments. Pure.

Nobody can find every mention. So what is found is counted and told, thread by thread, and a person
decides; nothing is changed in words that are not theirs.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gateway.retention.persona import Persona
from storage.sealed import SealedLog

_SHORTEST_QUOTE = 20
"""Shorter texts, such as "yes, please", are anybody's."""


class Mentions:
    """Counts them."""

    def __init__(self, them: Persona) -> None:
        """Look for one person."""
        self._them = them
        self._quotes: dict[str, set[str]] = {}

    def remember(self, thread: str, texts: Iterable[str]) -> None:
        """Look for these texts of theirs, too, in that thread: a tool may have repeated them."""
        long = {_spelled(one) for one in texts if len(one) >= _SHORTEST_QUOTE}
        self._quotes.setdefault(thread, set()).update(long)

    def count(self, log: SealedLog) -> int:
        """Count in how many places of a thread they are named or quoted."""
        quotes = self._quotes.get(log.thread, ())
        rows = [*(one.body for one in log.events), *(one.body for one in log.deliveries)]
        bodies = (row.decode(errors="replace") for row in rows)
        return sum(
            self._them.occurrences(body) + sum(body.count(one) for one in quotes) for body in bodies
        )


def may_name(log: SealedLog, them: Persona) -> bool:
    """Tell whether a thread can have anything of theirs in it: most have not."""
    rows = [*(one.body for one in log.events), *(one.body for one in log.deliveries)]
    addresses = (one.address for one in log.deliveries)
    text = "\n".join((b"\n".join(rows).decode(errors="replace"), *addresses)).casefold()
    return any(_spelled(one) in text for one in them.identities)


def _spelled(text: str) -> str:
    """Write a text as it stands within JSON."""
    return msgspec.json.encode(text)[1:-1].decode()
