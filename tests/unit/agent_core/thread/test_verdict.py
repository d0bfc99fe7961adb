"""Did people give leave? What a pipeline makes its exit code of."""

from __future__ import annotations

from typing import Any

import pytest

from agent_core import Agent, Finished, ScriptedModel, call, calls, contact_human, says, tool
from agent_core.thread.checkpoint import Log
from agent_core.thread.fold import fold
from agent_core.thread.verdict import was_denied

YES: dict[str, Any] = {"approved": True}
NO: dict[str, Any] = {"approved": False}
EDITED: dict[str, Any] = {"approved": True, "arguments": {"what": "b"}}


@tool(approval=True)
async def deploy(what: str) -> str:
    """Deploy it."""
    return f"deployed {what}"


async def verdict(turns: list[list[dict[str, Any]]]) -> bool:
    """Let an agent ask leave in turns, several at once; give these answers; tell the verdict."""
    replies = [calls(*(call("deploy", what=str(n)) for n, _ in enumerate(turn))) for turn in turns]
    agent = Agent("a", tools=[deploy], model=ScriptedModel([*replies, says("done")]))
    outcome = await agent.run("go")
    for turn in turns:
        assert not isinstance(outcome, Finished)
        log, _ = Log.read(outcome.checkpoint)
        asked = list(fold(log.events).open_questions)
        answers = dict(zip(asked, turn, strict=True))
        outcome = await agent.resume(outcome.checkpoint, answers)
    assert isinstance(outcome, Finished)
    log, _ = Log.read(outcome.checkpoint)
    return was_denied(fold(log.events))


@pytest.mark.parametrize(
    ("turns", "denied"),
    [
        ([], False),
        ([[YES]], False),
        ([[EDITED]], False),
        ([[NO]], True),
        ([[NO], [YES]], False),
        ([[YES], [NO]], True),
        ([[YES, NO]], True),
        ([[NO, YES]], True),
        ([[NO, YES], [YES]], False),
        ([[NO], [YES, YES]], False),
    ],
)
async def test_the_last_turn_that_asked_decides(
    turns: list[list[dict[str, Any]]],
    denied: bool,  # noqa: FBT001 (a case)
) -> None:
    """All of it must have been given: one no among several is a no."""
    assert await verdict(turns) is denied


async def test_answer_that_is_no_approval_counts_for_nothing() -> None:
    """Somebody who chose "no" has chosen, and not denied."""
    asks = calls(call("contact_human", question="Sure?", kind="yes/no"))
    agent = Agent("a", tools=[contact_human], model=ScriptedModel([asks, says("done")]))
    outcome = await agent.run("go")
    assert not isinstance(outcome, Finished)
    outcome = await agent.resume(outcome.checkpoint, "no")
    assert isinstance(outcome, Finished)
    log, _ = Log.read(outcome.checkpoint)

    assert not was_denied(fold(log.events))
