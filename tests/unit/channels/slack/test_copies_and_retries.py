"""However Slack orders, repeats and retries: the channel alone, over an intake that has moods."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.signature import SignatureVerifier

from agent_core.errors import ParleyError
from channels.outgoing import QuestionCard
from channels.recording import Recording, RecordingIntake
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble
from channels.slack.options import SlackOptions
from channels.slack.tokens import sign_action
from channels.web_routes import WebHandler, WebRequest
from tests.unit.channels.slack.premises import BOT_TOKEN, furnish

SECRET = "shhh"
KEY = b"key"
CARD = QuestionCard(id="q_1", thread="th_1", kind="approval", prompt="Pay?")


class Moody(RecordingIntake):
    """Fails when its moods say so, before or after it has taken something."""

    def __init__(self, moods: list[str]) -> None:
        super().__init__()
        self.moods = moods

    async def receive(self, inbound: Any) -> Any:  # noqa: ANN401 (whatever the channel brings)
        """Take it, unless the mood is bad."""
        mood = self.moods.pop() if self.moods else "good"
        if mood == "before":
            raise ParleyError("not now")
        received = await super().receive(inbound)
        if mood == "after":
            raise ParleyError("taken, but nobody heard")
        return received


@dataclass(frozen=True)
class Told:
    """One thing that Slack tells."""

    kind: str
    number: int

    def body(self) -> bytes:
        """Write it as Slack does; each number is another message or click."""
        stamp = f"17000000{self.number:02}.000100"
        if self.kind == "click":
            return urlencode({"payload": json.dumps(_click(stamp))}).encode()
        return json.dumps(_message(self.kind, stamp)).encode()


def _message(kind: str, stamp: str) -> dict[str, Any]:
    event = {"type": kind, "user": "U1", "channel": "C1", "ts": stamp, "text": "<@UBOT> hi"}
    return {"type": "event_callback", "authorizations": [{"team_id": "T1"}], "event": event}


def _click(stamp: str) -> dict[str, Any]:
    value = sign_action(KEY, CARD, "approve")
    action = {"action_id": "parley:approve", "value": value, "action_ts": stamp}
    return {
        "type": "block_actions",
        "team": {"id": "T1"},
        "user": {"id": "U1", "team_id": "T1"},
        "channel": {"id": "C1"},
        "message": {"ts": "1700000099.000100"},
        "actions": [action],
    }


async def _deliver(door: WebHandler, told: Told) -> None:
    """Send it until it is acknowledged, as Slack would if it had all the time."""
    body = told.body()
    kind = "application/json" if told.kind != "click" else "application/x-www-form-urlencoded"
    at = str(int(time.time()))
    signature = SignatureVerifier(SECRET).generate_signature(timestamp=at, body=body)
    heads = {
        "content-type": kind,
        "x-slack-request-timestamp": at,
        "x-slack-signature": signature or "",
    }
    request = WebRequest(method="POST", path="/slack/events", headers=heads, body=body)
    while (await door(request)).status != 200:
        pass


async def _play(told: list[Told], moods: list[str], at_once: int) -> list[str]:
    recording = Recording(intake=Moody(moods))
    recording.desk.cards["q_1"] = CARD
    async with SlackDouble() as slack:
        furnish(slack)
        options = SlackOptions(
            secret_key=KEY, signing_secret=SECRET, bot_token=BOT_TOKEN, api_url=slack.api_url
        )
        channel = SlackChannel(options)
        await channel.start(recording.house())
        door = channel.routes()["POST", "/slack/events"]
        for first in range(0, len(told), at_once):
            batch = told[first : first + at_once]
            await asyncio.gather(*(_deliver(door, one) for one in batch))
        await channel.stop()
    return [one.key for one in recording.intake.taken]


THINGS = st.builds(Told, st.sampled_from(["message", "app_mention", "click"]), st.integers(0, 3))


@given(
    told=st.lists(THINGS, max_size=20),
    moods=st.lists(st.sampled_from(["good", "before", "after"]), max_size=20),
    at_once=st.integers(1, 5),
)
def test_each_message_and_each_click_is_taken_exactly_once(
    told: list[Told], moods: list[str], at_once: int
) -> None:
    """Mentions that come twice, copies, retries after failures before and after the commit."""
    taken = asyncio.run(_play(told, moods, at_once))

    clicks = {one.number for one in told if one.kind == "click"}
    messages = {one.number for one in told if one.kind != "click"}
    expected = [f"slack:T1:U1:17000000{n:02}.000100:q_1" for n in clicks]
    expected += [f"slack:T1:C1:17000000{n:02}.000100" for n in messages]
    assert sorted(taken) == sorted(expected)
