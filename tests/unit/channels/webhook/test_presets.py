"""Presets: what real senders' payloads become, sample by sample."""

from __future__ import annotations

import pytest

from channels.webhook.mapping import Mapped, map_payload
from channels.webhook.payloads import read_payload
from channels.webhook.presets import PRESETS
from tests.unit.channels.webhook.samples import (
    FOLDER,
    IGNORED,
    SAMPLES,
    body,
    headers,
    preset_of,
    source_of,
)


@pytest.mark.parametrize("sample", [one for one in SAMPLES if one not in IGNORED])
def test_sample_becomes_what_stands_beside_it(sample: str) -> None:
    """The key of the thread, an empty line, and the message."""
    expected = (FOLDER / f"{sample}.txt").read_text()

    mapped = map_payload(source_of(sample), read_payload({}, body(sample)), headers(sample))

    assert isinstance(mapped, Mapped)
    assert expected == f"{mapped.thread_key}\n\n{mapped.text}\n"


@pytest.mark.parametrize("sample", sorted(IGNORED))
def test_what_does_not_matter_is_ignored(sample: str) -> None:
    """A run that went well, a ping, a bot's comment."""
    assert map_payload(source_of(sample), read_payload({}, body(sample)), headers(sample)) is None


def test_every_preset_has_a_sample_that_becomes_something() -> None:
    """Or nobody would know whether it works."""
    assert set(PRESETS) == {preset_of(one) for one in SAMPLES if one not in IGNORED}


def test_review_and_comment_of_one_pull_request_are_one_thread() -> None:
    """So what is said about it comes together."""
    samples = ["github-review.pull_request_review", "github-review.issue_comment"]
    mapped = [
        map_payload(source_of(one), read_payload({}, body(one)), headers(one)) for one in samples
    ]

    assert {one.thread_key for one in mapped if isinstance(one, Mapped)} == {"acme/shop#42"}
