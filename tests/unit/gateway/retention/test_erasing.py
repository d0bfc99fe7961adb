"""Erasing somebody in a house at work: what servers remember, who is waited for, what is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from agent_core import Agent, ScriptedModel, call, calls, contact_human, says, tool
from agent_core.errors import Refused
from agent_core.thread.events import (
    MessageReceived,
    PersonErased,
    QuestionAnswered,
    ThreadId,
    ThreadLaunched,
)
from agent_core.thread.fold import fold
from channels.recording import DictMemory
from gateway.audit.beginning import begin
from gateway.audit.verification import verify_store
from gateway.control.keys import new_key
from gateway.control.views import Launch
from gateway.retention.erasing import Erasing, Order
from gateway.retention.persona import GONE
from gateway.retention.purging import Purging
from gateway.retention.reports import Left, Report
from gateway.work.threads import keep_snapshot, read_thread
from storage.errors import StoreBusy
from storage.memory import MemoryStore
from storage.memory.retention import MemoryRetention
from storage.values import Commit, NewThread
from tests.contract.stores.rows import T1
from tests.contract.stores.test_retention import sent
from tests.doubles.seals import seal
from tests.unit.gateway.audit.ledger import NOW
from tests.unit.gateway.workshop import Workshop, workshop

ANN = frozenset({"ann", "email:ann@x.org", "ann@x.org"})
WORDS = "my password is mellon, please"


def asking(*to: str) -> Agent:
    """Make an agent that asks these people, and repeats what it is told."""
    ask = call("contact_human", question="Which colour?", to=list(to))
    model = ScriptedModel([calls(ask), says("As you wish."), says("Still here.")])
    return Agent("agent", tools=[contact_human], model=model)


def seen(here: Workshop) -> str:
    """Give all that the model was shown last."""
    model = here.agents["agent"].definition.model
    assert isinstance(model, ScriptedModel)
    return str(model.requests[-1].messages)


@asynccontextmanager
async def house(agent: Agent) -> AsyncIterator[Workshop]:
    """Open a house with a sealed store and an engine at work."""
    store = MemoryStore(seal=seal)
    async with workshop(store, agent) as here:
        await begin(store, seal, now=NOW)
        here.listen()
        here.engine(nearby=here.nearby)
        yield here


async def launched(here: Workshop, text: str = WORDS) -> ThreadId:
    """Let Ann begin a thread, and wait until it rests."""
    view, _ = await here.gateway.launch(Launch(agent="agent", text=text), by="ann")
    await here.rested(ThreadId(view.id))
    await here.released(ThreadId(view.id))
    return ThreadId(view.id)


async def answered(here: Workshop, thread: ThreadId, value: str, by: str = "bob") -> str:
    """Answer what the thread asks, wait until it rests, and give the question."""
    (question,) = (await here.gateway.thread(thread)).questions
    await here.gateway.answer(question.id, value, by=by)
    await here.rested(thread)
    await here.released(thread)
    return question.id


async def erase(here: Workshop, *, also_waiting: bool = False, patience: float = 5) -> Report:
    """Erase Ann, as a command beside the server would."""
    erasing = Erasing(here.store, seal, DictMemory(), patience_seconds=patience)
    them = await erasing.find(ANN)
    return await erasing.carry_out(Order(them=them, by="cli", also_waiting=also_waiting))


async def test_what_a_server_remembers_does_not_bring_the_words_back() -> None:
    """Its memory of the thread is out of date from then on: the model sees what the log has."""
    async with house(asking("bob")) as here:
        thread = await launched(here)
        assert WORDS in seen(here)
        await answered(here, thread, "blue")
        assert here.nearby.states.get(thread) is not None

        report = await erase(here)
        await here.gateway.say(thread, "and now?", by="bob")
        await here.rested(thread)

        assert report.done
        assert WORDS not in seen(here)
        assert GONE in seen(here)
        assert (await verify_store(here.store, seal, now=NOW)).findings == []


async def test_question_that_waits_for_them_alone_is_withdrawn_on_demand() -> None:
    """Without being told to, nothing is done and the thread is named; then the agent hears."""
    async with house(asking()) as here:
        thread = await launched(here)
        erasing = Erasing(here.store, seal, DictMemory())
        them = await erasing.find(ANN)

        looked = await erasing.look(Order(them=them, by="cli"))
        (question,) = (await here.gateway.thread(thread)).questions
        done = await erase(here, also_waiting=True)
        view = await here.rested(thread)

        [busy] = looked.busy
        assert (busy.thread, busy.why, busy.questions) == (thread, "not ended", (question.id,))
        assert done.done
        assert (view.status, view.result) == ("finished", "As you wish.")
        assert "not here any more" in seen(here)
        names = await here.names(thread)
        assert names.count("QuestionWithdrawn") == names.count("PersonErased") == 1
        assert (await verify_store(here.store, seal, now=NOW)).findings == []


async def test_agent_that_asks_for_them_again_and_again_is_named_and_not_asked_for_ever() -> None:
    """Each time costs a model's turn, and sends a question out."""
    ask = calls(call("contact_human", question="Which colour?", to=["ann"]))
    model = ScriptedModel(lambda _: ask)
    async with house(Agent("agent", tools=[contact_human], model=model)) as here:
        thread = await launched(here)

        report = await erase(here, also_waiting=True)

        [busy] = report.busy
        assert (report.done, busy.thread, len(busy.questions)) == (False, thread, 1)
        assert "cancel it first" in busy.why
        assert (await here.names(thread)).count("QuestionWithdrawn") < 5
        await here.gateway.cancel(thread, by="bob")
        await here.rested(thread)
        assert (await erase(here)).done


