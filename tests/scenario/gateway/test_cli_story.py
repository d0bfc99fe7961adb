"""Threads from the command line, as people meet them: real processes, one SQLite file."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.gateway.cli_installation import (
    QUICK_ENOUGH,
    Installation,
    installation,
    waiting_for,
)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Installation]:
    """An installation whose server runs."""
    with installation(tmp_path) as made:
        yield made


def question_of(waiting: subprocess.Popen[str]) -> str:
    """Read the question that a waiting launch tells of."""
    assert waiting.stderr is not None
    told = ""
    while not (found := re.search(r"questions answer (\S+)", told)):
        line = waiting.stderr.readline()
        assert line, f"no question was told: {told}"
        told += line
    return found[1]


def test_launch_waits_for_a_person_who_answers_elsewhere(site: Installation) -> None:
    """One shell waits, another approves with another amount; it runs once, and both are told."""
    waiting = site.begin("launch", "desk", "Please refund order 1042", "--wait")
    question = question_of(waiting)

    answered = site.run("questions", "answer", question, "--approve", "--edit", "amount=10.5")
    late = site.run("questions", "answer", question, "--deny")
    out, _ = waiting.communicate(timeout=QUICK_ENOUGH)

    assert (answered.returncode, answered.stdout) == (0, f"{question}\n")
    assert (waiting.returncode, out) == (0, "All done.\n")
    assert late.returncode == 1
    assert "was answered by otto" in late.stderr
    assert (site.folder / "ledger.txt").read_text() == "1042 10.5\n"


def test_story_is_followed_over_a_restart_of_the_server(site: Installation) -> None:
    """Events come once each, in order, from two servers: the stream is taken up where it broke."""
    thread = site.data("launch", "desk", "Please refund order 1042")["id"]
    follower = site.begin("threads", "show", thread, "--follow", "--json")
    assert follower.stdout is not None
    heard: list[dict[str, Any]] = []
    while not heard or heard[-1]["type"] != "QuestionAsked":
        heard.append(json.loads(follower.stdout.readline()))

    site.stop(signal.SIGKILL)
    site.start()
    question = site.data("questions", "list")["items"][0]["id"]
    site.data("questions", "answer", question, "--deny", "--comment", "not today")
    rest, _ = follower.communicate(timeout=QUICK_ENOUGH)
    heard += [json.loads(line) for line in rest.splitlines()]

    assert follower.returncode == 0
    assert [event["seq"] for event in heard] == list(range(1, len(heard) + 1))
    assert heard[-1]["type"] == "ThreadFinished"
    assert not (site.folder / "ledger.txt").exists()


def test_thread_is_steered_and_told(site: Installation) -> None:
    """Pause, resume and cancel show in the timeline, with who and why."""
    thread = site.data("launch", "desk", "Please refund order 1042", "--metadata", "n=1")["id"]
    site.data("threads", "pause", thread, "--reason", "lunch")
    site.data("threads", "resume", thread, "--instruction", "be kind")
    cancelled = site.data("threads", "cancel", thread, "--reason", "changed my mind")

    story = site.run("threads", "show", thread).stdout

    assert (cancelled["status"], cancelled["metadata"]) == ("cancelled", {"n": 1})
    for words in ("by otto: lunch", "by otto: be kind", "by otto: changed my mind", "cancelled"):
        assert words in story
    refused = site.run("threads", "resume", thread)
    assert refused.returncode == 1
    assert "cancelled" in refused.stderr


def test_thread_moves_to_another_installation(site: Installation) -> None:
    """Exported here, imported there with the same id, and answered there."""
    thread = site.data("launch", "desk", "Please refund order 1042")["id"]
    waiting_for(site, thread, "waiting")
    exported = site.run("threads", "export", thread)
    markdown = site.run("threads", "export", thread, "--markdown")
    here_already = site.run("threads", "import", "-", stdin=exported.stdout)
    site.stop()
    for left in site.folder.glob("parley.db*"):
        left.unlink()
    site.key = site.data("keys", "create", "anna", "--scope", "admin")["key"]
    site.start()

    imported = site.run("threads", "import", "-", stdin=exported.stdout)

    assert here_already.returncode == 1
    assert imported.stdout == f"{thread}\n", imported.stderr
    assert "Please refund order 1042" in markdown.stdout
    question = site.data("questions", "list")["items"][0]["id"]
    site.data("questions", "answer", question, "--approve")
    assert waiting_for(site, thread, "finished")["result"] == "All done."


def test_failed_launch_exits_1_and_unknown_agents_are_listed(site: Installation) -> None:
    """A pipeline stops there; whoever mistyped sees the names that there are."""
    failed = site.run("launch", "broken", "hello", "--wait")
    unknown = site.run("launch", "nobody", "hello")

    assert failed.returncode == 1
    assert "is failed" in failed.stderr
    assert unknown.returncode == 1
    assert "desk" in unknown.stderr
