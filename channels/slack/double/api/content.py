"""What an app wants to say: text, Markdown, blocks, metadata; checked as Slack does."""

from __future__ import annotations

from dataclasses import dataclass

from channels.slack.double.api.call import Call
from channels.slack.double.blocks import MARKDOWN_TEXT, check_blocks
from channels.slack.double.errors import ApiError
from channels.slack.double.records import Payload

POST_TEXT = 40_000
UPDATE_TEXT = 4_000
_METADATA = 16_000


@dataclass(slots=True, kw_only=True)
class Content:
    """What a message is to show. None: the call didn't speak of it."""

    text: str | None
    markdown_text: str | None
    blocks: list[Payload] | None
    attachments: list[Payload] | None
    metadata: Payload | None

    @property
    def is_empty(self) -> bool:
        """Say whether there is nothing to show."""
        return not (self.text or self.markdown_text or self.blocks or self.attachments)


def content(call: Call, *, at_most: int = POST_TEXT) -> Content:
    """Read what a call wants to say, and refuse what Slack would refuse."""
    args = call.args
    markdown = args.text("markdown_text") or None
    text = args.text("text") if "text" in args.raw else None
    if markdown and (text or args.has("blocks")):
        raise ApiError("markdown_text_conflict")
    if len(text or "") > at_most or len(markdown or "") > MARKDOWN_TEXT:
        raise ApiError("msg_too_long")
    return Content(
        text=text,
        markdown_text=markdown,
        blocks=_blocks(call, markdown),
        attachments=_attachments(call),
        metadata=metadata(call),
    )


def _blocks(call: Call, markdown: str | None) -> list[Payload] | None:
    make_id = call.world.stamps.block_id
    if markdown:
        return check_blocks([{"type": "markdown", "text": markdown}], make_id=make_id)
    blocks = call.args.json("blocks", "invalid_blocks_format")
    return None if blocks is None else check_blocks(blocks, make_id=make_id)


def _attachments(call: Call) -> list[Payload] | None:
    attachments = call.args.json("attachments")
    if attachments is not None and not isinstance(attachments, list):
        raise ApiError("invalid_attachments")
    return attachments


def metadata(call: Call) -> Payload | None:
    """Read the metadata that an app attaches: an event type and a flat payload."""
    given = call.args.json("metadata", "invalid_metadata_format")
    if given is None:
        return None
    if not isinstance(given, dict) or not isinstance(given.get("event_payload"), dict):
        raise ApiError("invalid_metadata_format")
    if not isinstance(given.get("event_type"), str) or not given["event_type"]:
        raise ApiError("invalid_metadata_format")
    if len(str(given)) > _METADATA:
        raise ApiError("metadata_too_large")
    return {"event_type": given["event_type"], "event_payload": given["event_payload"]}
