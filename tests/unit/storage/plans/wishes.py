"""What people may ask lists for: every mixture of conditions, and what is rare."""

from __future__ import annotations

import itertools

from agent_core.thread.events import Millis
from storage.cursors import write_cursor
from storage.values import Wish

NOW = Millis(30_000)
CURSOR = write_cursor(Millis(19_000), "id 19000")

WISHES = [
    Wish(status=status, agent=agent, requester=requester, cursor=cursor, parties=parties, now=now)
    for status, agent, requester, cursor, parties, now in itertools.product(
        ("", "queued", "open", "failed", "finished"),
        ("", "agent 1"),
        ("", "person 1"),
        ("", CURSOR),
        ((), ("party 1", "party 2")),
        (None, NOW),
    )
]
RARE_THREADS = [
    Wish(status="failed"),
    Wish(status="paused", cursor=CURSOR),
    Wish(status="cancelled", now=NOW),
]
RARE_QUESTIONS = [
    Wish(status="open"),
    Wish(status="open", cursor=CURSOR),
    Wish(status="open", rank=0),
]
