"""Another process, another day: a checkpoint is plain JSON, and a fresh agent resumes from it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_core import (
    CheckpointError,
    CheckpointMalformed,
    CheckpointTooNew,
    Finished,
    call,
    calls,
    says,
    tool,
)
from tests.doubles.stage import APPROVED, Stage, expect, log_of

ROOT = Path(__file__).resolve().parents[3]

SHOP = '''
import asyncio, os, sys
from pathlib import Path
from agent_core import Agent, ScriptedModel, ToolContext, World
from agent_core import call, calls, contact_human, says, tool

LEDGER = Path(sys.argv[2])

def note(line: str) -> None:
    with LEDGER.open("a") as ledger:
        print(os.getpid(), line, file=ledger)

def unrefund(order: str) -> None:
    note(f"unrefund {order}")

@tool(approval=True, compensate=unrefund)
async def refund(ctx: ToolContext, order: str, amount: float) -> str:
    """Pay the customer back."""
    note(f"refund {order} {amount} {ctx.idempotency_key}")
    return "paid back"

@tool
async def lookup(order: str) -> dict[str, float]:
    """Find an order."""
    note(f"lookup {order}")
    if os.environ.get("DIE"):
        os._exit(9)
    return {"amount": 5.0}

script = [
    calls(call("lookup", order="123")),
    calls(call("refund", order="123", amount=5.0), call("contact_human", question="Tell her?")),
    says("all done"),
]
LIVE = []

def save(_events: object) -> None:
    for thread in LIVE:
        Path(sys.argv[3]).write_text(thread.checkpoint)

shop = Agent(
    "shop",
    tools=[lookup, refund, contact_human],
    model=ScriptedModel(script),
    world=World(on_events=save),
)

async def main() -> None:
    command = sys.argv[1]
    saved = sys.stdin.read()
    if command == "run":
        outcome = await shop.run("refund order 123", requester="anna", metadata={"ticket": 7})
    elif command == "live":
        thread = shop.launch("refund order 123")
        LIVE.append(thread)
        outcome = await thread.run()
    elif command == "answer":
        outcome = await shop.resume(saved, __import__("json").loads(sys.argv[3]), by="otto")
    else:
        outcome = await getattr(shop, command)(saved)
    sys.stdout.write(outcome.checkpoint)

asyncio.run(main())
'''


class Shop:
    """A program of its own, started anew for each step of a story."""

    def __init__(self, folder: Path) -> None:
        self.ledger = folder / "ledger.txt"
        self.ledger.touch()
        self.program = folder / "shop.py"
        self.program.write_text(SHOP)

    def start(
        self, command: str, saved: str = "", *arguments: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the program to its end, with a checkpoint on its standard input."""
        return subprocess.run(
            [sys.executable, "-W", "error", self.program, command, self.ledger, *arguments],
            input=saved,
            env={"PYTHONPATH": str(ROOT), **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )

    def step(self, command: str, saved: str = "", *arguments: str) -> str:
        """Run a step that must work, and give its checkpoint."""
        done = self.start(command, saved, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def deeds(self) -> list[str]:
        """What was done, without the ids of the processes that did it."""
        return [line.partition(" ")[2] for line in self.ledger.read_text().splitlines()]

    @property
    def processes(self) -> set[str]:
        """The processes that did something."""
        return {line.partition(" ")[0] for line in self.ledger.read_text().splitlines()}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Give a shop with an empty ledger."""
    return Shop(tmp_path)


def open_questions(checkpoint: str) -> dict[str, str]:
    """Find the questions that were asked, by kind."""
    asked = (event["question"] for event in log_of(checkpoint) if event["type"] == "QuestionAsked")
    return {question["kind"]: question["id"] for question in asked}


def test_half_in_one_process_the_rest_in_another(shop: Shop) -> None:
    """Run, end; answer in a second process, end; answer in a third: each effect once."""
    first = shop.step("run")
    asked = open_questions(first)
    second = shop.step("answer", first, json.dumps({asked["approval"]: APPROVED}))
    third = shop.step("answer", second, json.dumps("yes, please"))

    thread = log_of(third)[0]["thread"]
    assert shop.deeds == ["lookup 123", f"refund 123 5.0 {thread}/6.0"]
    assert len(shop.processes) == 2
    assert log_of(third)[-1]["type"] == "ThreadFinished"
    assert log_of(third)[-3]["by"] == "otto"


def test_the_same_answer_in_two_processes_is_the_callers_to_prevent_but_never_silent(
    shop: Shop,
) -> None:
    """On the newer checkpoint the second answer is refused; the tool doesn't run again."""
    first = shop.step("run")
    answers = json.dumps({open_questions(first)["approval"]: APPROVED})
    second = shop.step("answer", first, answers)

    again = shop.start("answer", second, answers)

    assert again.returncode == 1
    assert "AlreadySettled" in again.stderr
    assert "answered by otto" in again.stderr
    assert sum(deed.startswith("refund") for deed in shop.deeds) == 1


def test_a_process_that_dies_in_a_tool_leaves_a_question_not_a_repeat(
    shop: Shop, tmp_path: Path
) -> None:
    """Killed in the middle of a side effect: the next process asks before anything runs."""
    saved = tmp_path / "saved.json"
    died = shop.start("live", "", str(saved), DIE="1")
    assert died.returncode == 9

    resumed = shop.step("resume", saved.read_text())

    assert shop.deeds == ["lookup 123"]
    assert log_of(resumed)[-1]["question"]["purpose"] == "outcome"
    shop.step("answer", resumed, json.dumps("run_again"))
    assert shop.deeds == ["lookup 123", "lookup 123"]


def test_cancel_in_another_process_undoes_what_the_first_did(shop: Shop) -> None:
    """A compensation needs no memory but the log."""
    first = shop.step("run")
    second = shop.step("answer", first, json.dumps({open_questions(first)["approval"]: APPROVED}))

    shop.step("cancel", second)

    assert shop.deeds[-1] == "unrefund 123"


async def test_a_checkpoint_is_plain_json_of_the_events() -> None:
    """Readable by anything, with the version of its schema, and no pickles or closures."""

    @tool(approval=True)
    async def act() -> str:
        return "acted"

    stage = Stage([calls(call("act")), says("done")], act)
    paused = await stage.agent.run("go", requester="anna", metadata={"a": [1, None, {"b": "ü"}]})

    plain = json.loads(paused.checkpoint)
    assert plain["parley"] == 1
    assert plain["events"][0]["metadata"] == {"a": [1, None, {"b": "ü"}]}
    again: Any = json.dumps(plain, indent=2)
    assert expect(await stage.agent.resume(again, APPROVED), Finished).result == "done"
    assert expect(await stage.agent.resume(again.encode(), APPROVED), Finished).result == "done"


async def test_a_checkpoint_survives_being_opened_and_written_at_every_event() -> None:
    """Reading and writing it back changes nothing, wherever it was cut."""

    @tool(approval=True)
    async def act() -> str:
        return "acted"

    stage = Stage([calls(call("act"), call("nope")), says("done")], act)
    paused = await stage.agent.run("go")
    whole = await stage.agent.resume(paused.checkpoint, APPROVED)
    events = log_of(whole)

    for length in range(1, len(events) + 1):
        text = json.dumps({"parley": 1, "events": events[:length]})
        thread = stage.agent.open(text)
        assert log_of(thread.checkpoint) == events[:length]
        assert thread.state.seq == length


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "null",
        "[]",
        "{}",
        '{"parley":1}',
        '{"parley":1,"events":[]}',
        '{"parley":1,"events":[{"type":"Nonsense","at":0}]}',
        '{"parley":1,"events":[{"type":"MessageReceived","at":0,"text":"hi"}]}',
        '{"parley":0,"events":[]}',
        '{"parley":1,"events":' + "[" * 100_000,
        b"\xff\xfe",
        "\ud800",
    ],
)
async def test_a_text_that_is_no_checkpoint_gives_a_named_error(text: str | bytes) -> None:
    """Whatever is wrong with it, nothing runs."""
    stage = Stage([says("done")])

    with pytest.raises(CheckpointMalformed):
        await stage.agent.resume(text)

    assert stage.model.requests == []


async def test_a_truncated_checkpoint_gives_a_named_error_wherever_it_was_cut() -> None:
    """A half-written file is not half a thread."""
    stage = Stage([says("done")])
    text = (await stage.agent.run("go")).checkpoint

    for length in range(0, len(text), 7):
        with pytest.raises(CheckpointError):
            stage.agent.open(text[:length])


async def test_a_checkpoint_of_newer_code_says_so() -> None:
    """Rolling a deploy back must not look like a broken file."""
    stage = Stage([says("done")])

    with pytest.raises(CheckpointTooNew, match="schema 99; this code reads up to 1"):
        stage.agent.open('{"parley":99,"events":[{"type":"FromTheFuture"}]}')
