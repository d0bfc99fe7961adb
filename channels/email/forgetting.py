"""Forgetting: what is kept of mail, of a thread that was purged or of somebody who is erased.

Only here is it known under which names mail is kept. Names are digests; what stands in the values
is opened to see whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Final, NamedTuple

import msgspec

from channels.email import archive, conversations
from channels.email.archive import Aside
from channels.email.conversations import Conversation
from channels.email.places import parse_place
from channels.intake import Memory
from channels.recalling import recall_readable

ARCHIVED: Final = ("raw:", "original:", "thread:", "aside:")
"""How the names begin under which the archive keeps mail, and what it knows of it."""
KEPT_SECONDS: Final = archive.KEPT_SECONDS
_HEADERS: Final = 64_000
_FROM: Final = re.compile(rb"^from:[^\n]*(?:\n[ \t][^\n]*)*", re.IGNORECASE | re.MULTILINE)


class Forgotten(NamedTuple):
    """What was forgotten of somebody's mail, and what was not."""

    mails: int
    mentions: int
    """Mails of others that name their address: in To or Cc, or in the text."""


async def forget_thread(memory: Memory, thread: str, places: Iterable[str]) -> int:
    """Forget the mails of a thread and its conversations; tells how many mails."""
    filed = await memory.keys(f"thread:{thread}:")
    for name in filed:
        await memory.keep(f"raw:{name.rpartition(':')[2]}", None)
        await memory.keep(name, None)
    for place in places:
        await memory.keep(conversations.name_of(place), None)
    return len(filed)


async def forget_gone(memory: Memory, is_gone: Callable[[str], Awaitable[bool]]) -> None:
    """Forget mails and conversations of threads that are gone: who purged them was cut off."""
    names: dict[str, list[str]] = {}
    for name in await memory.keys("thread:"):
        names.setdefault(name.removeprefix("thread:").rsplit(":", 2)[0], []).append(name)
    for name in await memory.keys("conversation:"):
        kept = await recall_readable(memory, name)
        thread = msgspec.json.decode(kept, type=Conversation).thread if kept else ""
        names.setdefault(thread, []).append(name)
    for thread, theirs in names.items():
        if thread and await is_gone(thread):
            for name in theirs:
                if name.startswith("thread:"):
                    await memory.keep(f"raw:{name.rpartition(':')[2]}", None)
                await memory.keep(name, None)


async def forget_person(
    memory: Memory, emails: Collection[str], *, dry_run: bool = False
) -> Forgotten:
    """Forget mails that somebody wrote, and that they took part in conversations."""
    wanted = [one.lower().encode() for one in emails]
    if not wanted:
        return Forgotten(0, 0)
    theirs, mentions = await _mails(memory, wanted)
    if not dry_run:
        await _forget_mails(memory, theirs, emails)
        await _leave_conversations(memory, emails)
        await _forget_places(memory, emails)
    return Forgotten(len(theirs), mentions)


async def _mails(memory: Memory, wanted: list[bytes]) -> tuple[set[str], int]:
    """Give the digests of the mails that are from them, and count those that name them."""
    theirs, mentions = set(), 0
    for name in await memory.keys("raw:"):
        raw = (await recall_readable(memory, name) or b"").lower()
        if any(one in sender for one in wanted for sender in _senders(raw)):
            theirs.add(name.partition(":")[2])
        else:
            mentions += any(one in raw for one in wanted)
    return theirs, mentions


def _senders(raw: bytes) -> list[bytes]:
    head = raw[:_HEADERS].replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return _FROM.findall(head)


async def _forget_mails(memory: Memory, digests: set[str], emails: Collection[str]) -> None:
    """Forget mails, where they were filed, and what was put aside."""
    for name in await memory.keys("thread:"):
        if name.rpartition(":")[2] in digests:
            await memory.keep(name, None)
    for name in await memory.keys("original:"):
        if (await recall_readable(memory, name) or b"").decode() in digests:
            await memory.keep(name, None)
    for name in await memory.keys("aside:"):
        note = await recall_readable(memory, name)
        sender = "" if note is None else msgspec.json.decode(note, type=Aside).sender
        if name.partition(":")[2] in digests or sender.lower() in emails:
            await memory.keep(name, None)
    for digest in digests:  # last: what leads to them is found by them, should this be cut off
        await memory.keep(f"raw:{digest}", None)


async def _leave_conversations(memory: Memory, emails: Collection[str]) -> None:
    for name in await memory.keys("conversation:"):
        kept = await recall_readable(memory, name)
        if kept is None:
            continue
        before = msgspec.json.decode(kept, type=Conversation)
        people = tuple(one for one in before.participants if one.email.lower() not in emails)
        if people != before.participants and not people:
            await memory.keep(name, None)  # it was with them alone, and so was its subject
        elif people != before.participants:
            now = msgspec.structs.replace(before, participants=people)
            seconds = conversations.KEPT_SECONDS
            await memory.keep(name, msgspec.json.encode(now), seconds=seconds)


async def _forget_places(memory: Memory, emails: Collection[str]) -> None:
    """Forget which Message-IDs and threads lead to a mailbox of theirs."""
    for name in (*await memory.keys("mail:"), *await memory.keys("with:")):
        kept = await recall_readable(memory, name)
        place = None if kept is None else parse_place(kept.decode(errors="replace"))
        if place is not None and place.email.lower() in emails:
            await memory.keep(name, None)
