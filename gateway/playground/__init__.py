"""`parley demo`: the playground, with a real server and no account or key.

One command opens a page with a Slack, a mailbox, a pipeline and the inbox side by side, all on
loopback; the server between them is the real one, in a process of its own, and may be killed.
`--once` plays the whole first minute by itself and prints it. `desk` and `release` are the agents,
and good files to copy; the rest is the stage around them.
"""

from __future__ import annotations


def main(*, once: bool, port: int | None = None, browser: bool = True) -> int:
    """Play until Ctrl-C, or once; give the exit code."""
    # The server imports the agents of this package, and needs none of the stage's libraries.
    from gateway.playground.terminal import play  # noqa: PLC0415

    return play(once=once, port=port, browser=browser)
