"""The way in: any payload of Slack's, and what it means. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from channels.slack.addresses import Malformed
from channels.slack.parsing.commands import parse_command
from channels.slack.parsing.events import parse_event
from channels.slack.parsing.fields import Payload, text
from channels.slack.parsing.interactions import parse_interaction
from channels.slack.parsing.meanings import Meaning, NotForUs
from channels.slack.parsing.reader import Reader


def is_readable(payload: object) -> bool:
    """Say whether a payload has the shape that Bolt relies on; what is in it may still be odd."""
    if not isinstance(payload, Mapping):
        return False
    event, given = payload.get("event", {}), payload.get("authorizations") or []
    channel = event.get("channel", "") if isinstance(event, Mapping) else None
    return (
        isinstance(channel, str | Mapping)
        and isinstance(given, list)
        and all(isinstance(one, Mapping) for one in given)
    )


def parse(payload: Payload, reader: Reader) -> Meaning:
    """Say what a payload means; never raises, whatever it is."""
    try:
        if text(payload, "type") == "event_callback":
            return parse_event(payload, reader)
        if text(payload, "command"):
            return parse_command(payload)
        return parse_interaction(payload, reader)
    except Malformed as exc:
        return NotForUs(reason=f"malformed: {exc}")
