"""`parley events send`: what is sent, and what is told."""

from __future__ import annotations

import io
import json
import sys

import pytest

from tests.unit.gateway.canned import Canned
from tests.unit.gateway.cli.conftest import Parley

RESUMED = {"effect": "resumed", "thread_id": "th_1", "question_id": "q_1", "detail": ""}
KEPT = {"effect": "kept", "thread_id": None, "question_id": None, "detail": "nobody waits yet"}


def test_event_that_resumes_prints_the_thread(parley: Parley, canned: Canned) -> None:
    """With a key of its own, so that a repeat is harmless."""
    canned.on("POST", "/v1/events", RESUMED)
    ran = parley("events", "send", "deploy/7", '{"state": "ok"}')

    assert (ran.code, ran.out, ran.err) == (0, "th_1\n", "resumed: question q_1\n")
    (asked,) = canned.asked
    assert json.loads(asked.body) == {"key": "deploy/7", "value": {"state": "ok"}}
    assert len(asked.headers["Idempotency-Key"]) == 32


def test_event_that_is_kept_says_so(parley: Parley, canned: Canned) -> None:
    """It is no failure: the question may still come."""
    canned.on("POST", "/v1/events", KEPT, 202)
    ran = parley("events", "send", "k", "--idempotency-key", "mine")

    assert (ran.code, ran.out, ran.err) == (0, "kept\n", "nobody waits yet\n")
    assert canned.asked[0].headers["Idempotency-Key"] == "mine"
    assert parley("events", "send", "k", "--json").data == KEPT


def test_value_can_come_from_a_pipe(
    parley: Parley, canned: Canned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As everywhere, by a dash."""
    canned.on("POST", "/v1/events", KEPT, 202)
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"a": 1}'))

    assert parley("events", "send", "k", "-").code == 0
    assert json.loads(canned.asked[0].body)["value"] == {"a": 1}


@pytest.mark.parametrize("value", ["nonsense", "[1]", "1", '"text"', "null"])
def test_value_is_an_object(parley: Parley, canned: Canned, value: str) -> None:
    """Told before anything is sent."""
    assert parley("events", "send", "k", value).code == 2
    assert canned.asked == []


def test_refusal_exits_1(parley: Parley, canned: Canned) -> None:
    """With the server's words."""
    canned.problem("POST", "/v1/events", 409, "used before, with another event")
    ran = parley("events", "send", "k")

    assert (ran.code, "used before" in ran.err) == (1, True)
