"""The command line in this process, talking to a server that says what it was told to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.cli import main
from tests.unit.gateway.canned import Canned


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it printed where."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:  # noqa: ANN401 - any JSON
        """Read what was printed as JSON."""
        return json.loads(self.out)


Parley = Callable[..., Ran]


@pytest.fixture
def parley(
    canned: Canned,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Parley:
    """Run a command against the canned server, from an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("PARLEY_", "OPENAI_", "EMAIL_", "SMTP_", "IMAP_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PARLEY_URL", canned.url)
    monkeypatch.setenv("PARLEY_API_KEY", "pk_test")

    def run(*arguments: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        code = ended.value.code
        return Ran(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run
