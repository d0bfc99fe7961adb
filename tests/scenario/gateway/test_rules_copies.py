"""Fork, export and import, and reading a log live. Over HTTP, with the engine on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_core import Agent, ScriptedModel, ToolContext, call, calls, says, tool
from tests.scenario.gateway.premises import KINDS, NO, YES, in_file, in_memory, premises

KIND = pytest.mark.parametrize("kind", KINDS)


class Desk:
    """An agent that looks something up and then asks for leave, and what its tools did."""

    def __init__(self) -> None:
        self.did: list[str] = []

        @tool
        async def look() -> str:
            """Look something up."""
            self.did.append("look")
            return "found"

        @tool(approval=True)
        async def pay(ctx: ToolContext) -> str:
            """Pay."""
            self.did.append(f"pay for {ctx.thread.id}")
            return "paid"

        script = [calls(call("look")), calls(call("pay")), says("done")]
        self.agent = Agent("agent", tools=[look, pay], model=ScriptedModel(script))


@KIND
async def test_fork_asks_anew_and_leaves_the_original_alone(kind: str, tmp_path: Path) -> None:
    """Both are answered on their own; what the original had done is not done again."""
    desk = Desk()
    async with premises(KINDS[kind](tmp_path), desk.agent) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        before = await here.log(thread)
        forked = await here.tell(thread, "fork", {})
        copy = forked.json["id"]
        anew = await here.asked(copy)
        assert await here.log(thread) == before
        assert await here.asked(thread) == question
        await here.answer(anew, YES)
        done = await here.rested(copy)
        untouched = await here.rested(thread)
        await here.answer(question, NO, comment="no")
        original = await here.rested(thread)
        listed = (await here.call("GET", "/v1/questions")).json["items"]
        kinds = [(one.address, one.body["kind"]) for one in await here.deliveries(copy)]

    assert (forked.status, anew != question, copy != thread) == (201, True, True)
    assert (done["status"], untouched["status"]) == ("finished", "waiting")
    assert original["status"] == "finished"
    assert desk.did == ["look", f"pay for {copy}"]
    assert [(one["id"], one["thread_id"]) for one in listed] == [(question, thread), (anew, copy)]
    news = ["question.asked", "question.settled", "thread.finished"]
    assert kinds == [(f"web:{copy}", kind) for kind in news]


async def test_fork_at_an_earlier_event_goes_on_from_there(tmp_path: Path) -> None:
    """After a question was settled, too: the fork of a fork, and one before anything was done."""
    desk = Desk()
    async with premises(in_file(tmp_path), desk.agent) as here:
        thread = await here.launch()
        await here.answer(await here.asked(thread), YES)
        await here.rested(thread)
        types = await here.types(thread)
        asked_at = types.index("QuestionAsked") + 1
        again = (await here.tell(thread, "fork", {"at": asked_at})).json["id"]
        twice = (await here.tell(again, "fork", {})).json["id"]
        start = (await here.tell(thread, "fork", {"at": 2})).json["id"]
        whole = (await here.tell(thread, "fork", {})).json
        beyond = await here.tell(thread, "fork", {"at": 99})
        for copy in (again, twice, start):
            await here.answer(await here.asked(copy), NO)
            assert (await here.rested(copy))["status"] == "finished"
        outbox = await here.deliveries(whole["id"])

    assert desk.did == ["look", f"pay for {thread}", "look"]
    assert (whole["status"], whole["result"], outbox) == ("finished", "done", [])
    assert beyond.status in {409, 422}


@KIND
async def test_thread_goes_on_in_another_installation(kind: str, tmp_path: Path) -> None:
    """Exported here, imported there under its id, with its question; nothing is done twice."""
    here_desk, there_desk = Desk(), Desk()
    (tmp_path / "there").mkdir()
    async with (
        premises(in_file(tmp_path), here_desk.agent) as here,
        premises(KINDS[kind](tmp_path / "there"), there_desk.agent) as there,
    ):
        thread = await here.launch()
        question = await here.asked(thread)
        exported = (await here.call("GET", f"/v1/threads/{thread}/export")).text.encode()
        moved = await there.call("POST", "/v1/threads/import", data=exported)
        shown = await there.question(question)
        outbox = await there.deliveries(thread)
        await there.answer(question, YES)
        done = await there.rested(thread)
        log = await there.log(thread)

    assert (moved.status, moved.json["id"], moved.json["status"]) == (201, thread, "waiting")
    assert (shown["status"], shown["thread_id"], outbox) == ("open", thread, [])
    assert (done["status"], done["result"]) == ("finished", "done")
    assert (here_desk.did, there_desk.did) == (["look"], [f"pay for {thread}"])
    assert [event["seq"] for event in log] == list(range(1, len(log) + 1))


async def test_thread_that_was_not_done_goes_on_after_its_import(tmp_path: Path) -> None:
    """It is due at once in its new home."""
    (tmp_path / "there").mkdir()
    async with (
        premises(in_file(tmp_path), Desk().agent, works=False) as here,
        premises(in_file(tmp_path / "there"), Desk().agent) as there,
    ):
        thread = await here.launch()
        exported = (await here.call("GET", f"/v1/threads/{thread}/export")).text.encode()
        await there.call("POST", "/v1/threads/import", data=exported)

        assert (await there.rested(thread))["status"] == "waiting"


async def test_thread_and_its_fork_both_move(tmp_path: Path) -> None:
    """The fork's log names the original's question, which stays the original's."""
    (tmp_path / "there").mkdir()
    async with (
        premises(in_file(tmp_path), Desk().agent) as here,
        premises(in_file(tmp_path / "there"), Desk().agent) as there,
    ):
        thread = await here.launch()
        question = await here.asked(thread)
        copy = (await here.tell(thread, "fork", {})).json["id"]
        anew = await here.asked(copy)
        for one in (copy, thread):
            exported = (await here.call("GET", f"/v1/threads/{one}/export")).text.encode()
            assert (await there.call("POST", "/v1/threads/import", data=exported)).status == 201
        shown = [await there.question(one) for one in (question, anew)]

    assert [(one["thread_id"], one["status"]) for one in shown] == [
        (thread, "open"),
        (copy, "open"),
    ]


