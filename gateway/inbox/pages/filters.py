"""Which threads somebody wants to see: what a query says, and whether a thread fits it. Pure.

Searched are a thread's id, its key, its agent, who began it, where, and its title: the beginning of
the first message. Not the whole log: that would mean reading every event of every thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, get_args
from urllib.parse import urlencode

from msgspec import Struct

from agent_core.thread.events import Millis
from gateway.control.views import ThreadStatus
from gateway.inbox.pages.texts import millis

STATUSES: Final[tuple[str, ...]] = get_args(ThreadStatus)
CHANNELS: Final = ("slack", "email", "webhook", "web")
_MOST: Final = 200


class Fitting(Struct, frozen=True, kw_only=True, gc=False):
    """What a filter looks at of a thread."""

    id: str
    key: str
    agent: str
    requester: str
    name: str
    """Who the requester is, as people know them."""
    origin: str
    title: str
    created_at: Millis


class Filter(Struct, frozen=True, kw_only=True, gc=False):
    """What was asked for; empty stands for all."""

    status: str = ""
    agent: str = ""
    person: str = ""
    channel: str = ""
    since: str = ""
    until: str = ""
    words: str = ""
    cursor: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left out."""
        return self == Filter(cursor=self.cursor)

    @property
    def since_ms(self) -> Millis | None:
        """From when on."""
        return _day(self.since)

    @property
    def until_ms(self) -> Millis | None:
        """Until when: the end of that day."""
        return _day(self.until, plus=1)

    def fits(self, thread: Fitting) -> bool:
        """Tell whether a thread is one of those; status and agent are the store's to compare."""
        if self.channel and thread.origin.partition(":")[0] != self.channel:
            return False
        if self.person and not _has(self.person, (thread.requester, thread.name)):
            return False
        if self.since_ms is not None and thread.created_at < self.since_ms:
            return False
        if self.until_ms is not None and thread.created_at >= self.until_ms:
            return False
        return not self.words or _has_all(self.words, thread)

    def query(self, **other: str) -> str:
        """Write it as a query, with something else in place of what it says."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        values["q"] = values.pop("words")
        return urlencode({name: one for name, one in {**values, **other}.items() if one})


def read_filter(query: Mapping[str, str]) -> tuple[Filter, tuple[str, ...]]:
    """Read a query, and what of it makes no sense; that part is left out, and told."""
    troubles: list[str] = []

    def take(name: str, is_good: Callable[[str], bool], trouble: str) -> str:
        value = query.get(name, "").strip()[:_MOST]
        if value and not is_good(value):
            troubles.append(trouble)
            return ""
        return value

    day = "is a day, such as 2026-11-16"
    return Filter(
        status=take("status", STATUSES.__contains__, f"A status is one of {', '.join(STATUSES)}."),
        agent=take("agent", bool, ""),
        person=take("person", bool, ""),
        channel=take("channel", CHANNELS.__contains__, f"Channels are {', '.join(CHANNELS)}."),
        since=take("since", lambda one: _day(one) is not None, f"“From” {day}."),
        until=take("until", lambda one: _day(one) is not None, f"“To” {day}."),
        words=take("q", bool, ""),
        cursor=query.get("cursor", "")[:500],
    ), tuple(troubles)


def _day(text: str, plus: int = 0) -> Millis | None:
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        return millis(day + timedelta(days=plus))
    except (ValueError, OverflowError):
        return None


def _has(part: str, texts: tuple[str, ...]) -> bool:
    return any(part.casefold() in one.casefold() for one in texts)


def _has_all(words: str, thread: Fitting) -> bool:
    texts = (thread.id, thread.key, thread.title, thread.requester, thread.name, thread.agent)
    whole = "\n".join(texts).casefold()
    return all(word in whole for word in words.casefold().split())
