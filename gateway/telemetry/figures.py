"""Figures of what the gateway does by itself, for `/metrics`: plain numbers of this process."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Figures:
    """Counted since the start."""

    unreached: int = 0
    """Questions and results that reached nobody."""
    troubles: dict[str, str] = field(default_factory=dict)
    """What is wrong with each channel at the moment, in words; empty where all is well."""
