"""Where in Slack: addresses and keys as one string, there and back. Pure.

`slack:TEAM:CHANNEL:ROOT_TS` is a conversation (the thread under a message), `slack:TEAM:CHANNEL` a
whole channel, `slack:TEAM:USER` a person, who is reached by a direct message. A part that Slack
could not have given is refused, so that none can pretend to be two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from channels.channel import NoSuchAddress

NAME = "slack"
_ID = re.compile(r"[A-Za-z0-9]{1,40}")
_TS = re.compile(r"[0-9]{1,16}\.[0-9]{1,9}")
_PEOPLE = ("U", "W")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The thread under one message."""

    team: str
    channel: str
    root: str
    """`thread_ts`, or the message's own `ts` where it stands alone; empty: the whole channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody, wherever they are."""

    team: str
    user: str


Place: TypeAlias = Conversation | Person


def conversation(team: str, channel: str, root: str) -> str:
    """Name the thread under a message."""
    return ":".join((NAME, part_id(team), part_id(channel), ts(root)))


def whole_channel(team: str, channel: str) -> str:
    """Name a channel with all its threads: a command is given there, outside of any."""
    return ":".join((NAME, part_id(team), part_id(channel)))


def person(team: str, user: str) -> str:
    """Name somebody: an actor's id, and where a direct message goes."""
    return ":".join((NAME, part_id(team), part_id(user)))


def message_key(team: str, channel: str, ts: str) -> str:
    """Name a message: the same for the mention, for the message, and for each copy of them."""
    return conversation(team, channel, ts)


def parse(address: str) -> Place:
    """Read an address, or say that it names nobody."""
    name, *parts = address.split(":")
    if name != NAME or not all(_is_part(part, number) for number, part in enumerate(parts)):
        raise NoSuchAddress(f"{address!r} is no address in Slack")
    match parts:
        case [team, user] if user.startswith(_PEOPLE):
            return Person(team=team, user=user)
        case [team, channel]:
            return Conversation(team=team, channel=channel, root="")
        case [team, channel, root]:
            return Conversation(team=team, channel=channel, root=root)
        case _:
            raise NoSuchAddress(f"{address!r} is no address in Slack")


class Malformed(ValueError):
    """An id or a time that Slack could not have given."""


def millis(stamp: str) -> int:
    """Give the moment that a message's `ts` names."""
    seconds, _, fraction = ts(stamp).partition(".")
    return int(seconds) * 1000 + int(fraction.ljust(3, "0")[:3])


def _is_part(part: str, number: int) -> bool:
    return bool((_ID if number < 2 else _TS).fullmatch(part))  # noqa: PLR2004 (team, channel, ts)


def part_id(part: str) -> str:
    """Give an id back, if it can be one."""
    if not _ID.fullmatch(part):
        raise Malformed(f"{part!r} is no id of Slack's")
    return part


def ts(part: str) -> str:
    """Give a time back, if it can be one."""
    if not _TS.fullmatch(part):
        raise Malformed(f"{part!r} is no time of Slack's")
    return part
