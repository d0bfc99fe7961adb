"""Streams: a message that grows while the agent writes it.

A stream ends by itself after a while (reported: about five minutes), and a person can stop it;
then the next append is refused, and the app must go on in a new message.
"""

from __future__ import annotations

from channels.slack.double import shown
from channels.slack.double.api.call import Call
from channels.slack.double.api.chat import check_may_post, new_message
from channels.slack.double.api.content import Content, metadata
from channels.slack.double.blocks import MARKDOWN_TEXT, check_blocks
from channels.slack.double.errors import ApiError
from channels.slack.double.payloads import events
from channels.slack.double.records import Channel, Payload, Status, Stream
from channels.slack.double.team import Team

_CHUNKS = {"markdown_text", "task_update", "plan_update", "blocks"}


def end_old(team: Team, now: float, seconds: float) -> None:
    """End the streams that have lasted long enough."""
    for stream in team.streams:
        if stream.state == "streaming" and now - stream.started >= seconds:
            stream.state, stream.message.streaming = "expired", False


async def start(call: Call) -> Payload:
    """`chat.startStream`: in a thread; in a channel it must say for whom."""
    team, channel = call.place()
    check_may_post(call, team, channel)
    call.args.need("thread_ts", "invalid_thread_ts")
    _check_recipient(call, team, channel)
    chunks = _chunks(call)
    nothing = Content(text="", markdown_text=None, blocks=None, attachments=None, metadata=None)
    message = team.keep(new_message(call, team, channel, nothing))
    message.streaming = True
    stream = Stream(
        message=message,
        started=call.world.clock(),
        recipient_user=call.args.text("recipient_user_id") or None,
        recipient_team=call.args.text("recipient_team_id") or None,
    )
    team.streams.append(stream)
    _add(call, stream, chunks)
    call.world.echo(team, events.message(team, message), channel=channel)
    return {"channel": channel.id, "ts": message.ts}


def _check_recipient(call: Call, team: Team, channel: Channel) -> None:
    if channel.is_im:
        return
    if not call.args.has("recipient_team_id"):
        raise ApiError("missing_recipient_team_id")
    if not call.args.has("recipient_user_id"):
        raise ApiError("missing_recipient_user_id")
    team.find_user(call.args.text("recipient_user_id"))


async def append(call: Call) -> Payload:
    """`chat.appendStream`."""
    _, channel, stream = _running(call)
    chunks = _chunks(call)
    if not chunks:
        raise ApiError("no_text")
    _add(call, stream, chunks)
    return {"channel": channel.id, "ts": stream.message.ts}


async def stop(call: Call) -> Payload:
    """`chat.stopStream`: the last words, and blocks that stand below them."""
    team, channel, stream = _running(call)
    message, previous = stream.message, shown.message(stream.message, team)
    last = call.args.json("blocks", "invalid_blocks_format")
    below = check_blocks(last, make_id=call.world.stamps.block_id) if last else []
    message.metadata = metadata(call) or message.metadata
    _add(call, stream, _chunks(call))
    message.blocks = [*message.blocks, *below]
    stream.state, message.streaming = "stopped", False
    if call.args.has("session_status"):
        status = call.args.text("session_status")
        team.statuses.append(Status(channel=channel.id, thread_ts=message.thread_ts, status=status))
    call.world.echo(team, events.message_changed(team, message, previous), channel=channel)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "message": shown.message(message, team, metadata=True),
    }


def _running(call: Call) -> tuple[Team, Channel, Stream]:
    team, channel = call.place()
    stream = team.find_stream(channel.id, call.args.need("ts"))
    end_old(team, call.world.clock(), call.world.stream_seconds)
    if stream.state == "stopped_by_user" and call.method == "chat.appendStream":
        raise ApiError("stopped_by_user")
    if stream.state != "streaming":
        raise ApiError("message_not_in_streaming_state")
    return team, channel, stream


def _chunks(call: Call) -> list[Payload]:
    text = call.args.text("markdown_text")
    chunks = call.args.json("chunks", "invalid_chunks") or []
    if text:
        chunks = [*chunks, {"type": "markdown_text", "text": text}]
    for chunk in chunks:
        if not isinstance(chunk, dict) or chunk.get("type") not in _CHUNKS:
            raise ApiError("invalid_chunks")
        if chunk["type"] == "markdown_text" and len(chunk.get("text", "")) > MARKDOWN_TEXT:
            raise ApiError("msg_too_long")
    return list(chunks)


def _add(call: Call, stream: Stream, chunks: list[Payload]) -> None:
    message = stream.message
    stream.chunks += chunks
    message.text += "".join(c["text"] for c in chunks if c["type"] == "markdown_text")
    make_id = call.world.stamps.block_id
    blocks: list[Payload] = []
    for chunk in stream.chunks:
        if chunk["type"] == "blocks":
            blocks += check_blocks(chunk["blocks"], make_id=make_id)
    if message.text:
        message.markdown_text = message.text
        blocks.insert(0, {"type": "markdown", "block_id": make_id(), "text": message.text})
    message.blocks = blocks
