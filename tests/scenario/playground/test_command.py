"""`parley demo` as people start and leave it: real processes, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DEMO = (sys.executable, "-m", "gateway", "demo")
SOON = 30.0
# Makes the pty its own terminal first: only then does Ctrl-C reach the program as a signal.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


def clean() -> dict[str, str]:
    """Give an environment without a real model."""
    return {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}


@contextmanager
def playing(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the playground, and give it with the address that it prints."""
    with subprocess.Popen(
        [*DEMO, "--no-browser", *arguments],
        cwd=ROOT,
        env=clean() | {"TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            assert program.stdout is not None
            yield program, program.stdout.readline().split()[-1]
        finally:
            program.kill()


def server_of(address: str) -> int:
    """Wait until the server answers, and give its process."""
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        with urllib.request.urlopen(address) as page:  # noqa: S310 (the address is ours)
            found = re.search(r"server runs</span> process (\d+)", page.read().decode())
        if found:
            return int(found[1])
        time.sleep(0.1)
    raise AssertionError("the server has not come up")


def is_gone(pid: int) -> bool:
    """Wait a moment for a process to be no more."""
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":  # dead; whoever adopts it has only not looked yet
            return True
        time.sleep(0.05)
    return False


def test_once_tells_the_whole_story_and_leaves_nothing(tmp_path: Path) -> None:
    """It exits 0, silent on stderr, step by step; none of its servers is left."""
    told = subprocess.run(
        [*DEMO, "--once"],
        cwd=ROOT,
        env=clean() | {"TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (told.returncode, told.stderr) == (0, "")
    rest = told.stdout
    for milestone in (
        "the model is a script",
        "1 · Mention the bot",
        "@parley please release 2.4.0",
        "2 · It asks for approval, everywhere",
        "stands in Slack, in Olga's mailbox and in the inbox",
        "Olga replies to her mail: yes",
        "email:olga@example.com: approved",
        "4 · Every copy settles",
        "POST /hooks/ci → 202",
        "6 · Kill the server while it waits",
        "7 · Approve, and kill it",
        "8 · Watch it carry on",
        "What the log says",
        "ran it again with the same key",
        "machines, 0 of them twice.",
    ):
        _, found, rest = " ".join(rest.split()).partition(" ".join(milestone.split()))
        assert found, f"{milestone!r} is missing, or too early:\n{told.stdout}"
    servers = set(re.findall(r"started +process (\d+)", told.stdout))
    assert len(servers) >= 3
    assert all(is_gone(int(pid)) for pid in servers)
    assert list(tmp_path.iterdir()) == []
    assert "\x1b" not in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80


def test_terminal_opens_the_browser_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    """Exit code 0, no process, no folder; and somebody else's playground goes on."""
    mine, theirs, browser = tmp_path / "mine", tmp_path / "theirs", tmp_path / "browser"
    for folder in (mine, theirs):
        folder.mkdir()
    browser.write_text(f"#!/bin/sh\necho $1 > {tmp_path}/opened\n")
    browser.chmod(0o755)
    keyboard, screen = os.openpty()
    with (
        playing(theirs) as (_, other),
        subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, "-m", "gateway", "demo"],
            cwd=ROOT,
            env=clean() | {"TMPDIR": str(mine), "DISPLAY": ":99", "BROWSER": str(browser)},
            stdin=screen,
            stdout=screen,
            start_new_session=True,
        ) as program,
    ):
        address = appeared(tmp_path / "opened")
        server, untouched = server_of(address), server_of(other)
        assert len(list(mine.iterdir())) == 1
        os.write(keyboard, b"\x03")
        assert program.wait(SOON) == 0
        assert is_gone(server)
        assert list(mine.iterdir()) == []
        assert server_of(other) == untouched
    os.close(keyboard)
    os.close(screen)


def appeared(file: Path) -> str:
    """Wait for a file with something in it."""
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        if file.exists() and (words := file.read_text().strip()):
            return words
        time.sleep(0.05)
    raise AssertionError(f"{file.name} has not come")


def test_server_does_not_outlive_a_playground_that_was_killed(tmp_path: Path) -> None:
    """Kill -9 gives no chance to say goodbye: the kernel does it."""
    with playing(tmp_path, "--port", "0") as (program, address):
        server = server_of(address)
        program.kill()

    assert is_gone(server)


def test_taken_port_is_told_before_anything_starts(tmp_path: Path) -> None:
    """Exit code 1, one sentence, and no folder."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [*DEMO, "--port", port],
            cwd=ROOT,
            env=clean() | {"TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"parley: port {port} can't be had")
    assert list(tmp_path.iterdir()) == []
