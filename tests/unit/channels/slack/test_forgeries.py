"""Buttons, forms and addresses that are not as we made them decide nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import pytest

from agent_core.errors import ParleyError
from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble, Workspace
from channels.slack.tokens import sign_action, sign_metadata
from tests.unit.channels.slack.premises import SECRET_KEY, approval, on_duty, post, show, signed

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
async def door(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> AsyncIterator[SlackChannel]:
    """Run the channel over HTTP, where anybody can knock."""
    async with on_duty(slack, recording) as channel:
        yield channel


def clicked(value: str, ts: str) -> bytes:
    """Make a click as Slack posts it."""
    payload = {
        "type": "block_actions",
        "team": {"id": "T1"},
        "user": {"id": "U2", "team_id": "T1"},
        "channel": {"id": "C1"},
        "message": {"ts": ts},
        "trigger_id": "1.1.x",
        "actions": [
            {"action_id": "parley:approve", "value": value, "action_ts": "1700000001.000100"}
        ],
    }
    return urlencode({"payload": json.dumps(payload)}).encode()


FORGED = {
    "nonsense": "approve",
    "another key": sign_action(b"guessed", approval(), "approve"),
    "another question": sign_action(SECRET_KEY, approval(), "approve").replace("q_1", "q_2"),
    "another action": sign_action(SECRET_KEY, approval(), "deny").replace(".deny.", ".approve."),
    "a form's value": sign_metadata(SECRET_KEY, {"question": "q_1", "action": "approve"}),
}


@pytest.mark.parametrize("kind", FORGED)
async def test_a_button_that_we_did_not_sign_decides_nothing_and_says_so(
    door: SlackChannel, slack: SlackDouble, team: Workspace, recording: Recording, kind: str
) -> None:
    """Its value is bound to the key, to the question and to the action."""
    recording.desk.cards = {"q_1": approval(), "q_2": approval("q_2")}
    card = await show(slack, approval())
    body = clicked(FORGED[kind], card.ts)
    status, _ = await post(slack, body, signed(body) | FORM)

    [told] = await slack.until(lambda: team.ephemerals("C1", "U2"))
    assert status == 200
    assert "did not make this" in told.text
    assert not recording.intake.tried


async def test_a_form_that_we_did_not_sign_is_not_taken(
    door: SlackChannel, slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """Whoever changes what a form is about gets words in its place."""
    recording.desk.cards = {"q_1": approval(), "q_2": approval("q_2")}
    card = await show(slack, approval())
    await team.clicks("U2", card, "parley:deny-reason")
    view = team.open_view("U2")
    assert view is not None
    view.private_metadata = view.private_metadata.replace("q_1", "q_2")
    answer = await team.submits("U2", {"words": {"words": "no"}})

    assert answer["response_action"] == "update"
    assert not recording.intake.tried


async def test_a_response_address_that_is_not_slacks_is_not_called(
    door: SlackChannel, slack: SlackDouble, recording: Recording
) -> None:
    """Not even on Slack's word."""
    heard = asyncio.Event()

    async def listen(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set()
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        form = urlencode(
            {
                "command": "/parley",
                "team_id": "T1",
                "user_id": "U1",
                "channel_id": "C1",
                "trigger_id": "1.1.x",
                "response_url": f"http://127.0.0.1:{port}/",
            }
        ).encode()
        recording.intake.script.append(ParleyError("the disk is full"))
        await post(slack, form, signed(form) | FORM)
        await door.stop()

    assert not heard.is_set()
