"""What isn't Slack's, or isn't ours, changes nothing, and breaks nothing."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble, Workspace
from channels.web_routes import WebRequest
from tests.unit.channels.slack.premises import on_duty, post, signed

MENTION: dict[str, Any] = {
    "type": "event_callback",
    "team_id": "T1",
    "authorizations": [{"team_id": "T1"}],
    "event": {
        "type": "app_mention",
        "user": "U1",
        "text": "<@UBOT> hi",
        "channel": "C1",
        "ts": "1700000000.000100",
    },
}
BODY = json.dumps(MENTION).encode()
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
async def door(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> AsyncIterator[SlackChannel]:
    """Run the channel over HTTP, where anybody can knock."""
    async with on_duty(slack, recording) as channel:
        yield channel


def ago(seconds: int) -> str:
    """Give a time as Slack writes it."""
    return str(int(time.time()) - seconds)


HEADERS: dict[str, Callable[[], dict[str, str]]] = {
    "nothing": dict,
    "a time alone": lambda: {"X-Slack-Request-Timestamp": ago(0)},
    "no time": lambda: {"X-Slack-Signature": signed(BODY)["X-Slack-Signature"]},
    "another secret": lambda: signed(BODY, secret="guessed"),
    "another body": lambda: signed(BODY + b" "),
    "an old time": lambda: signed(BODY, at=ago(301)),
    "a time to come": lambda: signed(BODY, at=ago(-400)),
    "no number": lambda: signed(BODY, at="yesterday"),
    "an odd number": lambda: signed(BODY, at="²²"),
    "half a number": lambda: signed(BODY, at=f"{ago(0)}.5"),
    "a negative number": lambda: signed(BODY, at="-1"),
    "a very long number": lambda: signed(BODY, at="9" * 5_000),
    "an empty signature": lambda: {**signed(BODY), "X-Slack-Signature": ""},
    "a signature that is no ASCII": lambda: {**signed(BODY), "X-Slack-Signature": "v0=é"},
}


@pytest.mark.parametrize("kind", HEADERS)
async def test_what_slack_did_not_sign_just_now_is_turned_away(
    door: SlackChannel, slack: SlackDouble, recording: Recording, kind: str
) -> None:
    """401, never 500: wrong, stale, malformed and missing are all the same to us."""
    status, body = await post(slack, BODY, HEADERS[kind]())

    assert (status, body) == (401, "")
    assert not recording.intake.tried


async def test_the_same_request_with_a_good_signature_is_taken(
    door: SlackChannel, slack: SlackDouble, recording: Recording
) -> None:
    """So the tests above fail for the reason they name."""
    assert await post(slack, BODY, signed(BODY)) == (200, "")
    assert len(recording.intake.taken) == 1


async def test_bytes_that_are_no_text_are_turned_away(
    door: SlackChannel, slack: SlackDouble, recording: Recording
) -> None:
    """Slack sends text."""
    body = b"\xff\xfe{"
    status, _ = await post(slack, body, signed(body))

    assert status == 401


UNREADABLE = {
    "broken": b'{"type": ',
    "a list": b'[{"type": "event_callback"}]',
    "a word": b'"hello"',
    "nothing at all": b"null",
    "deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a form's payload that is broken": b"payload=%7B",
    "a form's payload that is a list": b"payload=%5B%5D",
}

ODD_SHAPES: dict[str, Any] = {
    "an event that is a list": {**MENTION, "event": [1]},
    "authorizations that are none": {**MENTION, "authorizations": [7]},
    "a channel that is a number": {**MENTION, "event": {**MENTION["event"], "channel": 3}},
}
UNREADABLE |= {kind: json.dumps(shape).encode() for kind, shape in ODD_SHAPES.items()}


@pytest.mark.parametrize("kind", UNREADABLE)
async def test_signed_nonsense_is_a_bad_request(
    door: SlackChannel, slack: SlackDouble, recording: Recording, kind: str
) -> None:
    """A 500 would make Slack send it again."""
    status, _ = await post(slack, UNREADABLE[kind], signed(UNREADABLE[kind]))

    assert status == 400
    assert not recording.intake.tried


ODD: dict[str, Any] = {
    "an empty object": {},
    "an unknown kind": {"type": "telepathy", "team": {"id": "T1"}},
    "an event of a kind to come": {**MENTION, "event": {"type": "thought_read", "user": "U1"}},
    "text that is a number": {**MENTION, "event": {**MENTION["event"], "text": 7, "user": None}},
    "a channel that is two": {**MENTION, "event": {**MENTION["event"], "channel": "C1:U1"}},
    "a time that is none": {**MENTION, "event": {**MENTION["event"], "ts": "now"}},
    "a click on nothing": {"type": "block_actions", "team": {"id": "T1"}, "user": {"id": "U1"}},
    "a click without a value": {
        "type": "block_actions",
        "team": {"id": "T1"},
        "user": {"id": "U1"},
        "actions": [{"action_id": "parley:approve", "action_ts": "1.1"}],
    },
    "a form of nobody's": {"type": "view_submission", "team": {"id": "T1"}, "view": {"state": 3}},
    "a form that was closed": {"type": "view_closed", "team": {"id": "T1"}, "view": {}},
    "a global shortcut": {"type": "shortcut", "team": {"id": "T1"}, "callback_id": "x"},
    "a workspace that we are not in": {**MENTION, "authorizations": [{"team_id": "T7"}]},
}


@pytest.mark.parametrize("kind", ODD)
async def test_what_is_not_for_us_is_acknowledged_and_ignored(
    door: SlackChannel, slack: SlackDouble, recording: Recording, kind: str
) -> None:
    """Else Slack would send it again and again, and at last stop sending at all."""
    body = json.dumps(ODD[kind]).encode()

    assert await post(slack, body, signed(body)) == (200, "")
    assert not recording.intake.tried


@pytest.mark.parametrize("kind", ODD)
async def test_what_is_not_for_us_is_acknowledged_over_the_socket_too(
    slack: SlackDouble, team: Workspace, recording: Recording, kind: str
) -> None:
    """What Bolt doesn't know it would leave unanswered, for ever."""
    async with on_duty(slack, recording, "socket"):
        answer = await slack.sockets.ask("events_api", ODD[kind], retry=0, reason=None)

    assert answer == {}
    assert not recording.intake.tried


