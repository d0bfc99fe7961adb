"""The worker's exit codes, and what the demo makes of them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from gateway.demo import process, worker
from gateway.demo.folder import Folder
from gateway.demo.replies import Answer
from gateway.demo.script import REQUEST

NOTHING = io.StringIO()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """An empty folder to work in; the worker's change of folder is undone after the test."""
    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path)


def answer(*, approved: bool) -> io.StringIO:
    """An answer as the worker gets it."""
    return io.StringIO(json.dumps({"value": {"approved": approved}, "comment": ""}))


def test_run_saves_a_thread_that_waits(folder: Folder) -> None:
    """After the first process there is a checkpoint, and no refund."""
    code = worker.main(["run", str(folder.path), REQUEST], NOTHING)

    assert code == worker.SAVED
    assert '"QuestionAsked"' in folder.checkpoint.read_text()
    assert folder.refunds() == []


def test_second_answer_changes_nothing(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused with who was first; the file and the ledger stay as they are."""
    worker.main(["run", str(folder.path), REQUEST], NOTHING)
    worker.main(["resume", str(folder.path)], answer(approved=True))
    saved = folder.checkpoint.read_text()
    code = worker.main(["resume", str(folder.path)], answer(approved=False))

    assert code == worker.REFUSED
    assert "answered by you" in capsys.readouterr().err
    assert folder.checkpoint.read_text() == saved
    assert len(folder.refunds()) == 1


def test_refund_that_can_not_be_written_is_not_claimed(folder: Folder) -> None:
    """When the tool fails, the agent doesn't say that it has refunded."""
    worker.main(["run", str(folder.path), REQUEST], NOTHING)
    folder.ledger.mkdir()
    worker.main(["resume", str(folder.path)], answer(approved=True))
    saved = folder.checkpoint.read_text()

    assert '"ToolFailed"' in saved
    assert "I have not refunded order 1042. The tool failed:" in saved


def test_wrong_usage_is_refused_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever starts it by hand is told how."""
    assert worker.main([], NOTHING) == worker.REFUSED
    assert capsys.readouterr().err == "run FOLDER TEXT, or resume FOLDER\n"


def test_worker_that_breaks_is_reported_with_its_words(tmp_path: Path) -> None:
    """Without a checkpoint there is nothing to resume: no refusal, but a failure that is named."""
    with pytest.raises(process.WorkerFailed, match=r"(?s)ended with 1: .*FileNotFoundError"):
        process.resume(Folder(tmp_path), Answer({"approved": True}))
