"""A folder with agents, a real server process on it, and a person before a shell."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.doubles.supervisor import ROOT, run_parley

QUICK_ENOUGH = 30.0

AGENTS = '''
from agent_core import Agent, MaxSteps, ScriptedModel, ToolContext, call, calls, says, tool

@tool(approval=True)
def refund(ctx: ToolContext, order: str, amount: float) -> str:
    """Pay the customer back."""
    with open("ledger.txt", "a") as ledger:
        ledger.write(f"{order} {amount}\\n")
    return f"Refunded {amount} for order {order}."

def desk_model():
    return ScriptedModel(
        [calls(call("refund", order="1042", amount=59.9)), says("All done.")] * 50
    )

echo = Agent("echo", model=ScriptedModel([says("You said it.")] * 50))
desk = Agent("desk", tools=[refund], model=desk_model())
broken = Agent("broken", tools=[], model=ScriptedModel([]))
'''


@dataclass
class Installation:
    """A folder with agents, a server, and a person before a shell."""

    folder: Path
    port: int
    key: str = ""
    server: subprocess.Popen[bytes] | None = None
    beside: list[subprocess.Popen[str]] = field(default_factory=list)
    more: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """What the shell has set."""
        ours = ("PARLEY_", "OPENAI_", "COLUMNS")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return kept | {
            "PYTHONPATH": str(ROOT),
            "PARLEY_AGENTS": "./agents.py",
            "PARLEY_PORT": str(self.port),
            "PARLEY_LOG": "debug/json",
            "PARLEY_URL": f"http://127.0.0.1:{self.port}",
            "PARLEY_API_KEY": self.key,
            **self.more,
        }

    def start(self, role: str = "all") -> None:
        """Start the server, and wait until it answers."""
        with (self.folder / "server.log").open("ab") as log:
            self.server = subprocess.Popen(
                [sys.executable, "-m", "gateway", "serve", "--role", role],
                cwd=self.folder,
                env=self.environment(),
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + QUICK_ENOUGH
        while not self._answers():
            assert self.server.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.05)  # another process: there is nothing else to wait for

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=2).close()
        except OSError:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stop the server, and give its exit code."""
        assert self.server is not None
        self.server.send_signal(how)
        return self.server.wait(QUICK_ENOUGH)

    @property
    def log(self) -> str:
        """What the server has logged."""
        return (self.folder / "server.log").read_text()

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return run_parley(
            arguments, self.folder, self.environment(), stdin=stdin, seconds=QUICK_ENOUGH
        )

    def data(self, *arguments: str) -> Any:  # noqa: ANN401 - any JSON
        """Run a command that must work, and give its JSON."""
        ran = self.run(*arguments, "--json")
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Run a command beside others."""
        begun = subprocess.Popen(
            [sys.executable, "-m", "gateway", *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.beside.append(begun)
        return begun

    def close(self) -> None:
        """Leave nothing behind."""
        for begun in self.beside:
            begun.kill()
            begun.communicate(timeout=QUICK_ENOUGH)
        if self.server is not None:
            self.server.kill()
            self.server.wait(QUICK_ENOUGH)


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def installation(folder: Path) -> Iterator[Installation]:
    """Start a server in a folder, with a key for everything."""
    (folder / "agents.py").write_text(AGENTS)
    made = Installation(folder, free_port())
    made.key = made.data("keys", "create", "otto", "--scope", "admin")["key"]
    made.start()
    try:
        yield made
    finally:
        made.close()


def waiting_for(site: Installation, thread: str, status: str) -> dict[str, Any]:
    """Ask until a thread has a status."""
    deadline = time.monotonic() + QUICK_ENOUGH
    while (now := site.data("threads", "show", thread))["status"] != status:
        assert time.monotonic() < deadline, now
    return dict(now)
