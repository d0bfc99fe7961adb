"""A customer who asks until the server has answered, and keeps what it has promised.

Every request that changes something is sent again after a lost connection, as it was; what came
back is an acknowledgement, and has to be true for ever after.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import aiohttp

from tests.scenario.gateway.killable_server import KillableServer

_BETWEEN_TRIES = 0.02
_ENDED = ("finished", "failed", "cancelled")
_OUTCOMES = ("QuestionAnswered", "QuestionExpired", "QuestionWithdrawn")


@dataclass
class Promises:
    """What the server has acknowledged of one story."""

    thread: str
    messages: list[str]
    answers: dict[str, Any] = field(default_factory=dict)
    status: str = ""
    result: str | None = None


class Front(Protocol):
    """What a caller must know of a server: where it is, and whose key opens it."""

    @property
    def url(self) -> str:
        """Where it listens."""
        ...

    key: str


_Front = TypeVar("_Front", bound=Front)


@dataclass
class Caller(Generic[_Front]):
    """Somebody with a key, a connection and patience."""

    server: _Front
    session: aiohttp.ClientSession
    lost: int = 0
    refused: Counter[int] = field(default_factory=Counter)
    """How often it was told to come again."""

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str = "",
        or_else: Collection[int] = (),
    ) -> Any:  # noqa: ANN401 (any JSON)
        """Ask until there is an answer: a success, or the problem that may be."""
        headers = {"Authorization": f"Bearer {self.server.key}"}
        headers |= {"Idempotency-Key": key} if key else {}
        while True:
            url = f"{self.server.url}{path}"
            try:
                async with self.session.request(method, url, json=body, headers=headers) as got:
                    told, status = await got.json(content_type=None), got.status
            except (aiohttp.ClientError, TimeoutError, ConnectionError):
                self.lost += 1
                await asyncio.sleep(_BETWEEN_TRIES)
                continue
            if status in {429, 503}:
                self.refused[status] += 1
                await asyncio.sleep(_BETWEEN_TRIES)
                continue
            assert status in {200, 201, *or_else}, (method, path, told)
            return told


@dataclass
class Customer(Caller[KillableServer]):
    """A caller who tells a story, and remembers it."""

    async def tell(self, order: str) -> Promises:
        """Launch, say something more, answer and approve, until it is over."""
        body = {"agent": "desk", "text": order}
        thread = await self.call("POST", "/v1/threads", body, key=f"launch-{order}")
        made = Promises(str(thread["id"]), [order])
        path = f"/v1/threads/{made.thread}"
        more = f"{order} is urgent"
        await self.call("POST", f"{path}/messages", {"text": more}, key=f"more-{order}")
        made.messages.append(more)
        while thread["status"] not in _ENDED:
            for question in thread["questions"]:
                made.answers[question["id"]] = await self._answer(question)
            thread = await self.call("GET", f"{path}?wait=5")
        made.status, made.result = thread["status"], thread["result"]
        return made

    async def _answer(self, question: Mapping[str, Any]) -> object:
        value = self._decide(question)
        path = f"/v1/questions/{question['id']}"
        told = await self.call("POST", f"{path}/answer", {"value": value}, or_else={409})
        if told.get("status") == 409:  # by ourselves, with an acknowledgement that was lost
            told = await self.call("GET", path)
        assert told["status"] == "answered"
        assert told["answered_by"] == "otto"
        return told["answer"]

    def _decide(self, question: Mapping[str, Any]) -> object:
        """Approve everything; of a call that was cut off, look in the ledger what it did."""
        if "it_happened" in [option["name"] for option in question["options"]]:
            wanted = [question["tool"], question["arguments"]["order"]]
            ran = [line for line in self.server.lines("ledger.txt") if line.split()[:2] == wanted]
            return "it_happened" if ran else "run_again"
        return {"approved": True} if question["kind"] == "approval" else "account 7"

    async def check(self, order: str, made: Promises) -> None:
        """Hold the server to its promises, by its log and by what the tools have done."""
        page = await self.call("GET", f"/v1/threads/{made.thread}/events?limit=1000")
        log = page["items"]
        assert [event["seq"] for event in log] == list(range(1, len(log) + 1))
        assert (made.status, made.result) == ("finished", f"done {order}"), log
        said = [event["text"] for event in log if event["type"] == "MessageReceived"]
        assert sorted(said) == sorted(made.messages)
        self._check_questions(log, made)
        _check_repeats(log)
        self._check_effects(order, made)
        self._check_deliveries(log, made)

    def _check_questions(self, log: list[Any], made: Promises) -> None:
        """Each question has one outcome; each acknowledged answer is it."""
        asked = [one["question"]["id"] for one in log if one["type"] == "QuestionAsked"]
        settled = [one["question"] for one in log if one["type"] in _OUTCOMES]
        assert sorted(asked) == sorted(settled)
        answers = {
            one["question"]: one["value"] for one in log if one["type"] == "QuestionAnswered"
        }
        assert answers == made.answers
        index = self.server.rows("SELECT id, status FROM questions WHERE thread = ?", made.thread)
        assert dict(index) == dict.fromkeys(asked, "answered")

    def _check_effects(self, order: str, made: Promises) -> None:
        """What was approved has happened once, for this thread and under one key."""
        lines = [line.split() for line in self.server.lines("ledger.txt")]
        mine = [(tool, thread) for tool, of, thread, _ in lines if of == order]
        assert sorted(mine) == [("book", made.thread), ("pay", made.thread)]

    def _check_deliveries(self, log: list[Any], made: Promises) -> None:
        """All that people must hear is in the outbox once."""
        told = ("QuestionAsked", *_OUTCOMES, "ThreadFinished", "ThreadFailed")
        expected = [f"{made.thread}.{event['seq']}" for event in log if event["type"] in told]
        found = self.server.rows(
            "SELECT id FROM deliveries WHERE thread = ? ORDER BY n", made.thread
        )
        assert [row[0] for row in found] == expected


def _check_repeats(log: list[Any]) -> None:
    """A call that was started is started again only if a person has said so."""
    chosen = {
        f"{event['seq']}.{place}": one["tool"]
        for event in log
        if event["type"] == "ModelReplied"
        for place, one in enumerate(event.get("calls", ()))
    }
    asked = {
        one["question"]["id"]: one["question"] for one in log if one["type"] == "QuestionAsked"
    }
    starts = Counter(event["call"] for event in log if event["type"] == "ToolStarted")
    leave = Counter(
        asked[event["question"]]["call"]
        for event in log
        if event["type"] == "QuestionAnswered" and event["value"] == "run_again"
    )
    for call, times in starts.items():
        if chosen[call] != "contact_human":  # which is idempotent
            assert times == 1 + leave[call], (chosen[call], log)


async def at_rest(server: KillableServer) -> None:
    """Wait until nothing is due, nothing is held and everything has been sent."""
    due = "SELECT id, wake_at, lease_until FROM threads WHERE wake_at > 0 OR lease_until > 0"
    unsent = "SELECT id, status FROM deliveries WHERE status NOT IN ('sent', 'settled')"
    await until(lambda: not server.rows(due) and not server.rows(unsent))


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for something in another process, of which nobody tells us."""
    while not is_so():  # noqa: ASYNC110
        await asyncio.sleep(_BETWEEN_TRIES)
