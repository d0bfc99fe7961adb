"""A program that has loaded everything already, and runs `parley` again and again.

A fork of a warm process is up in a tenth of the time that a cold start takes, and half of our
scenarios start a server of their own. It lives as long as whoever started it holds its stdin.

Whoever connects to its socket gets a supervisor, which is a fork of it. They write JSON, one value
a line: where they are (folder, environment, file for what is logged), and then orders, each with
arguments for `parley`. An order is answered by two lines: the process id of what is starting, and
its exit code once it has ended (-9 if it was killed).
"""

from __future__ import annotations

import importlib
import json
import os
import select
import socket
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn, TextIO

from gateway.cli import main as parley

LATE = (
    *("gateway.cli.doing.serving", "gateway.cli.doing.keys", "gateway.server"),
    *("gateway.cli.doing.launching", "gateway.cli.doing.questions", "gateway.cli.doing.threads"),
    *("storage.sqlite", "storage.postgres", "storage.migrations.upgrades"),
    *("channels.email.channel", "channels.email.listener", "channels.email.mailbox"),
    *("channels.callback.channel", "channels.slack.channel", "channels.webhook.channel"),
    *("gateway.inbox.wiring", "channels.slack.openid"),
)
"""What servers and commands import when they need it."""
_LAST_WORDS_S = 5.0


def main() -> None:
    """Give everybody who connects a supervisor, until stdin ends."""
    for module in LATE:
        importlib.import_module(module)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(sys.argv[1])
        door.listen()
        print("ready", flush=True)  # noqa: T201 (whoever started us waits for it)
        while door in select.select([door, sys.stdin], [], [])[0]:
            with door.accept()[0] as caller:
                if not os.fork():
                    door.close()
                    _supervise(caller)
            with suppress(ChildProcessError):
                _forget_the_dead()
    _let_them_end()


def _forget_the_dead() -> None:
    while os.waitpid(-1, os.WNOHANG) != (0, 0):
        pass


def _let_them_end() -> None:
    """Wait for supervisors that still write down what they covered, but for nobody who hangs."""
    end = time.monotonic() + _LAST_WORDS_S
    with suppress(ChildProcessError):  # nobody is left
        while time.monotonic() < end:
            _forget_the_dead()
            time.sleep(0.02)


def _supervise(caller: socket.socket) -> NoReturn:
    with caller.makefile("r", encoding="utf-8") as orders, caller.makefile("w") as answers:
        _settle_in(json.loads(orders.readline()))
        for line in orders:
            child = os.fork()
            if not child:
                caller.detach()
                _run(json.loads(line))
            _tell(answers, child)
            _, status = os.waitpid(child, 0)
            _tell(answers, os.waitstatus_to_exitcode(status))
    os._exit(0)


def _settle_in(place: dict[str, Any]) -> None:
    os.chdir(place["folder"])
    os.environ.clear()
    os.environ.update(place["environ"])
    _point(sys.stdin, os.devnull, os.O_RDONLY)
    for stream in (sys.stdout, sys.stderr):
        _point(stream, place["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _point(stream: TextIO, path: str, flags: int) -> None:
    opened = os.open(path, flags, 0o644)
    os.dup2(opened, stream.fileno())
    os.close(opened)


def _tell(answers: TextIO, number: int) -> None:
    with suppress(BrokenPipeError):  # whoever asked no longer cares
        answers.write(f"{number}\n")
        answers.flush()


def _run(order: dict[str, Any]) -> NoReturn:
    os.environ.update(order["environ"])
    if order["stdin"]:
        _point(sys.stdin, order["stdin"], os.O_RDONLY)
    if order["out"]:
        _point(sys.stdout, order["out"], os.O_WRONLY | os.O_TRUNC | os.O_CREAT)
    code = 1
    try:
        parley(order["arguments"])
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else 1
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
