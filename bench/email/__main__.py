"""Run the benchmarks of email. The report goes to standard output."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from bench.email import door, replies, speed
from bench.gateway.entrants import EntrantFailed


def main() -> int:
    """Count the replies that are found right, where the cases are, and measure speed."""
    parser = argparse.ArgumentParser(prog="python -m bench.email", description=__doc__)
    parser.add_argument("--cases", type=Path, default=replies.CASES, help="their folder")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long to measure speed")
    door.add_arguments(parser)
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}")
    if (asked.cases / "reply_cases.jsonl").is_file():
        print(replies.report(replies.run(asked.cases)))
    else:
        print(f"no reply cases in {asked.cases.resolve()}: left out", file=sys.stderr)
    print(speed.report(asked.seconds))
    try:
        print(door.measure(asked))
    except EntrantFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
