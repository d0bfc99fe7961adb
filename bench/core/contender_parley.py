"""Ours: an agent whose refunds need approval, resumed from the text of its checkpoint.

The history is what a real one would be: one exchange is run through the public API, and its
events are repeated with other texts and times. (Running all five thousand would be the same,
only slower.) Nothing is kept between cycles but the agent's definition and the checkpoint.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Sequence

import msgspec

from agent_core import (
    Agent,
    ModelReply,
    ModelRequest,
    Paused,
    ScriptedModel,
    call,
    calls,
    says,
    tool,
)
from agent_core.thread.checkpoint import Log
from agent_core.thread.events import Event, MessageReceived, Millis, ModelReplied
from bench.core.workload import (
    ANSWER,
    ORDER,
    REPLY,
    Message,
    check_messages,
    earlier_messages,
    main,
)

_REQUEST = "Please refund order A-123."
_MILLIS_BETWEEN = 60_000


@tool(approval=True)
async def refund(order: str, amount: float) -> str:
    """Pay the customer back."""
    return f"{amount} paid back for {order}"


_REFUNDED = "49.9 paid back for A-123"


class _Parley:
    version = importlib.metadata.version("parley")

    def __init__(self, earlier: int) -> None:
        self.messages = earlier_messages(earlier)
        self.model = ScriptedModel(self._reply)
        self.agent = Agent("bench", tools=[refund], model=self.model, compaction=None)
        self.paused = ""

    def _reply(self, request: ModelRequest) -> ModelReply:
        """Stand in for the model: ask for the refund, at once and again after each."""
        last = request.messages[-1]["content"]
        if last not in (_REQUEST, _REFUNDED):
            return says(REPLY)
        assert len(request.messages) > len(self.messages)
        return calls(call("refund", **ORDER), text=REPLY)

    async def start(self) -> None:
        """Bring the thread to its first pause, with its history."""
        if self.messages:
            exchange = (await self.agent.run("Good morning.")).checkpoint
            outcome = await self.agent.say(_repeat(exchange, self.messages), _REQUEST)
        else:
            outcome = await self.agent.run(_REQUEST)
        assert isinstance(outcome, Paused)
        self.paused = outcome.checkpoint

    def prepare(self) -> str:
        self.model.requests.clear()  # it remembers them all, for tests
        return self.paused

    async def cycle(self, state: str) -> str:
        outcome = await self.agent.resume(state, ANSWER)
        assert isinstance(outcome, Paused)
        return outcome.checkpoint

    def check(self, done: str) -> int:
        """Read the thread back: the messages, the refund, and one open question."""
        thread = self.agent.open(done)
        assert len(thread.state.open_questions) == 1
        [request] = self.model.requests
        check_messages(
            [*self.messages, Message(role="user", content=_REQUEST)],
            [Message(role=one["role"], content=one["content"]) for one in request.messages],
            [REPLY, _REFUNDED],
        )
        kept = [
            one
            for _, one in thread.state.entries
            if isinstance(one, (MessageReceived, ModelReplied))
        ]
        texts = [message["content"] for message in self.messages]
        assert [one.text for one in kept] == [*texts, _REQUEST, REPLY, REPLY]
        return len(done.encode())


def _repeat(checkpoint: str, messages: Sequence[Message]) -> str:
    """Write the checkpoint of a thread that had its one exchange over and over."""
    log, _ = Log.read(checkpoint)
    launched, *exchange = log.events
    longer = Log()
    longer.extend([launched, *_exchanges(exchange, messages)])
    return longer.text()


def _exchanges(exchange: Sequence[Event], messages: Sequence[Message]) -> Iterator[Event]:
    for number in range(0, len(messages), 2):
        later = number * _MILLIS_BETWEEN
        texts = iter(messages[number : number + 2])
        for event in exchange:
            moved = msgspec.structs.replace(event, at=Millis(event.at + later))
            if isinstance(moved, (MessageReceived, ModelReplied)):
                moved = msgspec.structs.replace(moved, text=next(texts)["content"])
            yield moved


async def build(earlier: int, way: str) -> _Parley:  # noqa: ARG001  (there is one way only)
    """Make the agent and pause its thread."""
    contender = _Parley(earlier)
    await contender.start()
    return contender


if __name__ == "__main__":
    main(build)
