"""What Slack's Events API tells. Pure."""

from __future__ import annotations

from channels.inbound import Stop
from channels.slack import addresses
from channels.slack.parsing.fields import Payload, part, parts, text
from channels.slack.parsing.meanings import HomeOpened, Meaning, NotForUs, Taken, Told, Uninstalled
from channels.slack.parsing.messages import parse_message
from channels.slack.parsing.origin import enterprise, workspace, writer
from channels.slack.parsing.reader import Reader


def parse_event(payload: Payload, reader: Reader) -> Meaning:
    """Read an `event_callback`."""
    event = part(payload, "event")
    match text(event, "type"):
        case "message" | "app_mention":
            return parse_message(payload, reader)
        case "agent_session_stopped":
            return _stop(payload, event)
        case "app_home_opened":
            return _home(payload, event)
        case kind:
            return NotForUs(reason=f"an event of the kind {kind}")


def _stop(payload: Payload, event: Payload) -> Meaning:
    """Slack's own stop button, shown while the agent works in a thread."""
    who = writer(payload, event, text(event, "user"))
    channel, root = text(event, "channel"), text(event, "thread_ts")
    place = addresses.conversation(who.workspace, channel, root)
    at = addresses.ts(text(event, "event_ts"))
    stop = Stop(key=f"{place}:stop:{at}", place=place, actor=who.actor())
    return Taken(inbound=stop, who=who, told=Told(user=who.user, channel=channel, root=root))


def _home(payload: Payload, event: Payload) -> Meaning:
    if text(event, "tab") != "home":
        return NotForUs(reason="not the home tab")
    return HomeOpened(who=writer(payload, event, text(event, "user")))


def parse_loss(payload: Payload) -> Uninstalled | None:
    """Read that a workspace has removed us: nobody can be asked who we were there."""
    event = part(payload, "event")
    kind = text(event, "type") if text(payload, "type") == "event_callback" else ""
    is_loss = kind == "app_uninstalled" or (
        kind == "tokens_revoked" and bool(part(event, "tokens").get("bot"))
    )
    if not is_loss:
        return None
    # A workspace that leaves takes nothing from its organisation, which may have the app itself.
    team = workspace(payload)
    is_whole = any(one.get("is_enterprise_install") for one in parts(payload, "authorizations"))
    at = payload.get("event_time")
    return Uninstalled(
        team=team,
        enterprise=enterprise(payload) if is_whole or not team else "",
        at=float(at) if isinstance(at, int) else 0.0,
    )
