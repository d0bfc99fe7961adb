"""The gateway over a store: decides on what is there, and looks again when overtaken."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_core import Agent, ScriptedModel, call, calls, says
from agent_core.errors import AlreadySettled, CheckpointError, NotJson, WrongShape, WrongStatus
from agent_core.loop.journal import Overtaken
from agent_core.thread.events import AnswerRefused, ThreadId
from gateway.control.service import AlreadyHere, IdempotencyConflict, NotFound, TooBusy
from gateway.control.views import Launch
from storage.memory import MemoryStore
from tests.doubles.stage import echo
from tests.unit.gateway.logs_of_threads import pay
from tests.unit.gateway.workshop import ShakyStore, Workshop, workshop

YES = {"approved": True}


def paying() -> Agent:
    """Make an agent that asks for leave."""
    model = ScriptedModel([calls(call("pay", amount=1)), says("done")])
    return Agent("agent", tools=[pay], model=model)


def echoing() -> Agent:
    """Make an agent that says what was said last."""
    return Agent("agent", model=ScriptedModel(echo))


async def asked(here: Workshop) -> tuple[ThreadId, str]:
    """Begin a thread that waits for leave."""
    here.engine()
    thread = await here.launch()
    (question,) = (await here.rested(thread)).questions
    await here.released(thread)
    return thread, question.id


async def test_command_that_was_overtaken_looks_again() -> None:
    """Somebody else got through; the command is decided on what is there now."""
    store = ShakyStore()
    store.error = Overtaken
    async with workshop(store, echoing()) as here:
        thread = await here.launch()
        store.failures["commit"] = 10
        view = await here.gateway.pause(thread, by="lisa")

    assert (view.status, store.failures["commit"]) == ("paused", 0)


async def test_command_that_is_overtaken_for_ever_says_so() -> None:
    """Try again, a little later; nothing was changed."""
    store = ShakyStore()
    store.error = Overtaken
    async with workshop(store, echoing()) as here:
        thread = await here.launch()
        store.frozen.add("commit")
        with pytest.raises(TooBusy) as told:
            await here.gateway.say(thread, "more", by="lisa")
        names = await here.names(thread)

    assert told.value.retry_after > 0
    assert names == ["ThreadLaunched", "MessageReceived"]


async def test_many_voices_at_once_are_all_kept() -> None:
    """Each in the log, once."""
    async with workshop(MemoryStore(), echoing()) as here:
        thread = await here.launch("text")
        await asyncio.gather(*(here.gateway.say(thread, f"text {n}", by="lisa") for n in range(30)))

        assert (await here.names(thread)).count("MessageReceived") == 31


async def test_first_answer_wins_and_the_second_is_noted() -> None:
    """The second is told by whom; both in the log, and a third way is wrong in its shape."""
    async with workshop(MemoryStore(), paying()) as here:
        thread, question = await asked(here)
        with pytest.raises(WrongShape):
            await here.gateway.answer(question, "perhaps", by="otto")
        view = await here.gateway.answer(question, YES, by="otto", comment="fine")
        with pytest.raises(AlreadySettled, match="answered by otto"):
            await here.gateway.answer(question, YES, by="lisa")
        refused = [one for one in await here.log(thread) if isinstance(one, AnswerRefused)]

    assert (view.status, view.answered_by, view.comment) == ("answered", "otto", "fine")
    assert [(one.by, one.question) for one in refused] == [("lisa", question)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [({"amount": "much"}, "don't fit pay"), ({}, "amount"), ({"amount": 1, "to": "me"}, "to")],
)
async def test_edits_are_held_to_the_tools_parameters(arguments: Any, told: str) -> None:  # noqa: ANN401 (any JSON)
    """Refused in words that name the tool, and the question stays open."""
    async with workshop(MemoryStore(), paying()) as here:
        _, question = await asked(here)
        with pytest.raises(WrongShape, match=told):
            await here.gateway.answer(question, {**YES, "arguments": arguments}, by="otto")

        assert (await here.gateway.question(question)).status == "open"


async def test_what_is_not_there_is_not_found() -> None:
    """Threads, questions and agents, whatever is wanted of them."""
    async with workshop(MemoryStore(), echoing()) as here:
        gateway = here.gateway
        for doing in (
            gateway.thread("th_0"),
            gateway.say("th_0", "hello", by="lisa"),
            gateway.pause("th_0", by="lisa"),
            gateway.fork("th_0", by="lisa"),
            gateway.export("th_0"),
            gateway.events("th_0"),
            gateway.question("q_0"),
            gateway.answer("q_0", "yes", by="lisa"),
            gateway.launch(Launch(agent="nobody", text="hello"), by="lisa"),
        ):
            with pytest.raises(NotFound):
                await doing


async def test_repeated_message_is_taken_once_whatever_has_happened_since() -> None:
    """Also when the thread would not take it any more: the first copy was acknowledged."""
    async with workshop(MemoryStore(), echoing()) as here:
        thread = await here.launch()
        await here.gateway.say(thread, "more", by="lisa", idempotency_key="k")
        await here.gateway.cancel(thread, by="lisa")
        again = await here.gateway.say(thread, "more", by="lisa", idempotency_key="k")
        with pytest.raises(IdempotencyConflict):
            await here.gateway.say(thread, "less", by="lisa", idempotency_key="k")
        with pytest.raises(WrongStatus):
            await here.gateway.say(thread, "more", by="otto", idempotency_key="k")

        assert again.status == "cancelled"
        assert (await here.names(thread)).count("MessageReceived") == 2


async def test_metadata_must_be_json() -> None:
    """Refused by name before anything is kept."""
    async with workshop(MemoryStore(), echoing()) as here:
        launch = Launch(agent="agent", text="hello", metadata={"size": float("nan")})
        with pytest.raises(NotJson, match="metadata"):
            await here.gateway.launch(launch, by="lisa")

        assert (await here.gateway.threads()).items == []


async def test_thread_is_imported_once() -> None:
    """It is here already, or it is no thread at all."""
    async with workshop(MemoryStore(), echoing()) as here:
        thread = await here.launch()
        text = await here.gateway.export(thread)
        with pytest.raises(AlreadyHere):
            await here.gateway.import_(text, by="lisa")
        with pytest.raises(CheckpointError):
            await here.gateway.import_("{}", by="lisa")


async def test_origin_is_kept_and_a_fork_speaks_for_itself() -> None:
    """Who forked it hears of it; the place where the original was asked for does not."""
    async with workshop(MemoryStore(), echoing()) as here:
        launch = Launch(agent="agent", text="hello")
        view, _ = await here.gateway.launch(launch, by="lisa", origin="slack:T1/C2")
        copy = await here.gateway.fork(view.id, by="otto")

    assert (view.origin, copy.origin) == ("slack:T1/C2", f"web:{copy.id}")


async def test_command_shows_the_thread_as_it_is_then() -> None:
    """What a command gives back is what a look at the thread gives."""
    async with workshop(MemoryStore(), paying()) as here:
        thread, question = await asked(here)
        said = await here.gateway.say(thread, "well?", by="lisa")
        assert said == await here.gateway.thread(thread)
        paused = await here.gateway.pause(thread, by="lisa")
        assert paused == await here.gateway.thread(thread)
        answered = await here.gateway.answer(question, YES, by="otto")
        assert answered == await here.gateway.question(question)
        cancelled = await here.gateway.cancel(thread, by="lisa")

        assert cancelled == await here.gateway.thread(thread)
        assert (said.status, len(said.questions), cancelled.questions) == ("waiting", 1, [])
