"""`parley doctor`: is everything as it should be?"""

from __future__ import annotations

from gateway.cli.options import AsJson


def doctor(*, as_json: AsJson = False) -> None:
    """Look at settings, database, disk, agents, model, clock and port; exit 1 if one fails."""
    from gateway.cli.doing import examining  # noqa: PLC0415

    examining.examine(as_json=as_json)
