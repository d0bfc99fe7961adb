"""The child that reads mail, one after the other: `python -m channels.email.worker`.

It needs no network, no secret and no file. If it takes too long, somebody kills it; if nobody is
left to do that, it ends by itself.
"""

from __future__ import annotations

import math
import resource
import signal
import sys
from typing import BinaryIO, Final

from channels.email.mail import ReadMail
from channels.email.reading import parse_mail, rejected
from channels.email.wire import LENGTH, Done, Job, Ready, Record, ToChild, Wanted, frame, to_child

_MEMORY: Final = 1_500_000_000
_GRACE: Final = 5


class Pipes:
    """The two ends that the child has."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink

    def receive(self) -> ToChild | None:
        """Wait for a message; nothing at the end."""
        head = self._source.read(LENGTH)
        return (
            to_child(self._source.read(int.from_bytes(head, "big")))
            if len(head) == LENGTH
            else None
        )

    def send(self, message: Ready | Wanted | Done) -> None:
        """Send a message."""
        self._sink.write(frame(message))
        self._sink.flush()

    def lookup(self, name: str) -> bytes | None:
        """Ask our parent for a TXT record."""
        self.send(Wanted(name))
        answer = self.receive()
        return answer.value if isinstance(answer, Record) else None


def serve(pipes: Pipes) -> None:
    """Read mail until the pipe ends."""
    pipes.send(Ready())
    while isinstance(job := pipes.receive(), Job):
        signal.alarm(math.ceil(job.seconds) + _GRACE)
        pipes.send(Done(read(job, pipes)))
        signal.alarm(0)


def read(job: Job, pipes: Pipes) -> ReadMail:
    """Read one mail; whatever it does to a parser, it is put aside and not lost."""
    try:
        return parse_mail(job.raw, job.envelope, job.options, lookup=pipes.lookup)
    except MemoryError:
        return rejected("reading it took too much memory")
    except Exception as exc:  # noqa: BLE001 - a mail that nobody foresaw is put aside, by name
        return rejected(f"it can't be read ({type(exc).__name__})")


def main() -> None:
    """Serve on standard input and output."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # our parent decides when we stop
    serve(Pipes(sys.stdin.buffer, sys.stdout.buffer))


if __name__ == "__main__":
    main()
