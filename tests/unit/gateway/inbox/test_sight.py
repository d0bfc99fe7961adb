"""Who sees what, and may do what to it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core import HandDrivenWorld
from channels.people import Actor
from gateway.control.service import NotFound
from gateway.inbox.sight import Sight
from gateway.inbox.visitor import Visitor, scopes_of
from gateway.people.directory import Directory
from gateway.settings.config import Person
from storage.errors import BadCursor
from storage.memory import MemoryStore
from storage.values import Scope, Wish
from tests.contract.stores.rows import committed, later, launching, question

PEOPLE = Directory(
    (
        Person(name="ann", email=("ann@example.com",)),
        Person(name="otto", slack=("T1:U2",), roles=("Approver",)),
        Person(name="oda", roles=("operator",)),
        Person(name="root", roles=("admin",)),
    )
)


def person(name: str) -> Visitor:
    """Sign a person in."""
    found = PEOPLE.person(Actor(id=name))
    assert found is not None
    return Visitor(kind="person", name=name, person=found, scopes=scopes_of(found))


def key(*scopes: Scope, name: str = "ci") -> Visitor:
    """Sign in with a key."""
    listed = PEOPLE.person(Actor(id=name))
    return Visitor(kind="key", name=name, scopes=frozenset(scopes), person=listed)


@pytest.fixture
async def sight() -> Sight:
    """Three threads: of ann, who asks the approvers; of otto; and of a program."""
    store = MemoryStore()
    await store.open()
    body = {"prompt": "?", "thread_id": "t1", "kind": "text", "settled_at": None}
    asking = [
        replace(
            question(name, thread=f"t{at}", asked_at=later(at)),
            asked=tuple(one.casefold() for one in audience),
            rank=rank,
            body={**body, "id": name, "status": "open", "asked_at": later(at), "expires_at": None}
            | {"audience": audience, "thread_id": f"t{at}"},
        )
        for name, at, audience, rank in (
            ("q1", 1, ["approver"], 1),
            ("q2", 2, ["slack:T1:U2"], 0),
            ("q3", 3, ["ci"], 1),
        )
    ]
    who = (("ann@example.com", "approver"), ("slack:t1:u2",), ())
    for number, (row, parties) in enumerate(zip(asking, who, strict=True), start=1):
        launch = launching(f"t{number}", requester=parties[0] if parties else "ci")
        await committed(store, replace(launch, now=later(number), parties=parties, questions=[row]))
    return Sight(store, PEOPLE, HandDrivenWorld().world)


async def threads(sight: Sight, visitor: Visitor) -> list[str]:
    """Name the threads that somebody sees."""
    return [one.id for one in (await sight.threads(visitor)).items]


async def questions(sight: Sight, visitor: Visitor, limit: int = 50) -> list[str]:
    """Name the questions that wait for somebody, all pages of them."""
    found, cursor = [], ""
    while True:
        page = await sight.questions(visitor, cursor=cursor, limit=limit)
        found += [one.id for one in page.items]
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


async def test_people_see_what_they_have_a_part_in(sight: Sight) -> None:
    """What they began, and what they are asked, also by a role or as who they are in Slack."""
    assert await threads(sight, person("ann")) == ["t1"]
    assert await threads(sight, person("otto")) == ["t2", "t1"]
    assert await questions(sight, person("otto")) == ["q2", "q1"]
    assert await questions(sight, person("ann")) == []


@pytest.mark.parametrize("name", ["oda", "root"])
async def test_operators_see_everything(sight: Sight, name: str) -> None:
    """The urgent first, then the oldest; in pages of any size."""
    assert await threads(sight, person(name)) == ["t3", "t2", "t1"]
    for limit in (1, 2, 50):
        assert await questions(sight, person(name), limit) == ["q2", "q1", "q3"]


async def test_a_key_sees_what_its_scopes_show(sight: Sight) -> None:
    """As over the API: without `read` no threads, with `answer` the questions."""
    assert await threads(sight, key("read")) == ["t3", "t2", "t1"]
    assert await threads(sight, key("answer")) == []
    assert await questions(sight, key("answer")) == ["q2", "q1", "q3"]
    assert await questions(sight, key("launch")) == []
    assert await threads(sight, key("admin")) == ["t3", "t2", "t1"]


async def test_nobody_sees_nothing(sight: Sight) -> None:
    """Also one by one."""
    assert await threads(sight, Visitor()) == await questions(sight, Visitor()) == []
    assert not await sight.may_see(Visitor(), "t1")


async def test_what_is_not_theirs_is_as_if_it_were_not_there(sight: Sight) -> None:
    """Nobody learns which ids there are; whoever sees a thread sees its questions."""
    assert (await sight.thread(person("ann"), "t1")).id == "t1"
    assert (await sight.question(person("ann"), "q1")).id == "q1"
    for visitor, name in ((person("ann"), "t2"), (person("otto"), "t3"), (person("root"), "t9")):
        with pytest.raises(NotFound, match="There is no thread"):
            await sight.thread(visitor, name)
    with pytest.raises(NotFound, match="There is no question"):
        await sight.question(person("ann"), "q2")


async def test_who_sees_need_not_be_who_may(sight: Sight) -> None:
    """Only those who are asked answer, and only who began it or an operator steers."""
    asked = await sight.question(person("root"), "q1")
    assert sight.may_answer(person("otto"), asked)
    assert not sight.may_answer(person("ann"), asked)
    assert not sight.may_answer(person("root"), asked)
    assert sight.may_answer(key("answer"), asked)
    assert not sight.may_answer(key("read"), asked)
    assert not sight.may_answer(key("answer", name="ann"), asked)
    thread = await sight.thread(person("root"), "t1")
    assert [sight.may_control(person(name), thread) for name in ("ann", "otto", "oda", "root")] == [
        True,
        False,
        True,
        True,
    ]
    assert sight.may_control(key("control"), thread)
    assert not sight.may_control(key("read"), thread)
    assert not sight.may_control(Visitor(), thread)


@pytest.mark.parametrize("cursor", ["7.x", "x", "0", "-1.", "1.nonsense"])
async def test_a_cursor_from_elsewhere_is_told(sight: Sight, cursor: str) -> None:
    """It is the address bar of a browser: anything may stand there."""
    with pytest.raises(BadCursor):
        await sight.questions(person("root"), cursor=cursor)


async def test_rows_are_chosen_within_ones_own(sight: Sight) -> None:
    """What a page wishes for does not widen what somebody sees."""
    page = await sight.rows(person("ann"), Wish(agent="support"))

    assert [row.id for row in page.items] == ["t1"]
