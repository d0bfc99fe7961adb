"""One server for all who only write to it: stories that end it have one of their own."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from channels.email.double.letters import Letter
from tests.scenario.email.correspondence import OTTO, Correspondence, correspondence

_NUMBERS = itertools.count(1)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def here(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Correspondence]:
    """Run a server and a post office while a module's tests run."""
    async with correspondence(tmp_path_factory.mktemp("email") / "parley") as running:
        await running.start()
        yield running


@dataclass(frozen=True)
class Case:
    """Somebody who asks for something that Otto must approve."""

    here: Correspondence
    ann: str
    order: str

    @property
    def paid(self) -> bool:
        """Whether it was paid; twice is an error."""
        times = self.here.ledger.count(f"{self.order} 59.9")
        assert times <= 1
        return times == 1

    @property
    def text(self) -> str:
        """What she writes."""
        return f"refund order {self.order}"

    async def question(self, email: str = OTTO) -> Letter:
        """Ask for it, and wait for the question."""
        await self.here.writes(self.ann, self.text)
        return await self.here.letter(email, self.order)


@pytest.fixture
def case(here: Correspondence) -> Case:
    """Somebody new, with an order of their own."""
    number = next(_NUMBERS)
    return Case(here, f"ann{number}@example.com", str(70_000 + number))
