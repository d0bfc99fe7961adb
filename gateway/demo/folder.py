"""The folder that the processes of the demo share: all that is left between two of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gateway.demo.desk import LEDGER

CHECKPOINT = Path("checkpoint.json")


@dataclass(frozen=True)
class Folder:
    """Where the checkpoint is saved, and where the ledger is written."""

    path: Path

    @property
    def checkpoint(self) -> Path:
        """The thread's file."""
        return self.path / CHECKPOINT

    @property
    def ledger(self) -> Path:
        """Where each refund adds a line."""
        return self.path / LEDGER

    def refunds(self) -> list[str]:
        """Read what was really paid back."""
        return self.ledger.read_text().splitlines() if self.ledger.exists() else []
