"""Whatever somebody did in a thread: erased, nothing of theirs is left, all else is as it was."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_core.thread import events as ev
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.fold import fold
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState
from channels.recording import DictMemory
from gateway.audit.beginning import begin
from gateway.audit.paper import read_paper
from gateway.audit.verification import compare, marks_of, verify_store
from gateway.retention.erasing import Erasing, Order
from gateway.retention.persona import identities_of
from gateway.settings.config import Person
from gateway.work.threads import commit_import
from storage.postgres import PostgresStore
from storage.seals import fault
from storage.sqlite import SqliteStore
from storage.store import Store
from storage.values import Commit, DeliveryId, InboxKey, NewDelivery, NewThread
from tests.doubles.postgres import postgres_url, upgraded
from tests.doubles.seals import seal
from tests.unit.agent_core.thread.stories import STORIES
from tests.unit.agent_core.thread.walks import histories
from tests.unit.gateway.audit.ledger import exported

NOW = Millis(1_900_000_000_000)
ADA = Person(name="adalovelace", slack=("T1:U7ADA",), email=("ada@example.com",))
IDENTITIES = ("adalovelace", "slack:T1:U7ADA", "email:ada@example.com", "ada@example.com")
SECRET = "secretwords"
THREAD = ThreadId("th_1")
WORDS = (SECRET, "ada@example", "u7ada", "adalovelace")
"""Nothing of this may be left."""


def as_ada(events: Sequence[Event], pick: Sequence[int]) -> list[Event]:
    """Let Ada do all that "ada" did, by any of her accounts, and say things that nobody repeats."""
    numbers, choices = count(), cycle(pick)
    asked = {e.question.id: e.question.kind for e in events if isinstance(e, ev.QuestionAsked)}

    def who() -> str:
        return IDENTITIES[next(choices) % 4]

    def words(old: str) -> str:
        return f'{SECRET} {next(numbers)} ä"' if old else old

    def told(event: Event) -> Event:
        match event:
            case ev.ThreadLaunched():
                return replace(
                    event,
                    thread=THREAD,
                    requester="slack:T1:U7ADA",
                    person="adalovelace",
                    origin="slack:T1:D9:1.2",
                    watchers=("email:ada@example.com:0123456789abcdef",),
                    metadata={"for": "adalovelace", "of": ["x", {"ada@example.com": 1}]},
                )
            case ev.MessageReceived(sender="ada"):
                file = ev.Attachment(name=words("x"), text=words("x"))
                return replace(
                    event, sender=who(), text=words("x"), attachments=(file,), others=(who(),)
                )
            case ev.QuestionAsked(question=question):
                return replace(event, question=replace(question, to=("leads", who())))
            case ev.QuestionAnswered(by="ada") | ev.VoteCast(by="ada"):
                value = words("x") if asked[event.question] == "text" else event.value
                return replace(
                    event,
                    by=who(),
                    person="adalovelace",
                    comment=words("x"),
                    how="dmarc example.com",
                    value=value,
                )
            case ev.ThreadPaused(by="ada") | ev.ThreadCancelled(by="ada"):
                return replace(event, by=who(), reason=words("x"))
            case ev.QuestionEscalated():
                return replace(event, to=(who(),))
            case _:
                return event

    return [told(event) for event in events]


def shape(state: ThreadState) -> object:
    """Give all that a thread is about, but for words and names."""
    return (
        state.lifecycle,
        [(key, call.status, call.tool) for key, call in state.calls.items()],
        [(key, one.status, one.settled_at, len(one.votes)) for key, one in state.questions.items()],
        len(state.entries),
    )


async def written(store: Store, events: list[Event]) -> None:
    """Write the thread, and all that hangs on it."""
    await begin(store, seal, now=NOW)
    new = NewThread(
        agent="agent",
        origin="slack:T1:D9:1.2",
        requester="slack:T1:U7ADA",
        thread_key="for ada@example.com",
    )
    await commit_import(store, events, now=NOW, create=new)
    addresses = ("slack:T1:U7ADA", "slack:T1:D9:1.2", "email:ada@example.com:0123456789abcdef", "x")
    deliveries = [
        NewDelivery(
            id=DeliveryId(f"d{number}"),
            address=address,
            body={"kind": "thread.finished", "text": f"{SECRET} d" if number < 3 else "fine"},
            due_at=NOW,
            question=QuestionId("q1"),
        )
        for number, address in enumerate(addresses)
    ]
    body = {"kind": "question.escalated", "to": ["slack:T1:U7ADA", "bob"]}
    deliveries.append(replace(deliveries[3], id=DeliveryId("d9"), body=body))
    await store.commit(
        Commit(
            thread=THREAD,
            now=NOW,
            deliveries=deliveries,
            places=["email:ada@example.com:0123456789abcdef", "slack:T1:D9:1.2", "slack:T1:C1:3"],
            inbox=InboxKey(source="api:adalovelace", key="1"),
            parties=["slack:t1:u7ada", "email:ada@example.com", "bob"],
        )
    )


async def erased(store: Store) -> str:
    """Erase her, and give what stands in her place."""
    erasing = Erasing(store, seal, DictMemory())
    them = await erasing.find(identities_of("adalovelace", [ADA]))
    report = await erasing.carry_out(Order(them=them, by="cli"))
    assert report.done
    assert report.left == []
    return report.name


def everything(path: Path) -> str:
    """Give the file, byte by byte, in lower case."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM places").fetchone() == (1,)
    files = (path, path.with_name(f"{path.name}-wal"))
    return b"".join(one.read_bytes() for one in files if one.exists()).decode("latin-1").lower()


