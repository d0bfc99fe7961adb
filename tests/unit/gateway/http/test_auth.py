"""Keys: who asks, and what may they."""

from __future__ import annotations

import asyncio

import pytest

from agent_core.thread.events import Millis
from gateway.control.keys import new_key
from gateway.http.auth import KeyRing, require_scope
from gateway.http.options import HttpOptions
from gateway.http.problems import Problem
from storage.values import ApiKey


class Keys:
    """Knows some keys, and counts how often it was asked."""

    def __init__(self, *keys: ApiKey) -> None:
        self.keys = {key.hash: key for key in keys}
        self.asked = 0
        self.at_once = 0
        self.most_at_once = 0

    async def key_by_hash(self, digest: str) -> ApiKey | None:
        """Find a key."""
        self.asked += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return self.keys.get(digest)


class Clock:
    """A clock driven by hand."""

    now = 0.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


TEXT, KEY = new_key("ci", ["launch"], now=Millis(0))


async def refusal(ring: KeyRing, header: str, address: str = "1.2.3.4") -> Problem:
    """Give the problem that a header gets."""
    with pytest.raises(Problem) as caught:
        await ring.owner(header, address)
    return caught.value


async def test_a_key_is_found_by_its_hash_and_believed_for_a_moment() -> None:
    """The scheme's name may be written in any case."""
    keys, clock = Keys(KEY), Clock()
    ring = KeyRing(keys, HttpOptions(), clock=clock)

    assert [await ring.owner(f"{name} {TEXT}", "") for name in ("Bearer", "bearer")] == [KEY, KEY]
    assert keys.asked == 1


async def test_a_revoked_key_is_refused_within_a_second() -> None:
    """Nobody is believed for longer."""
    keys, clock = Keys(KEY), Clock()
    ring = KeyRing(keys, HttpOptions(), clock=clock)
    await ring.owner(f"Bearer {TEXT}", "")
    keys.keys.clear()
    clock.now += 1

    assert (await refusal(ring, f"Bearer {TEXT}")).kind.status == 401
    assert not await ring.is_valid(KEY)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic dXNlcjpwYXNz",
        "Bearer a b",
        f"Bearer {'x' * 300}",
        "Bearer ü",
    ],
)
async def test_a_header_that_holds_no_key_is_not_looked_up(header: str) -> None:
    """It is told how a key is sent."""
    keys = Keys(KEY)
    problem = await refusal(KeyRing(keys, HttpOptions()), header)

    assert problem.kind.status == 401
    assert problem.headers["WWW-Authenticate"] == 'Bearer realm="parley"'
    assert keys.asked == 0


async def test_a_strangers_guesses_never_lock_out_a_real_key() -> None:
    """Not even from the same address, as behind one proxy."""
    ring = KeyRing(Keys(KEY), HttpOptions(failures_burst=3), clock=Clock())
    statuses = [(await refusal(ring, f"Bearer guess{n}")).kind.status for n in range(5)]

    assert statuses == [401, 401, 401, 429, 429]
    assert await ring.owner(f"Bearer {TEXT}", "1.2.3.4") == KEY


async def test_guesses_queue_up_before_the_store() -> None:
    """A flood of them takes a bounded share of it, and no memory is kept for any."""
    keys = Keys(KEY)
    ring = KeyRing(keys, HttpOptions())
    await asyncio.gather(*(refusal(ring, f"Bearer guess{n}") for n in range(100)))

    assert keys.most_at_once <= 16
    assert not ring._believed


def test_any_one_of_the_scopes_is_enough_and_admin_has_them_all() -> None:
    """A refusal names what is missing."""
    _, admin = new_key("root", ["admin"], now=Millis(0))
    require_scope(KEY, ("read", "launch"))
    require_scope(admin, ("control",))

    with pytest.raises(Problem) as caught:
        require_scope(KEY, ("read", "answer"))
    assert caught.value.kind.status == 403
    assert caught.value.members == {"missing_scope": ["read", "answer"]}
    assert "read or answer" in caught.value.detail