async def test_question_that_others_may_answer_stays_open_for_them() -> None:
    """They are asked no more; who is left decides."""
    async with house(asking("ann", "bob")) as here:
        thread = await launched(here)

        report = await erase(here, also_waiting=True)
        (question,) = (await here.gateway.thread(thread)).questions
        await here.gateway.answer(question.id, "blue", by="bob")
        view = await here.rested(thread)

        assert report.done
        assert question.audience == [report.name, "bob"]
        assert view.status == "finished"


@pytest.mark.parametrize(
    ("rules", "by"), [({"quorum": 2}, "bob"), ({"not_requester": True}, "ann")]
)
async def test_question_that_must_tell_them_from_others_is_withdrawn(
    rules: dict[str, Any], by: str
) -> None:
    """Or Ann, who has voted or begun it, could decide again as if she were somebody else."""

    @tool(approval=True, approvers=["ann", "bob", "eve"], **rules)
    def pay() -> str:
        return "paid"

    model = ScriptedModel([calls(call("pay")), says("Nobody paid.")])
    async with house(Agent("agent", tools=[pay], model=model)) as here:
        view, _ = await here.gateway.launch(Launch(agent="agent", text="pay"), by=by)
        thread = ThreadId((await here.rested(ThreadId(view.id))).id)
        await here.released(thread)
        (question,) = (await here.gateway.thread(thread)).questions
        if "quorum" in rules:
            await here.gateway.answer(question.id, {"approved": True}, by="ann")

        report = await erase(here, also_waiting=True)
        ended = await here.rested(thread)

        assert report.done
        assert (ended.status, ended.result) == ("finished", "Nobody paid.")
        with pytest.raises(Refused):
            await here.gateway.answer(question.id, {"approved": True}, by="ann")


async def test_one_person_stays_one_person() -> None:
    """Who began it and who decided were the same: that must still be seen, by one pseudonym."""
    async with house(asking("ann")) as here:
        thread = await launched(here)
        question = await answered(here, thread, "a secret colour of mine", by="ann")

        report = await erase(here)

        log = await here.log(thread)
        state = fold(log)
        answers = [one for one in log if isinstance(one, QuestionAnswered)]
        assert [(one.by, one.value) for one in answers] == [(report.name, GONE)]
        assert state.participants == (state.requester,) == (report.name,)
        assert (await here.gateway.question(question)).answered_by == report.name
        assert (await here.gateway.question(question)).answer == GONE


async def test_thread_that_somebody_works_on_is_waited_for_and_then_named() -> None:
    """Nothing is rewritten under a worker's hands."""
    async with house(asking("bob")) as here:
        thread = await launched(here)
        await here.store.commit(Commit(thread=thread, now=type(NOW)(NOW * 2), lease_ms=10**6))

        report = await erase(here, also_waiting=True, patience=0)

        assert not report.done
        assert [one.thread for one in report.busy] == [thread]
        assert "PersonErased" not in await here.names(thread)


async def test_what_can_not_be_erased_is_told() -> None:
    """Words of others that name or quote them, and keys that bear their name."""
    async with house(asking("bob")) as here:
        thread = await launched(here)
        other, _ = await here.gateway.launch(
            Launch(agent="agent", text=f"Ann (ann@x.org) wrote: {WORDS}"), by="bob"
        )
        await here.rested(ThreadId(other.id))
        _, key = new_key("Ann", ["read"], now=NOW)
        await here.store.add_key(key)
        await here.store.add_key(replace(key, id="gone", hash="h", revoked_at=NOW))

        report = await erase(here)

        assert report.left == [Left(other.id, 2)]
        assert report.keys == ["Ann"]
        assert [one.thread for one in report.threads] == [thread]


