"""`parley callbacks`: what is listed, sent again and enabled, and the secret."""

from __future__ import annotations

import base64
import json

import pytest

from tests.unit.gateway.canned import THREAD, Canned
from tests.unit.gateway.cli.conftest import Parley

ENDPOINT = {
    "url": "https://ci.example.com/in",
    "status": "disabled",
    "failing_since": "2026-11-10T09:30:00Z",
    "disabled_at": "2026-11-15T09:30:00Z",
    "error": "answered 500",
    "failed": 3,
}
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_endpoints_are_listed_with_what_is_wrong(parley: Parley, canned: Canned) -> None:
    """Since when, why, and how much waits for a replay."""
    canned.on("GET", "/v1/callbacks", {"items": [ENDPOINT], "next_cursor": None})

    ran = parley("callbacks", "list")

    for word in ("https://ci.example.com/in", "disabled", "2026-11-15 09:30", "3"):
        assert word in ran.out
    assert parley("callbacks", "list", "--json").data["items"] == [ENDPOINT]


def test_nothing_wrong_is_said_in_words(parley: Parley, canned: Canned) -> None:
    """And nothing stands on stdout."""
    canned.on("GET", "/v1/callbacks", {"items": [], "next_cursor": None})

    ran = parley("callbacks", "list")

    assert (ran.code, ran.out) == (0, "")
    assert "well" in ran.err


def test_replay_passes_on_what_was_asked_for(parley: Parley, canned: Canned) -> None:
    """All, or by thread, endpoint and time; it prints how many."""
    canned.on("POST", "/v1/callbacks/replay", {"replayed": 3})

    everything = parley("callbacks", "replay")
    some = parley(
        *("callbacks", "replay", "--thread", "th_1", "--url", "https://ci.example.com/in"),
        *("--since", "2026-11-16T09:00:00Z"),
    )

    assert (everything.out.strip(), some.out.strip()) == ("3", "3")
    assert [json.loads(one.body) for one in canned.asked] == [
        {},
        {
            "thread": "th_1",
            "url": "https://ci.example.com/in",
            "since": "2026-11-16T09:00:00Z",
        },
    ]


def test_enabling_tells_how_to_send_the_rest(parley: Parley, canned: Canned) -> None:
    """What failed meanwhile is not sent by itself."""
    canned.on("POST", "/v1/callbacks/enable", {**ENDPOINT, "status": "ok"})

    ran = parley("callbacks", "enable", "https://ci.example.com/in")

    assert "parley callbacks replay --url https://ci.example.com/in" in ran.err


def test_the_secret_is_that_of_the_settings_or_made_from_the_key(
    parley: Parley, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every time the same, on every machine; of several, all."""
    monkeypatch.setenv("PARLEY_SECRET_KEY", "0123456789abcdef")
    derived = parley("callbacks", "secret")
    again = parley("callbacks", "secret", "--json")
    monkeypatch.setenv("PARLEY_CALLBACK_SECRET", f"{SECRET}, {derived.out.strip()}")
    both = parley("callbacks", "secret")

    assert again.data == {"secrets": [derived.out.strip()]}
    assert both.out.split() == [SECRET, derived.out.strip()]


def test_a_new_secret_is_as_the_standard_wants_it(parley: Parley) -> None:
    """From chance, 32 bytes, and another one each time."""
    one, other = (parley("callbacks", "secret", "--new").out.strip() for _ in range(2))

    assert one != other
    assert one.startswith("whsec_")
    assert len(base64.b64decode(one.removeprefix("whsec_"))) == 32


def test_a_secret_that_can_not_be_used_is_told_by_its_name(
    parley: Parley, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not shown."""
    monkeypatch.setenv("PARLEY_CALLBACK_SECRET", "canary")
    monkeypatch.setenv("PARLEY_CALLBACK_ALLOW", "10.0.0.0/99")

    ran = parley("callbacks", "secret")

    assert ran.code == 2
    assert "PARLEY_CALLBACK_SECRET" in ran.err
    assert "PARLEY_CALLBACK_ALLOW" in ran.err
    assert "canary" not in ran.err


def test_launch_passes_the_callback_on(parley: Parley, canned: Canned) -> None:
    """Whoever launches chooses it."""
    canned.on("POST", "/v1/threads", THREAD, 201)

    parley("launch", "desk", "hello", "--callback-url", "https://ci.example.com/in")

    assert json.loads(canned.asked[0].body)["callback_url"] == "https://ci.example.com/in"
