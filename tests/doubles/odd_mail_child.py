"""A child that reads mail like ours, in the pool's place for one that words can break.

`hang` makes it hang, `die` makes it die, `babble` makes it say what no child says. Run by its path.
"""

from __future__ import annotations

import signal
import sys

from channels.email.mail import ReadMail
from channels.email.wire import Done, Job, Ready, frame, to_child


def main() -> None:
    """Read mail until the pipe ends."""
    say(frame(Ready()))
    while len(length := sys.stdin.buffer.read(4)) == 4:
        job = to_child(sys.stdin.buffer.read(int.from_bytes(length, "big")))
        assert isinstance(job, Job)
        if b"hang" in job.raw:
            signal.pause()
        if b"die" in job.raw:
            sys.exit(3)
        if b"babble" in job.raw:
            say(b"\0\0\0\1!")
        say(frame(Done(ReadMail(kind="human", reason="it looks fine"))))


def say(data: bytes) -> None:
    """Write, and don't wait."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
