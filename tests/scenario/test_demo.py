"""`parley demo` as people meet it: real processes, a pipe or a real terminal around them."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ("-m", "gateway", "demo")
PROMPT = "\n> "
CTRL_C, CTRL_D = "\x03", "\x04"
QUICK_ENOUGH = 30.0

# Makes the pty its own terminal first: only then does Ctrl-C reach the program as a signal.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


class Terminal:
    """The demo in a pseudo-terminal, and a person before it."""

    def __init__(self, folder: Path) -> None:
        self._ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (40, 80))
        self._program = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *DEMO],
            cwd=ROOT,
            env=os.environ | {"TMPDIR": str(folder), "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._raw = ""
        self._read_so_far = 0

    @property
    def text(self) -> str:
        """All that was shown, without colours."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self._raw).replace("\r", "")

    def wait_for(self, words: str) -> None:
        """Read on until these words are shown."""
        deadline = time.monotonic() + QUICK_ENOUGH
        while words not in self.text[self._read_so_far :]:
            assert time.monotonic() < deadline, f"{words!r} never came:\n{self.text}"
            assert self._read(), f"it ended without {words!r}:\n{self.text}"
        self._read_so_far = self.text.index(words, self._read_so_far) + len(words)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        """Read to the end and give the exit code."""
        while self._read():
            pass
        return self._program.wait(QUICK_ENOUGH)

    def close(self) -> None:
        """Leave nothing behind."""
        self._program.kill()
        self._program.wait(QUICK_ENOUGH)
        os.close(self._ours)

    def _read(self) -> bool:
        if not select.select([self._ours], [], [], QUICK_ENOUGH)[0]:
            return False
        try:
            piece = os.read(self._ours, 4096)
        except OSError:  # Linux says EIO when the last one has let go of the terminal
            return False
        self._raw += piece.decode(errors="replace")
        return bool(piece)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """The demo in a terminal, standing at its question."""
    shown = Terminal(tmp_path)
    shown.wait_for(PROMPT)
    yield shown
    shown.close()