async def test_snapshot_of_a_long_thread_is_written_anew() -> None:
    """A long log is read from it: the old one would bring the words back."""
    async with house(asking("bob")) as here:
        thread = await launched(here)
        for number in range(200):
            await here.gateway.say(thread, f"{WORDS} {number}", by="ann")
        known = await read_thread(here.store, thread)
        assert known is not None
        assert await keep_snapshot(here.store, known.state, 0)

        await erase(here)

        loaded = await here.store.load(thread)
        assert loaded is not None
        assert loaded.snapshot is not None
        assert WORDS.encode() not in loaded.snapshot.body
        now = await read_thread(here.store, thread)
        assert now is not None
        assert now.state == fold(await here.log(thread))


class CutOff(MemoryRetention):
    """One that breaks off after the logs were rewritten."""

    async def forget_parties(self, parties: Sequence[str]) -> int:  # noqa: ARG002 (as it is called)
        """Break off."""
        raise StoreBusy("cut off", retry_after=0)


class CutOffStore(MemoryStore):
    """A store that breaks off, for as long as it is told to."""

    is_cut_off = True

    def retention(self) -> MemoryRetention:
        """Give one that breaks off, or not."""
        kind = CutOff if self.is_cut_off else MemoryRetention
        return kind(self._tables, seal)


async def test_run_that_was_cut_off_is_finished_by_the_next() -> None:
    """What only the old log led to is gone by then, such as a direct message with them."""
    store = CutOffStore(seal=seal)
    await store.open()
    launch = ThreadLaunched(
        at=NOW, thread=T1, agent="agent", requester="ann", origin="slack:T1:D9:1"
    )
    new = NewThread(agent="agent", origin="slack:T1:D9:1", requester="ann")
    await store.commit(
        Commit(
            thread=T1,
            events=[launch, MessageReceived(at=NOW, text=WORDS, sender="ann")],
            create=new,
            places=["slack:T1:D9:1"],
            parties=["ann"],
            now=NOW,
        )
    )
    erasing = Erasing(store, seal, DictMemory())
    order = Order(them=await erasing.find(ANN), by="cli")

    with pytest.raises(StoreBusy):
        await erasing.carry_out(order)
    store.is_cut_off = False
    report = await erasing.carry_out(order)

    assert (report.threads, report.done) == ([], True)
    assert await store.thread_at("slack:T1:D9:1") is None
    assert not await store.takes_part(T1, ["ann"])
    row = await store.thread(T1)
    assert row is not None
    assert (row.origin, row.requester) == (order.them.address, order.them.name)


async def test_two_at_once_and_again_erase_once() -> None:
    """Each thread has one erasure; whoever comes second finds nothing to do."""
    async with house(asking("bob")) as here:
        threads = [await launched(here, f"{WORDS} {number}") for number in range(3)]

        await asyncio.gather(erase(here, also_waiting=True), erase(here, also_waiting=True))
        again = await erase(here)

        assert again.threads == []
        for thread in threads:
            log = await here.log(thread)
            assert sum(isinstance(one, PersonErased) for one in log) == 1
            assert not any(isinstance(one, MessageReceived) and WORDS in one.text for one in log)
        assert (await verify_store(here.store, seal, now=NOW)).findings == []


async def test_fork_and_import_of_an_erased_thread_verify() -> None:
    """A copy's rows are its own; one that comes back under its own id is what it was."""
    async with house(asking("bob")) as here:
        thread = await launched(here)
        await answered(here, thread, "blue")
        await erase(here)
        await sent(here.store)
        fork = await here.gateway.fork(thread, by="bob")
        text = await here.gateway.export(thread)
        await Purging(here.store, seal, DictMemory()).purge_one(thread, by="cli")
        await here.gateway.import_(text, by="bob")

        report = await verify_store(here.store, seal, now=NOW)

        assert (report.threads, report.purged, report.findings) == (2, 1, [])
        assert report.erased == 2  # who began it, and what they said
        assert await read_thread(here.store, ThreadId(fork.id)) is not None


async def test_their_reason_goes_from_what_others_were_told() -> None:
    """Whoever cancels says why: that went out to others, and is their words all the same."""
    async with house(asking("bob")) as here:
        thread = await launched(here)
        await here.gateway.cancel(thread, by="ann", reason="since my cat is ill")
        await here.rested(thread)

        report = await erase(here)

        told = [one.body for one in await here.store.deliveries(thread)]
        assert {"kind": "thread.cancelled", "text": GONE} in told
        assert report.left == []
        assert (await verify_store(here.store, seal, now=NOW)).findings == []
