"""The command line in a real terminal: widths, the spinner, and the same in a pipe."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from aiohttp import web
from rich.cells import cell_len

from tests.unit.gateway.canned import EVENTS, QUESTION, THREAD, Canned

ROOT = Path(__file__).resolve().parents[4]
QUICK_ENOUGH = 30.0
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
LONG = "Ein sehr langer Satz über 返金 und \N{PARTY POPPER} Überweisungen, der nirgends endet " * 5


def in_terminal(
    canned: Canned, *arguments: str, columns: int = 80, stdout: int | None = None
) -> tuple[int, str]:
    """Run a command in a terminal; give the exit code and everything that was shown."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (40, columns))
    program = subprocess.Popen(
        [sys.executable, "-m", "gateway", *arguments],
        cwd=ROOT,
        env=_environment(canned) | {"TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], QUICK_ENOUGH)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says EIO when the last one has let go of the terminal
            break
        shown += piece
    os.close(ours)
    return program.wait(QUICK_ENOUGH), shown.decode().replace("\r\n", "\n")


def in_pipe(canned: Canned, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command with pipes in place of a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "gateway", *arguments],
        cwd=ROOT,
        env=_environment(canned),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def _environment(canned: Canned) -> dict[str, str]:
    ours = ("PARLEY_", "OPENAI_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"PARLEY_URL": canned.url, "PARLEY_API_KEY": "pk_test", "LANG": "C.UTF-8"}


@pytest.fixture
def wordy(canned: Canned) -> Canned:
    """A server whose threads and questions have a lot to say."""
    thread = THREAD | {"result": LONG, "agent": "an-agent-with-quite-a-name"}
    thread |= {"id": "th_0123456789abcdef0123", "status": "waiting"}
    question = QUESTION | {"prompt": LONG, "context": LONG}
    canned.on("GET", "/v1/threads", {"items": [thread] * 3, "next_cursor": None})
    canned.on("GET", "/v1/questions", {"items": [question] * 3, "next_cursor": None})
    canned.on("GET", "/v1/threads/th_1", thread | {"questions": [question]})
    canned.stream("th_1", [[EVENTS[0], EVENTS[1] | {"text": LONG}, *EVENTS[2:]]])
    return canned


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize(
    "command", [("threads", "list"), ("questions", "list"), ("threads", "show", "th_1")]
)
def test_what_is_shown_fits_the_terminal(
    wordy: Canned, command: tuple[str, ...], columns: int
) -> None:
    """No line is wider than the window, in cells; wide letters count twice."""
    code, shown = in_terminal(wordy, *command, columns=columns)

    plain = ESCAPES.sub("", shown)
    too_wide = [
        line
        for line in plain.replace("\r", "\n").splitlines()
        if cell_len(line) > columns and not line.startswith("for example: ")
    ]
    assert code == 0
    assert too_wide == []


def test_id_is_never_cut_in_a_table(wordy: Canned) -> None:
    """People copy it: on a narrow terminal it goes on in the next line."""
    _, shown = in_terminal(wordy, "threads", "list", columns=50)

    column = [line.split(" ")[0] for line in ESCAPES.sub("", shown).splitlines()]
    assert "th_0123456789abcdef0123" in "".join(column)


def test_pipe_gets_everything_in_one_line_and_without_colours(wordy: Canned) -> None:
    """A program that reads a table finds whole values, one row a line."""
    ran = in_pipe(wordy, "threads", "list")

    assert len(ran.stdout.splitlines()) == 4
    assert " ".join(LONG.split()) in ran.stdout
    assert "\x1b" not in ran.stdout + ran.stderr


def test_spinner_turns_on_a_terminal_while_something_waits(canned: Canned) -> None:
    """On stderr, gone afterwards, and never between the data."""
    canned.on("GET", "/v1/threads/th_1", THREAD)
    canned.stream("th_1", [EVENTS[:3], EVENTS[3:]])
    ours, theirs = os.pipe()

    code, talk = in_terminal(canned, "threads", "show", "th_1", "-f", "--json", stdout=theirs)

    os.close(theirs)
    with os.fdopen(ours) as data:
        assert len(data.read().splitlines()) == len(EVENTS)
    assert code == 0
    assert "th_1: running" in ESCAPES.sub("", talk)
    assert "trying again" in ESCAPES.sub("", talk)
    assert talk.rstrip().endswith("\x1b[2K")


def test_pipe_gets_no_spinner(canned: Canned) -> None:
    """What waits says nothing, where nobody watches."""
    canned.on("GET", "/v1/threads/th_1", THREAD)
    canned.stream("th_1", [EVENTS[:3], EVENTS[3:]])

    assert in_pipe(canned, "threads", "show", "th_1", "--follow").stderr == ""


def test_ctrl_c_while_following_leaves_quietly(canned: Canned) -> None:
    """130, as every shell expects, and no traceback; the thread goes on without us."""
    canned.on("GET", "/v1/threads/th_1", THREAD | {"status": "running"})
    canned.stream("th_1", [EVENTS[:2]])

    program = subprocess.Popen(
        [sys.executable, "-m", "gateway", "threads", "show", "th_1", "--follow", "--json"],
        cwd=ROOT,
        env=_environment(canned),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    program.stdout.readline()
    program.send_signal(2)
    _, talk = program.communicate(timeout=QUICK_ENOUGH)

    assert (program.returncode, talk) == (130, "")


def test_reader_that_goes_away_is_no_error(canned: Canned) -> None:
    """`parley threads list --json | head -1`."""

    async def endless(_request: web.Request) -> web.StreamResponse:
        return web.Response(text="[" + "0,\n" * 200_000 + "0]")

    canned.answers["GET", "/v1/threads"] = endless
    command = f"{sys.executable} -m gateway threads list --json | head -1"

    ran = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=ROOT,
        env=_environment(canned),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.stdout, ran.stderr) == ("[0,\n", "")


def test_output_in_a_narrow_encoding_is_still_output(canned: Canned) -> None:
    """A terminal without our letters shows a question mark, never a traceback."""
    canned.on(
        "GET", "/v1/threads", {"items": [THREAD | {"result": "Grüße 返金"}], "next_cursor": None}
    )

    ran = subprocess.run(
        [sys.executable, "-m", "gateway", "threads", "list"],
        cwd=ROOT,
        env=_environment(canned) | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0
    assert "Gr??e ??" in ran.stdout