def piped(*arguments: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run the demo with pipes in place of a terminal."""
    return subprocess.run(
        [sys.executable, *DEMO, *arguments],
        cwd=ROOT,
        env=os.environ | env,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def assert_in_order(text: str, *milestones: str) -> None:
    """Each milestone comes after the one before it."""
    rest = text
    for milestone in milestones:
        _, found, rest = rest.partition(milestone)
        assert found, f"{milestone!r} is missing, or too early:\n{text}"


def test_demo_once_tells_the_whole_story(tmp_path: Path) -> None:
    """It exits 0, in order, silent on stderr, and removes its folder."""
    result = piped("--once", TMPDIR=str(tmp_path))

    assert (result.returncode, result.stderr) == (0, "")
    assert_in_order(
        result.stdout,
        "The model is a script",
        "Please refund order 1042",
        "look_up_order",
        "refund needs a person's approval",
        "has ended with exit code 0",
        "checkpoint.json",
        "May I run refund?",
        "> approve",
        "Another process goes on",
        "Refunded 59.90 EUR",
        "The ledger refunds.txt has 1 line.",
        "has refused it",
        "answered by you",
        "The ledger still has 1 line.",
        "ThreadLaunched",
        "QuestionAnswered",
        "ThreadFinished",
    )
    assert list(tmp_path.iterdir()) == []


def test_process_that_asks_is_not_the_one_that_goes_on() -> None:
    """Asking, resuming and refusing the second answer are three processes, none of them ours."""
    story = piped("--once").stdout
    asked, resumed, refused = re.findall(r"^Process (\d+) has", story, flags=re.MULTILINE)
    writers = dict(re.findall(r"(\d+)  (QuestionAsked|QuestionAnswered|ThreadFinished)", story))

    assert len({asked, resumed, refused}) == 3
    assert set(writers) == {asked, resumed}


def test_refund_runs_exactly_once() -> None:
    """The ledger, which the tool itself writes, has one line, also after a second answer."""
    story = piped("--once").stdout

    assert len(re.findall(r"^th_\w+/6\.0 order 1042: 59\.90 EUR", story, flags=re.MULTILINE)) == 1
    assert "still has 1 line." in story


@pytest.mark.parametrize("columns", ["80", "200"])
def test_piped_story_is_plain_and_80_columns_wide(tmp_path: Path, columns: str) -> None:
    """No escape codes in a pipe, and no line over 80, however wide the terminal or long a path."""
    deep = tmp_path / ("a-folder-with-a-long-name-" * 4)
    deep.mkdir()
    story = piped("--once", TMPDIR=str(deep), COLUMNS=columns).stdout

    assert "\x1b" not in story
    assert max(map(len, story.splitlines())) == 80


def test_story_survives_an_output_that_knows_only_ascii() -> None:
    """A terminal without our signs shows others in their place; it doesn't crash."""
    result = piped("--once", PYTHONIOENCODING="ascii")

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.isascii()


def test_nobody_at_the_keyboard_means_once_with_a_note() -> None:
    """An empty stdin can't answer: the demo does, and says so on stderr."""
    result = piped(stdin="")

    assert result.returncode == 0
    assert result.stderr == (
        "parley: nobody is at the keyboard, so the demo answers itself, as with --once\n"
    )
    assert "> approve   (nobody at the keyboard)" in result.stdout
    assert "has 1 line." in result.stdout


def test_piped_answers_are_answers() -> None:
    """What comes through a pipe counts as typed, and its end is no approval."""
    denied = piped(stdin="deny\n")
    unclear = piped(stdin="perhaps\n")

    assert (denied.returncode, denied.stderr) == (0, "")
    assert "has 0 lines." in denied.stdout
    assert unclear.returncode == 1
    assert "No answer came." in unclear.stdout


def test_no_color_is_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR a terminal gets no colours; without, it does."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    colourful = Terminal(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal(tmp_path)
    for shown in (colourful, plain):
        shown.wait_for(PROMPT)
        shown.type("quit\n")
        shown.end()
        shown.close()
    colour = re.compile(r"\x1b\[[0-9;]*3[0-7]m")

    assert colour.search(colourful._raw)
    assert not colour.search(plain._raw)


def test_approving_in_a_terminal_refunds(terminal: Terminal) -> None:
    """`approve` lets the refund run as it was chosen."""
    terminal.type("approve\n")

    assert terminal.end() == 0
    assert_in_order(terminal.text, "approved", "Refunded 59.90 EUR", "has 1 line.", "Done")
    assert max(map(len, terminal.text.splitlines())) <= 80


def test_denying_with_a_reason_tells_the_agent_why(terminal: Terminal) -> None:
    """A denial goes back to the agent with its reason; nothing is refunded."""
    terminal.type("deny send a photo first\n")

    assert terminal.end() == 0
    assert "I have not refunded order 1042. My colleague says: send a photo first" in terminal.text
    assert "has 0 lines." in terminal.text


def test_denying_without_a_reason_asks_for_one(terminal: Terminal) -> None:
    """A bare `deny` is asked why."""
    terminal.type("n\n")
    terminal.wait_for("Why?")
    terminal.type("too late\n")

    assert terminal.end() == 0
    assert "My colleague says: too late" in terminal.text


def test_editing_the_amount_refunds_that_amount(terminal: Terminal) -> None:
    """`edit` approves another amount; one that doesn't fit is refused, and the question stays."""
    terminal.type("edit -5\n")
    terminal.wait_for("greater than 0")
    terminal.wait_for("The question stays open.")
    terminal.wait_for(PROMPT)
    terminal.type("edit\n")
    terminal.wait_for("What amount?")
    terminal.type("many\n")
    terminal.wait_for("is not an amount")
    terminal.type("45,50 EUR\n")

    assert terminal.end() == 0
    assert_in_order(terminal.text, "Refunded 45.50 EUR", "has 1 line.", "approved with changes")


def test_nonsense_gets_a_friendly_correction(terminal: Terminal) -> None:
    """What isn't understood is said so, with what would be; then the answer counts."""
    terminal.type("perhaps\n")
    terminal.wait_for("I don't understand 'perhaps'. Please type one of: approve")
    terminal.type("approve\n")

    assert terminal.end() == 0
    assert "has 1 line." in terminal.text


def test_checkpoint_can_be_looked_at(terminal: Terminal) -> None:
    """`show` prints the file: plain JSON, an event a line."""
    terminal.type("show\n")
    terminal.wait_for('"type": "QuestionAsked"')
    terminal.wait_for(PROMPT)
    terminal.type("quit\n")

    assert terminal.end() == 0
    assert "Nothing was refunded" in terminal.text


@pytest.mark.parametrize(
    ("key", "code", "words"), [(CTRL_D, 1, "No answer came."), (CTRL_C, 130, "Interrupted.")]
)
def test_leaving_by_a_key_is_clean(
    terminal: Terminal, tmp_path: Path, key: str, code: int, words: str
) -> None:
    """Ctrl-D and Ctrl-C end it with a sentence, an exit code and no traceback or folder."""
    terminal.type(key)

    assert terminal.end() == code
    assert words in terminal.text
    assert "Traceback" not in terminal.text
    assert list(tmp_path.iterdir()) == []


def test_interrupting_a_working_process_is_clean(tmp_path: Path) -> None:
    """Ctrl-C while a worker runs ends both, without a traceback or a folder."""
    shown = Terminal(tmp_path)
    shown.wait_for("A customer writes")
    shown.type(CTRL_C)

    assert shown.end() == 130
    assert "Traceback" not in shown.text
    assert list(tmp_path.iterdir()) == []
    shown.close()
