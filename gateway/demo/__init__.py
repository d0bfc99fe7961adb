"""`parley demo`: one whole story in the terminal, with real processes and no account or key.

An agent asks for approval, its process ends, a person decides, and another process goes on.
`desk` is the agent, and a good file to copy; the rest tells its story.

Answers may come through a pipe. From an empty one none can come: the demo then answers itself,
as with `--once`, and says so on stderr. Ctrl-D leaves with exit code 1, Ctrl-C with 130.
"""

from __future__ import annotations


def main(*, once: bool) -> int:
    """Tell the story and give the exit code; with `once`, answer in the person's place."""
    # The worker processes import this package too, and need none of the terminal's libraries.
    from gateway.demo.terminal import play  # noqa: PLC0415

    return play(once=once)
