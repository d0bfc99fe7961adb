"""What holds for every test: how hard hypothesis looks, and how it tells what it saw.

`dev` looks in new places on each run. `ci` looks in the same places each time, so that a red
build is about the change and not about luck. `deep` is for a quiet hour.
Choose with HYPOTHESIS_PROFILE; CI=true chooses `ci`.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# A shared machine stalls now and then: slowness of one example says nothing about our code.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("dev"), derandomize=True)
settings.register_profile("deep", parent=settings.get_profile("dev"), max_examples=5_000)
_DEFAULT = "ci" if os.environ.get("CI") else "dev"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", _DEFAULT))


_LONGEST_FIRST = ("ordeal", "scenario", "simulation")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long: at the end, all processes would wait for one."""
    items.sort(key=lambda item: [name not in item.path.parts for name in _LONGEST_FIRST])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write what was printed so that it can go to another process; half a surrogate pair can't."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report