@settings(max_examples=25, deadline=None)
@given(histories(), st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_nothing_of_somebody_erased_is_left_and_the_thread_is_as_it_was(
    history: list[Event], pick: list[int]
) -> None:
    """Not a word in the database's files; the same shape, chain and export fit."""
    events = as_ada(history, pick)

    async def story(path: Path) -> None:
        store = SqliteStore(path, seal=seal)
        await store.open()
        await written(store, events)
        before = list(read_paper((await exported(store)).splitlines(), seal))
        name = await erased(store)
        log = await store.audit().log(THREAD)
        report = await verify_store(store, seal, now=NOW)
        left = await store.events(THREAD)

        assert log is not None
        assert (fault(seal, log), report.findings) == ("", [])
        assert await compare(before, marks_of(store, seal), seal) == []
        assert [one.at for one in left[:-1]] == [one.at for one in events]
        assert [type(one) for one in left[:-1]] == [type(one) for one in events]
        assert shape(fold(left)) == shape(fold(events))
        assert fold(left).requester == fold(left).requester_person == name
        assert left[-1].at > 0
        assert await erased(store) == name  # again: nothing is left to do
        assert await store.events(THREAD) == left
        for number, event in enumerate(log.events):
            forged = event._replace(body=event.body[:-1] + b" }")
            rows = [*log.events[:number], forged, *log.events[number + 1 :]]
            assert fault(seal, replace(log, events=rows))
        await store.close()

    with TemporaryDirectory() as folder:
        path = Path(folder) / "parley.db"
        asyncio.run(story(path))
        found = everything(path)
    assert [word for word in WORDS if word in found] == []


async def test_on_postgresql_nothing_is_left_in_any_column_of_any_table() -> None:
    """The same story there, in all that a SELECT can see."""
    events = as_ada(STORIES["voted"], [0, 1, 2, 3])
    async with postgres_url(upgraded) as url:
        store = PostgresStore(url, seal=seal)
        await store.open()
        await written(store, events)
        name = await erased(store)
        report = await verify_store(store, seal, now=NOW)
        left = fold(await store.events(THREAD))
        await store.close()
        connection = await asyncpg.connect(url)
        tables = await connection.fetch(_TABLES)
        rows = [
            str(tuple(row))
            for table in tables
            for row in await connection.fetch(f"SELECT * FROM {table['name']}")  # noqa: S608 (our own tables)
        ]
        await connection.close()

    assert report.findings == []
    assert left.requester == name
    assert shape(left) == shape(fold(events))
    assert [word for word in WORDS if word in "\n".join(rows).lower()] == []
    assert len(rows) > len(events)


_TABLES = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
