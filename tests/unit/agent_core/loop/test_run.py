"""The loop among other writers: what was decided on an older state is decided again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_core import Agent, HandDrivenWorld, ScriptedModel, call, calls, says, tool
from agent_core.loop.journal import MemoryJournal
from agent_core.loop.run import Run
from agent_core.thread.checkpoint import Log
from agent_core.thread.events import (
    Event,
    MessageReceived,
    Millis,
    ModelReplied,
    QuestionAnswered,
    QuestionAsked,
    ThreadCancelled,
    ThreadFinished,
    ThreadId,
    ThreadLaunched,
    ThreadPaused,
    ThreadResumed,
    ToolReturned,
    ToolStarted,
)
from agent_core.thread.fold import fold
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState
from tests.doubles.stage import names

NOW = Millis(1)
BEGINNING: list[Event] = [
    ThreadLaunched(at=NOW, thread=ThreadId("th_1"), agent="agent"),
    MessageReceived(at=NOW, text="go"),
]


class BusyJournal(MemoryJournal):
    """A journal in which somebody else is always a moment faster, once for each type of event."""

    def __init__(self, meanwhile: dict[type[Event], Event]) -> None:
        log = Log()
        log.extend(BEGINNING)
        super().__init__(log, fold(BEGINNING))
        self.meanwhile = meanwhile

    async def append(
        self,
        events: Sequence[Event],
        *,
        seen: int | None = None,
        after: ThreadState | None = None,
    ) -> None:
        """Let the other one append first."""
        for event in events:
            other = self.meanwhile.pop(type(event), None)
            if other is not None:
                await super().append([other])
        await super().append(events, seen=seen, after=after)


class Worker:
    """One agent's loop over a busy journal."""

    def __init__(self, meanwhile: dict[type[Event], Event], **options: Any) -> None:  # noqa: ANN401 (of tool)
        self.deeds: list[str] = []

        async def unpay() -> None:
            self.deeds.append("unpaid")

        @tool(compensate=unpay, **options)
        async def pay() -> str:
            self.deeds.append("paid")
            return "paid"

        self.model = ScriptedModel([calls(call("pay")), says("done"), says("done")])
        self.world = HandDrivenWorld().world
        self.agent = Agent("agent", tools=[pay], model=self.model, world=self.world)
        self.journal = BusyJournal(meanwhile)

    async def run(self) -> list[str]:
        """Bring the thread to rest, and name what the log then holds, after its beginning."""
        definition = self.agent.definition
        await Run(definition, self.journal, self.journal.state, self.world).to_rest()
        return names(self.journal.log.events[2:])


async def test_undisturbed_the_log_tells_the_plain_story() -> None:
    """The measure for what follows."""
    assert await Worker({}).run() == [
        "ModelReplied",
        "ToolStarted",
        "ToolReturned",
        "ModelReplied",
        "ThreadFinished",
    ]


async def test_a_pause_that_comes_just_before_a_tool_starts_keeps_it_from_starting() -> None:
    """Between the decision and its commit: nothing runs."""
    worker = Worker({ToolStarted: ThreadPaused(at=NOW)})

    assert await worker.run() == ["ModelReplied", "ThreadPaused"]
    assert worker.deeds == []


async def test_a_cancel_that_comes_just_before_a_tool_starts_keeps_it_from_starting() -> None:
    """And there is nothing to undo."""
    worker = Worker({ToolStarted: ThreadCancelled(at=NOW)})

    assert await worker.run() == ["ModelReplied", "ThreadCancelled"]
    assert worker.deeds == []


async def test_a_message_that_comes_just_before_the_end_is_seen_first() -> None:
    """The thread doesn't finish without it."""
    worker = Worker({ThreadFinished: MessageReceived(at=NOW, text="wait!")})

    log = await worker.run()

    assert log[-4:] == ["MessageReceived", "ModelReplied", "ModelReplied", "ThreadFinished"]
    assert worker.model.requests[-1].messages[-1]["content"] == "wait!"


async def test_a_pause_that_comes_with_the_models_reply_discards_it() -> None:
    """Its choice would start nothing; the model is asked again after the resume."""
    worker = Worker({ModelReplied: ThreadPaused(at=NOW)})

    assert await worker.run() == ["ThreadPaused"]
    await worker.journal.append([ThreadResumed(at=NOW)])
    assert (await worker.run())[-1] == "ThreadFinished"
    assert worker.deeds == ["paid"]


async def test_a_cancel_that_comes_with_a_tools_result_undoes_it() -> None:
    """The result is recorded all the same."""
    worker = Worker({ToolReturned: ThreadCancelled(at=NOW)})

    assert await worker.run() == [
        "ModelReplied",
        "ToolStarted",
        "ThreadCancelled",
        "ToolReturned",
        "CompensationRan",
    ]
    assert worker.deeds == ["paid", "unpaid"]


async def test_a_pause_that_comes_with_a_tools_result_keeps_the_result() -> None:
    """It is not redone on resume."""
    worker = Worker({ToolReturned: ThreadPaused(at=NOW)})

    await worker.run()
    await worker.journal.append([ThreadResumed(at=NOW)])
    await worker.run()

    assert worker.deeds == ["paid"]


async def test_a_message_that_comes_just_before_a_question_is_asked_changes_nothing() -> None:
    """The question is asked once."""
    worker = Worker({QuestionAsked: MessageReceived(at=NOW, text="hm")}, approval=True)

    log = await worker.run()

    assert log == ["MessageReceived", "ModelReplied", "QuestionAsked"]


async def test_an_approval_that_comes_just_as_others_are_decided_lets_the_tool_run() -> None:
    """The answer wins the race with the loop's own rest."""
    worker = Worker({}, approval=True)
    await worker.run()
    (question,) = worker.journal.state.open_questions
    answer = QuestionAnswered(at=NOW, question=QuestionId(question), value={"approved": False})
    await worker.journal.append([answer])

    log = await worker.run()

    assert log[-1] == "ThreadFinished"
    assert worker.deeds == []


async def test_the_loop_calls_nothing_for_a_thread_at_rest() -> None:
    """Running a finished thread again is free."""
    worker = Worker({})
    first = await worker.run()
    calls_made = len(worker.model.requests)

    assert await worker.run() == first
    assert len(worker.model.requests) == calls_made
