"""What the helpdesk promises. It needs no key: `python -m unittest`, or pytest if you have it."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path

from agents import TOOLS, UNLOCKED, script

from agent_core import Agent, Finished, ScriptedModel


class HelpdeskTest(unittest.IsolatedAsyncioTestCase):
    """The agent with its own tools, on the script, in a folder of its own."""

    def setUp(self) -> None:
        """Work where nothing is left behind."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(folder.name)
        self.agent = Agent("helpdesk", tools=TOOLS, model=ScriptedModel(script))

    async def test_account_is_unlocked_when_somebody_approves(self) -> None:
        """Not before, and once."""
        outcome = await self.agent.run("Please unlock ann")
        assert outcome.is_paused
        assert not UNLOCKED.exists()

        outcome = await self.agent.resume(outcome.checkpoint, {"approved": True})
        assert isinstance(outcome, Finished)
        assert len(UNLOCKED.read_text().splitlines()) == 1

    async def test_denial_goes_back_to_the_agent_with_its_reason(self) -> None:
        """And nothing is unlocked."""
        outcome = await self.agent.run("Please unlock ann")
        denied = await self.agent.resume(
            outcome.checkpoint, {"approved": False}, comment="she has left"
        )
        assert "she has left" in denied.checkpoint
        assert not UNLOCKED.exists()


if __name__ == "__main__":
    unittest.main()