@pytest.mark.parametrize("kind", ODD_SHAPES)
async def test_what_nobody_can_read_does_not_come_for_ever(
    slack: SlackDouble, team: Workspace, recording: Recording, kind: str
) -> None:
    """Over the socket there is no answer but an acknowledgement."""
    async with on_duty(slack, recording, "socket"):
        answer = await slack.sockets.ask("events_api", ODD_SHAPES[kind], retry=0, reason=None)

    assert answer == {}


async def test_a_menu_that_asks_for_options_gets_none(
    door: SlackChannel, slack: SlackDouble
) -> None:
    """It is not ours, and still must be answered in its form."""
    body = json.dumps({"type": "block_suggestion", "team": {"id": "T1"}}).encode()
    status, said = await post(slack, body, signed(body))

    assert (status, json.loads(said)) == (200, {"options": []})


async def test_numbers_that_are_none_and_letters_that_nothing_stores_do_no_harm(
    door: SlackChannel, slack: SlackDouble, recording: Recording
) -> None:
    """NUL and half a pair of surrogates are dropped; NaN and Infinity are never looked at."""
    event = {**MENTION["event"], "text": "<@UBOT> a\0b\ud800c", "files": [{"size": float("nan")}]}
    body = json.dumps({**MENTION, "event": event, "event_time": float("inf")}).encode()
    status, _ = await post(slack, body, signed(body))

    assert status == 200
    assert recording.intake.taken[0].text == "abc"  # type: ignore[union-attr]  # it is a message


async def test_a_huge_body_is_refused(
    door: SlackChannel, slack: SlackDouble, recording: Recording
) -> None:
    """Before anything is computed over it."""
    body = b" " * 2_000_001
    status, _ = await post(slack, body, signed(body))

    assert status == 413


async def test_a_compressed_body_is_refused(
    door: SlackChannel, slack: SlackDouble, recording: Recording
) -> None:
    """What is signed is what is sent."""
    handler = door.routes()["POST", "/slack/events"]
    heads = {name.lower(): value for name, value in signed(BODY).items()}
    request = WebRequest(
        method="POST",
        path="/slack/events",
        headers={**heads, "content-encoding": "gzip"},
        body=BODY,
    )

    assert (await handler(request)).status == 415


async def test_slacks_two_questions_about_the_address_are_answered(
    door: SlackChannel, slack: SlackDouble
) -> None:
    """The challenge when the address is set, signed; and the look at the certificate, unsigned."""
    challenge = json.dumps({"type": "url_verification", "challenge": "3eZbrw1a"}).encode()
    status, said = await post(slack, challenge, signed(challenge))

    assert (status, json.loads(said)) == (200, {"challenge": "3eZbrw1a"})
    assert (await post(slack, challenge, {}))[0] == 401
    assert (await post(slack, b"ssl_check=1&token=x", FORM))[0] == 200
    assert (await post(slack, b"ssl_check=2&command=%2Fparley", FORM))[0] == 401


async def test_nothing_is_taken_before_the_channel_is_started_or_after_it_stopped(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """Slack is told to come again: nothing is lost."""
    async with on_duty(slack, recording) as channel:
        await channel.stop()
        status, _ = await post(slack, BODY, signed(BODY))

    assert status == 503
    assert not recording.intake.tried
