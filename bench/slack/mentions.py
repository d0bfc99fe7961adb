"""Mentions as Slack posts them: each another message, signed, ready to be written to a socket."""

from __future__ import annotations

import hashlib
import hmac
import json
import time

SIGNING_SECRET = "bench signing secret"  # noqa: S105 (it guards nothing)
BOT_TOKEN = "xoxb-1"  # noqa: S105 (the same)
TEAM, CHANNEL, PERSON, BOT = "T024BE7LD", "C024BE91L", "U2147483697", "UBOT"
WORDS = "The parcel came late. " * 10


def mention(number: int) -> dict[str, object]:
    """Make the payload of an `app_mention`."""
    ts = f"1731740001.{number:06}"
    text = f"<@{BOT}> {WORDS}"
    said = [{"type": "user", "user_id": BOT}, {"type": "text", "text": f" {WORDS}"}]
    section = {"type": "rich_text_section", "elements": said}
    return {
        "token": "ZZZZZZWSxiZZZ2yIvs3peJ",
        "team_id": TEAM,
        "context_team_id": TEAM,
        "context_enterprise_id": None,
        "api_app_id": "A0MDYCDME",
        "event": {
            "user": PERSON,
            "type": "app_mention",
            "ts": ts,
            "client_msg_id": "a5a11822-d14e-4621-992b-32d561648aa0",
            "text": text,
            "team": TEAM,
            "blocks": [{"type": "rich_text", "block_id": "Xq5", "elements": [section]}],
            "channel": CHANNEL,
            "event_ts": ts,
        },
        "type": "event_callback",
        "event_id": f"Ev{number:09}",
        "event_time": 1731740001,
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM,
                "user_id": BOT,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": "4-eyJldCI6ImFwcF9tZW50aW9uIiwidGlkIjoiVDAyNEJFN0xEIn0",
    }


def request(number: int) -> bytes:
    """Write a signed request with all its headers."""
    body = json.dumps(mention(number)).encode()
    at = str(int(time.time()))
    base = b"v0:" + at.encode() + b":" + body
    signature = hmac.new(SIGNING_SECRET.encode(), base, hashlib.sha256).hexdigest()
    heads = [
        "POST /slack/events HTTP/1.1",
        "Host: 127.0.0.1",
        "User-Agent: Slackbot 1.0 (+https://api.slack.com/robots)",
        "Accept: */*",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"X-Slack-Request-Timestamp: {at}",
        f"X-Slack-Signature: v0={signature}",
    ]
    return "\r\n".join([*heads, "", ""]).encode() + body
