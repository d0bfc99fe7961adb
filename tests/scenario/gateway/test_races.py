"""Races between processes: two approvers, answer and expiry, answer and cancel: one outcome."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from agent_core.loop.world import World
from agent_core.thread.checkpoint import Log
from agent_core.thread.events import (
    ChosenCall,
    Event,
    MessageReceived,
    ModelReplied,
    QuestionAsked,
    ThreadId,
    ThreadLaunched,
)
from agent_core.thread.questions import CallKey, Policy, Question, QuestionId, Waiting
from gateway.control.local import LocalGateway
from gateway.shortcuts.hints import Hints
from storage.store import Store
from storage.urls import open_store
from tests.doubles.postgres import postgres_url, upgraded
from tests.doubles.supervisor import ROOT

ENDS = {"QuestionAnswered", "QuestionExpired", "QuestionWithdrawn"}
HOUR = 3_600
EACH = 15
"""Questions of each race: enough that both get through now and then."""


@asynccontextmanager
async def _file(folder: Path) -> AsyncIterator[str]:
    yield f"sqlite:///{folder / 'parley.db'}"


def _postgres(_folder: Path) -> AbstractAsyncContextManager[str]:
    return postgres_url(upgraded)


DATABASES: dict[str, Callable[[Path], AbstractAsyncContextManager[str]]] = {
    "sqlite": _file,
    "postgres": _postgres,
}
RACES = {"deny": Policy(), "approve": Policy(quorum=2), "expire": Policy(), "cancel": Policy()}
"""What the second process does, while the first approves."""


def waiting(name: str, policy: Policy) -> str:
    """Write a thread whose question expires in an hour."""
    at = World().now()
    question = Question(
        id=QuestionId(f"q_{name}"),
        kind="approval",
        prompt="May I pay?",
        purpose="approval",
        call=CallKey("3.0"),
        tool="pay",
        arguments={},
        to=("lead",),
        waiting=Waiting(expires_after=HOUR),
        policy=policy,
    )
    events: list[Event] = [
        ThreadLaunched(at=at, thread=ThreadId(f"th_{name}"), agent="agent", requester="ann"),
        MessageReceived(at=at, text="pay", sender="ann"),
        ModelReplied(at=at, calls=(ChosenCall("pay", {}, "s"),)),
        QuestionAsked(at=at, question=question),
    ]
    log = Log()
    log.extend(events)
    return log.text()


async def begin(url: str, name: str, jobs: list[dict[str, str]]) -> Process:
    """Start a process, and let it come as far as the start."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.scenario.gateway.racer", url, name),
        stdin=PIPE,
        stdout=PIPE,
        cwd=ROOT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(jobs).encode() + b"\n")
    await process.stdin.drain()
    assert await process.stdout.readline() == b"ready\n"
    return process


async def race(url: str, jobs: dict[str, list[dict[str, str]]]) -> dict[str, list[str]]:
    """Let each process do its jobs at the same time; gives what each was told."""
    async with asyncio.timeout(50):
        started = {name: await begin(url, name, todo) for name, todo in jobs.items()}
        ended = await asyncio.gather(*(one.communicate(b"go\n") for one in started.values()))
    return {name: json.loads(out) for name, (out, _) in zip(started, ended, strict=True)}


async def prepared(store: Store) -> dict[str, list[dict[str, str]]]:
    """Put the threads there, and give each process its jobs."""
    jobs: dict[str, list[dict[str, str]]] = {"otto": [], "lea": []}
    gateway = LocalGateway(store, {}, Hints(store))
    for do, policy in RACES.items():
        for number in range(EACH):
            name = f"{do}{number}"
            await gateway.import_(waiting(name, policy), by="ann")
            where = {"thread": f"th_{name}", "question": f"q_{name}"}
            jobs["otto"].append({"do": "approve", **where})
            jobs["lea"].append({"do": do, **where})
    return jobs


@pytest.mark.parametrize("kind", DATABASES)
async def test_two_processes_bring_each_question_to_one_end(kind: str, tmp_path: Path) -> None:
    """Whoever was first got through, and the other was told so; the log says the same."""
    async with DATABASES[kind](tmp_path) as url:
        store = open_store(url)
        await store.open()
        jobs = await prepared(store)
        await store.close()
        told = await race(url, jobs)
        store = open_store(url)
        await store.open()
        gateway = LocalGateway(store, {}, Hints(store))
        logs = [await gateway.events(job["thread"]) for job in jobs["otto"]]
        await store.close()

    for job, log, ours, theirs in zip(jobs["lea"], logs, told["otto"], told["lea"], strict=True):
        types = [event.type for event in log]
        ends = [one for one in types if one in ENDS]
        assert len(ends) == 1, types
        assert "has begun" not in ours
        if job["do"] == "approve":
            assert (ours, theirs, types.count("VoteCast")) == ("", "", 1)
        elif job["do"] == "cancel":  # also after the answer: it was not run yet
            assert theirs == ""
            assert (ours == "") == (ends == ["QuestionAnswered"])
        else:
            assert [ours, theirs].count("") == 1
            assert (ours == "") == (ends == ["QuestionAnswered"] and log[4].by == "otto")  # type: ignore[attr-defined]  # of that event