@KIND
async def test_live_reader_that_is_cut_off_misses_nothing(kind: str, tmp_path: Path) -> None:
    """It comes back with Last-Event-ID while events go on coming: each once, in order."""

    @tool
    async def count(ctx: ToolContext) -> str:
        """Note a hundred things."""
        for number in range(100):
            ctx.note(str(number))
            await asyncio.sleep(0.001)
        return "counted"

    model = ScriptedModel([calls(call("count")), says("done")])
    async with premises(KINDS[kind](tmp_path), Agent("agent", tools=[count], model=model)) as here:
        thread = await here.launch()
        seen: list[int] = []
        notes: list[str] = []
        types: list[str] = []
        async with asyncio.timeout(20):
            while "ThreadFinished" not in types:
                left = 7  # events, and the reader is gone
                async for event in here.follow(thread, after=seen[-1] if seen else 0):
                    seen.append(event["seq"])
                    types.append(event["type"])
                    notes += [event["text"]] if event["type"] == "ProgressNoted" else []
                    left -= 1
                    if left == 0 or event["type"] == "ThreadFinished":
                        break

    assert seen == list(range(1, len(seen) + 1))
    assert notes == [str(number) for number in range(100)]


async def test_many_readers_see_the_same(tmp_path: Path) -> None:
    """Each from where it asked to begin."""
    async with premises(in_memory(tmp_path), Desk().agent) as here:
        thread = await here.launch()
        question = await here.asked(thread)

        async def read(after: int) -> list[int]:
            seen = []
            async for event in here.follow(thread, after=after):
                seen.append(event["seq"])
                if event["type"] == "ThreadFinished":
                    break
            return seen

        async with asyncio.timeout(20):
            readers = [asyncio.create_task(read(after)) for after in range(8)]
            await asyncio.sleep(0)
            await here.answer(question, YES)
            read_by_each = await asyncio.gather(*readers)
        end = len(await here.log(thread))

    assert read_by_each == [list(range(after + 1, end + 1)) for after in range(8)]
