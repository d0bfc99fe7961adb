"""What we said before: a message found again by the delivery that its metadata names.

After an unclear failure the message may be there. Who can't look (the app lacks a history scope)
is not kept from sending: twice is better than never.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from html import unescape
from typing import Any, Final

from agent_core.json_values import JsonObject
from channels.outgoing import Outgoing
from channels.slack.calling import Line
from channels.slack.failures import Refused

EVENT: Final = "parley_delivery"
_PAGE: Final = 200
_MOST_PAGES: Final = 15

_log = logging.getLogger("parley.slack")


def metadata(thread: str, delivery: str, part: int) -> JsonObject:
    """Write what a message carries, unseen, to be found by; ids are unique within a thread."""
    payload = {"thread": thread, "id": delivery, "part": part}
    return {"event_type": EVENT, "event_payload": payload}


async def find_parts(line: Line, root: str, message: Outgoing, bot_id: str) -> dict[int, str]:
    """Give the parts of a delivery that are there, each with its `ts`."""
    found: dict[int, str] = {}
    try:
        async for messages in _pages(line, root):
            found.update(_parts(messages, message, bot_id))
    except Refused as exc:
        if exc.name == "thread_not_found":  # it was deleted meanwhile; posting will say the same
            return found
        if exc.name != "missing_scope":
            raise
        _log.warning("can't look for what was sent", extra={"reason": str(exc)})
    return found


async def find_copies(
    line: Line, root: str, message: Outgoing, part: int, bot_id: str
) -> list[str]:
    """Give where a part of a delivery stands: more than once, if two have sent it at once."""
    found: dict[str, None] = {}
    try:
        async for messages in _pages(line, root):
            copies = _parts(messages, message, bot_id)
            found |= dict.fromkeys(ts for number, ts in copies if number == part)
    except Refused as exc:  # then those that we have a receipt of must do
        _log.warning("can't look for other copies", extra={"reason": str(exc)})
    return [*found]


async def find_beginning(line: Line, root: str, bot_id: str, answer: str) -> str:
    """Give our own message without a mark that holds the answer's first words: cut off by a crash.

    The words are compared, because others may post with the same app, and theirs is not ours.
    """
    found = ""
    async for messages in _pages(line, root):
        for message in messages:
            text = unescape(str(message.get("text") or "")).strip()
            is_marked = (message.get("metadata") or {}).get("event_type") == EVENT
            if message.get("bot_id") == bot_id and not is_marked and text:
                found = str(message["ts"]) if answer.startswith(text) else found
    return found


async def _pages(line: Line, root: str) -> AsyncIterator[list[dict[str, Any]]]:
    """Read the thread from its beginning, or the channel from its end, so far as we look."""
    cursor = ""
    method = "conversations.replies" if root else "conversations.history"
    for _ in range(_MOST_PAGES):
        line.pace.check(method, line.key)
        asked: dict[str, Any] = {"channel": line.channel, "limit": _PAGE, "cursor": cursor}
        asked["include_all_metadata"] = True
        if root:
            page = await line.call(method, line.client.conversations_replies(ts=root, **asked))
        else:
            page = await line.call(method, line.client.conversations_history(**asked))
        yield list(page.get("messages") or [])
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return


def _parts(
    messages: Iterable[dict[str, Any]], wanted: Outgoing, bot_id: str
) -> Iterable[tuple[int, str]]:
    for message in messages:
        match message:
            case {
                "ts": str(ts),
                "metadata": {
                    "event_type": "parley_delivery",
                    "event_payload": {"thread": wanted.thread, "id": wanted.id, "part": int(part)},
                },
            } if bot_id in {"", message.get("bot_id")}:
                # Any app may write any metadata: another bot's must not pass for ours.
                yield part, ts
