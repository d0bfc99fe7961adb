"""A sample of the ordeal, on each store: fifty kills, and each other trouble in turn."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.ordeal.house import Kind
from tests.ordeal.ordeal import Plan, endure

_KILLS = int(os.environ.get("ORDEAL_KILLS", "50"))


@pytest.mark.timeout(400)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_whatever_fails_nothing_is_lost_and_nothing_is_repeated(
    tmp_path: Path, kind: Kind
) -> None:
    """Processes die and freeze; the database, Slack, mail and the model fail; customers go on."""
    seed = int(os.environ.get("ORDEAL_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"ORDEAL_SEED={seed}")  # noqa: T201
    outcome = await endure(Plan(kind=kind, seed=seed, kills=_KILLS), tmp_path / "house")
    print(outcome)  # noqa: T201

    assert outcome.troubles["kill -9"] >= _KILLS
    assert outcome.threads["finished"] > 0
