"""The playground's agents on their script: whole conversations, by the library alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_core import Agent, Finished, Outcome
from gateway.playground.desk import LEDGER, desk
from gateway.playground.release import FLEET, MACHINES, release
from gateway.playground.script import REFUND, RELEASE, SCRIPTED, desk_reply, model_for
from tests.doubles.stage import question_of, types_in

YES, NO = {"approved": True}, {"approved": False}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools write where the server runs."""
    monkeypatch.chdir(tmp_path)


async def asked(agent: Agent, text: str) -> Outcome:
    """Say something, and come to the question."""
    outcome = await agent.run(text)
    assert question_of(outcome)
    return outcome


def words(outcome: Outcome) -> str:
    """Give the last words."""
    assert isinstance(outcome, Finished)
    return outcome.result


async def test_release_is_checked_first_asked_for_and_put_on_every_machine() -> None:
    """The version is the one that was named."""
    outcome = await asked(release, "please release 3.1.4")
    outcome = await release.resume(outcome.checkpoint, YES)

    assert words(outcome) == "Done: 3.1.4 runs on 4 machines (4 switched)."
    assert [line.split()[:2] for line in FLEET.read_text().splitlines()] == [
        [machine, "3.1.4"] for machine in MACHINES
    ]


async def test_failed_workflow_is_rolled_back() -> None:
    """To the version before."""
    outcome = await asked(release, 'The workflow "Build" of acme/shop ended with failure.')

    assert outcome.checkpoint.count('"roll_back"') >= 1
    assert "2.3.9" in outcome.checkpoint


async def test_denial_changes_nothing_and_is_told_with_its_reason() -> None:
    """The lead's words reach whoever asked."""
    outcome = await asked(release, RELEASE)
    outcome = await release.resume(outcome.checkpoint, NO, comment="it is Friday")

    assert words(outcome) == "Nothing was changed. The lead says: it is Friday"
    assert not FLEET.exists()


async def test_conversation_goes_on_after_its_end() -> None:
    """A second release in the same thread is a turn of its own."""
    outcome = await asked(release, RELEASE)
    outcome = await release.resume(outcome.checkpoint, YES)
    outcome = await release.say(outcome.checkpoint, "now release 2.5.0")
    outcome = await release.resume(outcome.checkpoint, YES)

    assert words(outcome).startswith("Done: 2.5.0")
    assert types_in(outcome).count("QuestionAsked") == 2


async def test_script_says_that_it_is_one_and_what_it_knows() -> None:
    """Small talk is not understood, and that is said."""
    assert words(await release.run("hello")) == f"{SCRIPTED} I know one sentence: “{RELEASE}”."


async def test_refund_of_what_was_paid() -> None:
    """Looked up, asked for, paid once."""
    outcome = await asked(desk, REFUND)
    outcome = await desk.resume(outcome.checkpoint, YES)

    assert words(outcome) == "Sorry about that! Refunded 59.90 EUR for order 1042."
    assert len(LEDGER.read_text().splitlines()) == 1


async def test_refund_of_another_amount_is_told() -> None:
    """An approval with edits pays what was approved."""
    outcome = await asked(desk, REFUND)
    edited = {"approved": True, "arguments": {"order": "1042", "amount": 20.0}}
    outcome = await desk.resume(outcome.checkpoint, edited)

    assert words(outcome).endswith("The lead changed something first.")
    assert "20.00 EUR" in LEDGER.read_text()


async def test_order_that_is_not_known_is_not_refunded() -> None:
    """Nobody is asked about it."""
    outcome = await desk.run("Please refund order 7")

    assert words(outcome) == f"{SCRIPTED} I can't refund order 7: there is no such order."


def test_real_model_takes_the_place_of_the_script() -> None:
    """With a key, or with a server that needs none."""
    assert model_for(desk_reply, {}) is not None
    assert model_for(desk_reply, {"OPENAI_API_KEY": "sk-1"}) is None
    assert model_for(desk_reply, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}) is None
