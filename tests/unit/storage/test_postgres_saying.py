"""Hints on their way to other processes: what a notification holds, and when it is said."""

from __future__ import annotations

import asyncio

from storage.errors import StoreUnreachable
from storage.postgres.saying import ANY, Saying, payload, read_hints
from storage.values import Hint

HINTS = [Hint("t1", 3, "finished"), Hint("t2", 1, is_due=False), Hint("deliveries", 0)]


def _all_of(hints: list[Hint]) -> list[tuple[str, int, str, bool]]:
    return [(one.topic, one.seq, one.status, one.is_due) for one in hints]


def test_what_is_written_is_read() -> None:
    """Also how the thread stands, and that nobody can claim it."""
    read = list(read_hints(payload("me", HINTS), voice="somebody else"))

    assert _all_of(HINTS) == _all_of(read)


def test_own_voice_is_not_listened_to() -> None:
    """Whoever said it knows it."""
    assert list(read_hints(payload("me", HINTS), voice="me")) == []


def test_notification_of_code_before_voices_is_read() -> None:
    """While machines are upgraded one by one, both speak."""
    read = list(read_hints("7 t1\n-2 t2\n0 deliveries", voice="me"))

    assert [(one.topic, one.seq, one.is_due) for one in read] == [
        ("t1", 7, True),
        ("t2", 2, False),
        ("deliveries", 0, True),
    ]


def test_more_than_a_notification_holds_becomes_a_call_to_look() -> None:
    """PostgreSQL refuses 8,000 bytes."""
    text = payload("me", [Hint("long" * 60 + str(number), 1) for number in range(60)])

    assert [one.topic for one in read_hints(text)] == [ANY]


async def test_what_gathers_while_one_is_said_is_said_together_with_the_newest_number() -> None:
    """The lock is taken once for all of them."""
    said: list[str] = []
    go_on = asyncio.Event()

    async def notify(text: str) -> None:
        said.append(text)
        await go_on.wait()

    saying = Saying(notify)
    saying.say([Hint("t1", 1)])
    await asyncio.sleep(0)
    for seq in (2, 3):
        saying.say([Hint("t1", seq, "finished"), Hint("t2", seq)])
    go_on.set()
    await saying.finish()

    heard = [[(one.topic, one.seq) for one in read_hints(text)] for text in said]
    assert heard == [[("t1", 1)], [("t1", 3), ("t2", 3)]]


async def test_what_can_not_be_said_is_let_go() -> None:
    """Who polls finds it; and the next is said again."""
    said: list[str] = []

    async def notify(text: str) -> None:
        said.append(text)
        if len(said) == 1:
            raise StoreUnreachable("gone")

    saying = Saying(notify)
    saying.say([Hint("t1", 1)])
    await saying.finish()
    saying.say([Hint("t2", 1)])
    await saying.finish()

    assert [[one.topic for one in read_hints(text)] for text in said] == [["t1"], ["t2"]]


async def test_what_gathers_while_one_fails_is_said_all_the_same() -> None:
    """Somebody's cancel may be among it: it must not wait for the next commit of this process."""
    said: list[str] = []
    broken = asyncio.Event()

    async def notify(text: str) -> None:
        said.append(text)
        if len(said) == 1:
            await broken.wait()
            raise StoreUnreachable("gone")

    saying = Saying(notify)
    saying.say([Hint("t1", 1)])
    await asyncio.sleep(0)
    saying.say([Hint("t2", 1)])
    broken.set()
    await saying.finish()

    assert [one.topic for one in read_hints(said[-1])] == ["t2"]
