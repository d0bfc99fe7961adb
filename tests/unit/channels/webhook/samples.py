"""Sample deliveries of every sender that we have a preset for: which file, with which headers."""

from __future__ import annotations

from pathlib import Path

from channels.webhook.declaration import Declaration, Source, make_source

FOLDER = Path(__file__).parents[3] / "payloads" / "webhook"

EVENTS = {
    "github-ci.workflow_run": "workflow_run",
    "github-ci.success": "workflow_run",
    "github-ci.ping": "ping",
    "github-review.pull_request_review": "pull_request_review",
    "github-review.issue_comment": "issue_comment",
    "github-review.bot_comment": "issue_comment",
    "github-review.check_run": "check_run",
}
"""Which of GitHub's events a file is: that stands only in a header."""

IGNORED = {"github-ci.success", "github-ci.ping", "github-review.bot_comment", "circleci.ping"}
SAMPLES = sorted(file.stem for file in FOLDER.glob("*.json"))
SECRET = b"jenkins:hunter2"
"""Of a form that every scheme of a preset takes."""


def body(sample: str) -> bytes:
    """Give a sample as it would be sent."""
    return (FOLDER / f"{sample}.json").read_bytes()


def headers(sample: str) -> dict[str, str]:
    """Give the headers that its template looks at."""
    return {"x-github-event": EVENTS[sample]} if sample in EVENTS else {}


def preset_of(sample: str) -> str:
    """Give the name of its preset."""
    return sample.partition(".")[0]


def source_of(sample: str) -> Source:
    """Give a source of its preset."""
    return make_source(
        Declaration(name="ci", secrets=(SECRET,), preset=preset_of(sample), agent="release")
    )
