"""Run the benchmark of webhooks. The table goes to standard output."""

from __future__ import annotations

import argparse
import hashlib
import hmac
import itertools
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import replace

from bench.doors import Door, add_arguments, take_turns
from bench.gateway.entrants import EntrantFailed
from bench.gateway.intake import BARE, BODY, COMMIT, report

_HOOK = Door(
    name="Parley",
    module="bench.hooks.server_parley",
    path="/hooks/bench",
    done=b"HTTP/1.1 202",
)
_KEYED = replace(_HOOK, name="Parley, with a thread_key", way="keyed")
_DOORS = (_HOOK, _KEYED, *(replace(one, path="/v1/threads") for one in (BARE, COMMIT)))
_TARGETS = ((_HOOK, BARE, 0.65), (_HOOK, COMMIT, 0.80))
"""Those of issue 3."""


def main() -> int:
    """Measure, and tell."""
    parser = argparse.ArgumentParser(prog="python -m bench.hooks", description=__doc__)
    add_arguments(parser)
    asked = parser.parse_args()
    told = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs"
    print(f"{told}, load {os.getloadavg()[0]:.1f}", flush=True)
    print(f"{asked.connections} connections, {len(BODY):,} bytes")
    try:
        for line in report(take_turns(_DOORS, _deliveries, asked), _HOOK, _TARGETS):
            print(line)
    except EntrantFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


def _deliveries(door: Door, key: str) -> Iterator[bytes]:
    """Sign deliveries, each with an id of its own; the body's signature is the same."""
    signature = hmac.new(key.encode(), BODY, hashlib.sha256).hexdigest()
    heads = [
        f"POST {door.path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(BODY)}",
        f"X-Signature: {signature}",
        f"X-Hub-Signature-256: sha256={signature}",
        "X-GitHub-Delivery: ",
    ]
    before = "\r\n".join(heads).encode()
    return (b"%b%012d\r\n\r\n%b" % (before, number, BODY) for number in itertools.count(1))


if __name__ == "__main__":
    sys.exit(main())
