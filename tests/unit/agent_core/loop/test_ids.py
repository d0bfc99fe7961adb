"""Ids: none twice, in whatever thread or process, and few draws."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from agent_core.loop.ids import Ids


def counted() -> Iterator[bytes]:
    """Give bytes that never repeat."""
    return (number.to_bytes(5, "big") for number in count())


def test_many_ids_cost_few_draws() -> None:
    """A thousand ids are two draws, and each says what it names."""
    draws: list[int] = []
    numbers = counted()

    def draw(size: int) -> bytes:
        draws.append(size)
        return b"".join(next(numbers) for _ in range(size // 5))

    ids = Ids(draw)
    made = {ids.new("q") for _ in range(1000)}

    assert len(made) == 1000
    assert all(len(one) == 23 and one.startswith("q_") for one in made)
    assert draws == [2560, 2560]


def test_later_ids_sort_after_earlier_ones() -> None:
    """Whatever chance says: their rows lie side by side."""
    times = count(1_794_809_668_787_000_000, 1_000_000)
    ids = Ids(lambda size: bytes(range(255, -1, -1)) * (size // 256), lambda: next(times))

    assert ids.new("th") < ids.new("th")


def test_threads_that_draw_at_once_get_ids_of_their_own() -> None:
    """No id is given to two of them."""
    ids = Ids()
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: [ids.new("th") for _ in range(2000)], range(8)))

    assert len({one for several in made for one in several}) == 16_000


def test_child_of_a_fork_draws_anew() -> None:
    """What the parent has drawn and not used is the parent's."""
    ids = Ids()
    ids.new("q")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, ids.new("q").encode())
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(reading, 100).decode() != ids.new("q")
