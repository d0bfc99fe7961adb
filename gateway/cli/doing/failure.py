"""What went wrong, in words on stderr, and as an exit code."""

from __future__ import annotations

import sys

from agent_core.errors import ParleyError
from gateway.cli.doing.plain import shown
from gateway.settings.environment import SettingsError

FAILED = 1
USAGE = 2
STILL_WAITING = 3


def exit_code(exc: Exception) -> int:
    """Tell an error that was foreseen; one that was not is a bug, and shows where."""
    if not isinstance(exc, ParleyError):
        raise exc
    sys.stderr.write("".join(f"parley: {line}\n" for line in shown(str(exc)).splitlines()))
    return USAGE if isinstance(exc, SettingsError) else FAILED
