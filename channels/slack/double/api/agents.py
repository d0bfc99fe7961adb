"""What an agent shows while it works: a status below the thread, and the session's state."""

from __future__ import annotations

from channels.slack.double.api.call import Call
from channels.slack.double.errors import ApiError
from channels.slack.double.records import Channel, Payload, Status

_STATES = {"active", "processing", "suspended", "closed"}
_TITLE = 200
_STOPPED = "agent_session_stopped"


def _thread(call: Call, channel: Channel) -> str:
    ts = call.args.need("thread_ts", "invalid_thread_ts")
    if ts not in channel.messages:
        raise ApiError("invalid_thread_ts")
    return ts


async def threads_set_status(call: Call) -> Payload:
    """`assistant.threads.setStatus`: "is thinking…"; an empty one takes it away."""
    team, channel = call.place("channel_id")
    status = Status(
        channel=channel.id,
        thread_ts=_thread(call, channel),
        status=call.args.text("status"),
        loading_messages=call.args.json("loading_messages") or [],
    )
    team.statuses.append(status)
    return {}


async def sessions_set_status(call: Call) -> Payload:
    """`agents.sessions.setStatus`: makes the session when there is none yet."""
    team, channel = call.place("channel_id")
    state = call.args.need("status")
    if state not in _STATES or len(call.args.text("title")) > _TITLE:
        raise ApiError("invalid_arguments", f"[ERROR] must be one of: {', '.join(sorted(_STATES))}")
    title = call.args.text("title") or None
    thread_ts = _thread(call, channel)
    team.statuses.append(Status(channel=channel.id, thread_ts=thread_ts, status=state, title=title))
    answer: Payload = {"status": state, "agent_status": state, "title": title}
    if not call.world.is_subscribed({"type": _STOPPED}):
        answer["warning"] = f"missing_{_STOPPED}_event_subscription"
    return answer
