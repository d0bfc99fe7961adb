"""Sessions: how they begin, go on and end; and links, which begin them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from agent_core import HandDrivenWorld
from gateway.control.memory import SealedMemory
from gateway.inbox.links import PATH, SECONDS, Links
from gateway.inbox.sessions import IDLE_SECONDS, LONGEST_SECONDS, Sessions, short_name
from storage.memory import MemoryStore

SECRET = b"s" * 32
HOUR = 3600


@pytest.fixture
def world() -> HandDrivenWorld:
    """Give a clock to turn by hand."""
    return HandDrivenWorld()


@pytest.fixture
def store() -> MemoryStore:
    """Give what several machines share."""
    return MemoryStore()


@pytest.fixture
def sessions(store: MemoryStore, world: HandDrivenWorld) -> Sessions:
    """Give the sessions of one machine."""
    return of(store, world)


def of(store: MemoryStore, world: HandDrivenWorld, secret: bytes = SECRET) -> Sessions:
    """Give the sessions of a machine with this secret."""
    memory = SealedMemory(store, "inbox", secret, world=world.world)
    return Sessions(memory, world.world.now)


async def begun(sessions: Sessions, name: str = "otto") -> str:
    """Sign somebody in."""
    return await sessions.begin("email", identity=f"email:{name}@example.com", name=name)


async def test_a_session_is_found_on_every_machine(
    sessions: Sessions, store: MemoryStore, world: HandDrivenWorld
) -> None:
    """With the same secret; with another one nobody is signed in, and nothing breaks."""
    token = await begun(sessions)

    found = await of(store, world).find(token)
    assert found is not None
    assert (found.name, found.how) == ("otto", "email")
    assert await of(store, world, b"x" * 32).find(token) is None


async def test_what_is_kept_opens_nothing(
    sessions: Sessions, store: MemoryStore, world: HandDrivenWorld
) -> None:
    """Neither the secret nor the name stands in the store, and what stands there is no secret."""
    token = await begun(sessions)
    [key] = await store.kept("inbox", now=world.world.now())
    value = await store.recall("inbox", key, now=world.world.now())

    assert token not in key
    assert b"otto" not in (value or b"")
    assert await sessions.find(key.removeprefix("session:")) is None


@pytest.mark.parametrize("token", ["", "guess", "session:", "\0", "é" * 10_000])
async def test_a_forged_cookie_is_nobody(
    sessions: Sessions, store: MemoryStore, token: str
) -> None:
    """Whatever stands in it."""
    await begun(sessions)
    before = dict(store._tables.kept)

    assert await sessions.find(token) is None
    await sessions.end(token)
    assert store._tables.kept == before, "and makes us write nothing"


async def test_a_session_that_nobody_uses_ends(sessions: Sessions, world: HandDrivenWorld) -> None:
    """After half a day; each use gives it half a day more."""
    token = await begun(sessions)
    world.pass_time(IDLE_SECONDS - HOUR)
    assert await sessions.find(token) is not None
    world.pass_time(IDLE_SECONDS - HOUR)
    assert await sessions.find(token) is not None
    world.pass_time(IDLE_SECONDS + 1)

    assert await sessions.find(token) is None


async def test_a_session_ends_after_a_week_however_busy(
    sessions: Sessions, world: HandDrivenWorld
) -> None:
    """Whoever stole one has it for a week at the most."""
    token = await begun(sessions)
    for _ in range(LONGEST_SECONDS // (6 * HOUR) - 1):
        world.pass_time(6 * HOUR)
        assert await sessions.find(token) is not None
    world.pass_time(6 * HOUR)

    assert await sessions.find(token) is None


async def test_a_page_that_is_left_open_uses_nothing(
    sessions: Sessions, world: HandDrivenWorld
) -> None:
    """A look does not make a session longer."""
    token = await begun(sessions)
    world.pass_time(IDLE_SECONDS - HOUR)
    assert await sessions.look(token) is not None
    world.pass_time(HOUR + 1)

    assert await sessions.look(token) is await sessions.find(token) is None


async def test_signing_out_ends_one_session_everywhere(
    sessions: Sessions, store: MemoryStore, world: HandDrivenWorld
) -> None:
    """And no other of the same person."""
    first, second = await begun(sessions), await begun(sessions)
    await sessions.end(first)
    await sessions.end("")

    assert await of(store, world).find(first) is None
    assert await of(store, world).find(second) is not None


class Interrupted(SealedMemory):
    """Lets something happen just before the next thing is kept."""

    between: Callable[[], Awaitable[None]] | None = None

    async def keep(self, key: str, value: bytes | None, *, seconds: float | None = None) -> None:
        """Keep it, after what comes between."""
        between, self.between = self.between, None
        if between is not None:
            await between()
        await super().keep(key, value, seconds=seconds)


async def test_a_use_at_the_same_moment_does_not_undo_signing_out(
    sessions: Sessions, store: MemoryStore, world: HandDrivenWorld
) -> None:
    """Whoever has read the session before it ended must not write it back."""
    token = await begun(sessions)
    world.pass_time(HOUR)
    memory = Interrupted(store, "inbox", SECRET, world=world.world)
    memory.between = lambda: sessions.end(token)

    assert await Sessions(memory, world.world.now).find(token) is None
    assert await sessions.look(token) is None


async def test_sessions_are_listed_and_revoked(sessions: Sessions, world: HandDrivenWorld) -> None:
    """By a short name that opens nothing, or all of a person."""
    tokens = []
    for name in ("otto", "otto", "ann"):
        tokens.append(await begun(sessions, name))
        world.pass_time(1)
    listed = await sessions.listed()

    assert [one.name for _, one in listed] == ["ann", "otto", "otto"]
    assert [short for short, _ in listed] == [short_name(one) for one in reversed(tokens)]
    assert await sessions.revoke(lambda short, _: short == short_name(tokens[0])) == 1
    assert await sessions.revoke(lambda _, one: one.name == "otto") == 1
    assert [one.name for _, one in await sessions.listed()] == ["ann"]


# --- links ----------------------------------------------------------------------------------------


@pytest.fixture
def links(store: MemoryStore, world: HandDrivenWorld) -> Links:
    """Give the links of one machine."""
    return Links(SealedMemory(store, "inbox", SECRET, world=world.world))


async def test_a_link_is_looked_at_often_and_used_once(links: Links) -> None:
    """Programs look at every link in a mail."""
    path = await links.make("email", identity="email:o@x", name="otto", then="/threads")
    token = path.removeprefix(PATH)
    assert await links.look(token) == await links.look(token) is not None

    used = await links.use(token)
    assert used is not None
    assert (used.name, used.then) == ("otto", "/threads")
    assert await links.use(token) is None
    assert await links.look(token) is None


async def test_a_link_ends_after_a_quarter_of_an_hour(links: Links, world: HandDrivenWorld) -> None:
    """Used or not."""
    token = (await links.make("email", identity="i", name="otto")).removeprefix(PATH)
    world.pass_time(SECONDS)

    assert await links.look(token) is None
    assert await links.use(token) is None


async def test_a_link_fits_the_browser_that_asked_for_it(links: Links) -> None:
    """And where none asked, any."""
    bound = await links.look((await links.make("email", identity="i", name="o", browser="b"))[13:])
    free = await links.look((await links.make("key", identity="i", name="o"))[13:])

    assert bound is not None
    assert free is not None
    assert [bound.fits(one) for one in ("b", "other", "")] == [True, False, False]
    assert free.fits("") is free.fits("any") is True


async def test_a_guessed_link_is_none(links: Links, store: MemoryStore) -> None:
    """Not even by what is kept of one."""
    await links.make("email", identity="i", name="otto")
    [key] = [key for _, key in store._tables.kept]

    for guess in ("", "guess", key, key.removeprefix("link:"), "\0"):
        assert await links.look(guess) is None
