"""Whole gateways under faults: 200 seeds, each held to every rule; each planted mistake is found.

More of them by command: `./parley simulate --seeds 10000`. See docs/simulation.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation.gateway.mutations import MUTATIONS
from tests.simulation.gateway.simulation import Result, simulate

ROOT = Path(__file__).parents[3]
SEEDS, AT_ONCE = 200, 25
FIRST = range(1, SEEDS + 1, AT_ONCE)
_MUST_HAPPEN = frozenset(
    {
        *("killed", "frozen", "clock jumps", "cut off", "outage", "told to stop", "copy"),
        *("hint lost", "hint late, twice", "store.commit lost after", "slack.post lost after"),
    }
)
"""Faults without which some seeds would tell too little."""


def _words(result: Result) -> str:
    return f"seed {result.seed} (./parley simulate --seed {result.seed} --trace): {result.wrong}"


@pytest.mark.parametrize("first", FIRST)
def test_every_rule_holds_whatever_breaks(first: int) -> None:
    """What was acknowledged counts once, and once all is mended, all comes to rest."""
    faults: Counter[str] = Counter()
    for seed in range(first, first + AT_ONCE):
        result = simulate(seed)
        faults += result.faults

        assert not result.wrong, _words(result)
    assert faults.keys() >= _MUST_HAPPEN, "where nothing breaks, nothing is proved"


@pytest.mark.parametrize("name", [name for name in MUTATIONS if name != "none"])
def test_planted_mistake_is_found(name: str) -> None:
    """Each within the 200 seeds of the suite; a rule that finds nothing is no rule."""
    mutation = MUTATIONS[name]
    found = next(
        (
            result
            for seed in range(1, SEEDS + 1)
            if (result := simulate(seed, mutation=mutation())).wrong
        ),
        None,
    )

    assert found is not None, f"{mutation.__doc__} Nobody noticed."


@pytest.mark.parametrize("seed", [3, 24])
def test_seed_tells_the_same_story_again(seed: int) -> None:
    """Nothing in a run looks at the real clock or at real chance."""
    one, other = simulate(seed), simulate(seed)

    assert (one.digest, one.steps, one.faults) == (other.digest, other.steps, other.faults)
    assert one.digest != simulate(seed + 1).digest


def test_seed_tells_the_same_story_in_another_process() -> None:
    """Also where sets of strings have another order; so a failure in CI is replayed at home."""
    told = {
        subprocess.run(
            [sys.executable, "-m", "tests.simulation.gateway", "--seed", "7"],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": hashed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for hashed in ("1", "2")
    }

    assert told == {
        f"seed 7: {(here := simulate(7)).digest}, {here.steps:,} steps, {here.seconds:,.1f} s\n"
    }


def test_story_is_told_line_by_line() -> None:
    """Who looks for a bug reads what happened, in order, with its time."""
    lines: list[str] = []
    result = simulate(5, tell=lines.append)
    times = [float(line.split()[0]) for line in lines]

    assert times == sorted(times)
    assert len(lines) == result.counts.total()


def test_command_names_what_failed_and_how_to_replay_it() -> None:
    """Exit code 1, and the command to look closer; a wrong call is another matter."""
    command = [sys.executable, "-m", "tests.simulation.gateway"]
    failed = subprocess.run(
        [*command, "--seeds", "2", "--jobs", "1", "--mutation", "no-inbox"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    wrong = subprocess.run(
        [*command, "--trace"], cwd=ROOT, capture_output=True, check=False, text=True
    )

    assert (failed.returncode, wrong.returncode) == (1, 2)
    assert "./parley simulate --seed 1 --mutation no-inbox --trace" in failed.stdout
    assert "name it with --seed" in wrong.stderr
