"""A customer who changes his mind: answers twice at once, holds, lets go and cancels at any moment.

He keeps what was acknowledged, and holds the machines to it afterwards.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.scenario.gateway.machines import Machines
from tests.scenario.gateway.stubborn_customer import Caller

_ENDED = ("finished", "failed", "cancelled")
_OUTCOMES = {
    "QuestionAnswered": "answered",
    "QuestionExpired": "expired",
    "QuestionWithdrawn": "withdrawn",
}
_TOLD = ("QuestionAsked", *_OUTCOMES, "ThreadFinished", "ThreadFailed", "ThreadCancelled")


@dataclass
class Story:
    """What the machines have acknowledged of one thread."""

    order: str
    thread: str
    messages: list[str]
    answers: dict[str, list[object]] = field(default_factory=dict)
    """The values that were taken, by question: one each, or two have been told that they won."""
    is_cancelled: bool = False
    status: str = ""


@dataclass
class Restless(Caller[Machines]):
    """Somebody who talks to many machines at once."""

    chance: random.Random = field(default_factory=random.Random)

    async def tell(self, order: str) -> Story:
        """Launch, and go on until it is over."""
        body = {"agent": "desk", "text": order}
        thread = await self.call("POST", "/v1/threads", body, key=f"launch-{order}")
        story = Story(order, str(thread["id"]), [order])
        while thread["status"] not in _ENDED:
            await asyncio.gather(*self._whims(story, thread))
            thread = await self.call("GET", f"/v1/threads/{story.thread}?wait=1")
        story.status = thread["status"]
        return story

    def _whims(self, story: Story, thread: Mapping[str, Any]) -> list[Any]:
        """Choose what to do next, all of it at once."""
        doing = [
            self._answer(story, one)
            for one in thread["questions"]
            for _ in range(self.chance.choice((1, 1, 2)))
        ]
        if self.chance.random() < 0.3 or thread["status"] == "paused":
            doing.append(self._hold(story, thread["status"] != "paused"))
        if self.chance.random() < 0.3:
            doing.append(self._say(story))
        if self.chance.random() < 0.04:
            doing.append(self._cancel(story))
        return doing

    async def _say(self, story: Story) -> None:
        text = f"{story.order} again, {len(story.messages)}"
        story.messages.append(text)
        path = f"/v1/threads/{story.thread}/messages"
        told = await self.call(
            "POST", path, {"text": text}, key=text.replace(" ", "-"), or_else={409}
        )
        if told.get("status") == 409:  # it has come to its end
            story.messages.remove(text)

    async def _hold(self, story: Story, pause: bool) -> None:  # noqa: FBT001 (both are one thing)
        path = f"/v1/threads/{story.thread}"
        if pause:
            await self.call("POST", f"{path}/pause", {}, or_else={409})
        await self.call("POST", f"{path}/resume", {}, or_else={409})

    async def _cancel(self, story: Story) -> None:
        path = f"/v1/threads/{story.thread}/cancel"
        told = await self.call("POST", path, {}, or_else={409})
        story.is_cancelled |= told["status"] == "cancelled"

    async def _answer(self, story: Story, question: Mapping[str, Any]) -> None:
        value = self._decide(question)
        path = f"/v1/questions/{question['id']}/answer"
        told = await self.call("POST", path, {"value": value}, or_else={409, 410})
        if told["status"] == "answered":  # else it was too late, or its acknowledgement was lost
            story.answers.setdefault(question["id"], []).append(value)

    def _decide(self, question: Mapping[str, Any]) -> object:
        """Approve; of a call that was cut off, look in the ledger what it did."""
        if "it_happened" in [option["name"] for option in question["options"]]:
            wanted = [question["tool"], question["arguments"]["order"]]
            ran = [line for line in self.server.lines("ledger.txt") if line.split()[:2] == wanted]
            return "it_happened" if ran else "run_again"
        if question["kind"] == "approval":
            return {"approved": True}
        return f"account {self.chance.randrange(1000)}"

    async def check(self, story: Story) -> None:
        """Hold the machines to what they have said, by the log and by what the tools have done."""
        page = await self.call("GET", f"/v1/threads/{story.thread}/events?limit=1000")
        log = page["items"]
        assert [event["seq"] for event in log] == list(range(1, len(log) + 1))
        assert story.status == "cancelled" if story.is_cancelled else story.status in _ENDED
        assert story.status != "failed", log
        assert _said(log, story) == Counter(story.messages), log
        await self._check_questions(log, story)
        self._check_effects(log, story)
        await self._check_deliveries(log, story)

    async def _check_questions(self, log: list[Any], story: Story) -> None:
        """Each question has one outcome, also in the index; who was told that he won has won."""
        asked = [one["question"]["id"] for one in log if one["type"] == "QuestionAsked"]
        settled = [one for one in log if one["type"] in _OUTCOMES]
        assert sorted(asked) == sorted(one["question"] for one in settled), log
        values = {one["question"]: [one["value"]] for one in settled if "value" in one}
        for question, taken in story.answers.items():
            assert taken == values[question], (question, log)
        index = await self.server.rows(
            "SELECT id, status FROM questions WHERE thread = $1", story.thread
        )
        assert dict(index) == {one["question"]: _OUTCOMES[one["type"]] for one in settled}

    def _check_effects(self, log: list[Any], story: Story) -> None:
        """What was approved has happened once, in this thread; what was not, never."""
        lines = [line.split() for line in self.server.lines("ledger.txt")]
        mine = Counter((tool, thread) for tool, of, thread, _ in lines if of == story.order)
        wanted = {("book", story.thread): 1, ("pay", story.thread): 1}
        if story.status == "finished":
            assert mine == wanted, log
        assert mine <= Counter(wanted), log
        approved = [one for one in log if one.get("value") == {"approved": True}]
        assert approved or ("pay", story.thread) not in mine, log

    async def _check_deliveries(self, log: list[Any], story: Story) -> None:
        """All that people must hear is in the outbox once, in its order; no question stays open."""
        expected = [
            (f"{story.thread}.{one['seq']}", "settled" if "Asked" in one["type"] else "sent")
            for one in log
            if one["type"] in _TOLD
        ]
        found = await self.server.rows(
            "SELECT id, status FROM deliveries WHERE thread = $1 ORDER BY n", story.thread
        )
        assert found == expected, log


def _said(log: list[Any], story: Story) -> Counter[str]:
    """Count what the thread has heard; words may have answered a question that took words."""
    messages = [one["text"] for one in log if one["type"] == "MessageReceived"]
    answers = [one["value"] for one in log if one["type"] == "QuestionAnswered"]
    return Counter(messages) + Counter(one for one in answers if one in story.messages)
