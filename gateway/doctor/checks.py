"""What the doctor finds of one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    """What was found of one thing."""

    name: str
    status: Status
    told: str
    todo: str = ""
