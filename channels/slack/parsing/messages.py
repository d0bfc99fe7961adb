"""Messages and their edits, as Slack's events tell of them. Pure.

A mention comes as `message` and as `app_mention`, in any order: both give the same key. What a bot
says is never for us, whoever the bot is: two bots can't keep each other talking.
"""

from __future__ import annotations

from typing import Final

from channels.inbound import Edit, Message
from channels.slack import addresses
from channels.slack.parsing.fields import Payload, part, text
from channels.slack.parsing.meanings import Meaning, NotForUs, Taken, Told
from channels.slack.parsing.mrkdwn import mentions
from channels.slack.parsing.origin import workspace, writer
from channels.slack.parsing.reader import Reader
from channels.slack.parsing.shared_files import shared_files
from channels.slack.parsing.words import WORDLESS, message_words

_SAID_BY_PEOPLE: Final = frozenset({"", "file_share", "thread_broadcast", "me_message"})
_DIRECT: Final = frozenset({"im", "app_home"})
_SLACKBOT: Final = "USLACKBOT"


def parse_message(payload: Payload, reader: Reader) -> Meaning:
    """Read an event of the type `message` or `app_mention`."""
    event = part(payload, "event")
    subtype = text(event, "subtype")
    if subtype == "message_changed":
        return _edit(payload, event, reader)
    if subtype not in _SAID_BY_PEOPLE:
        return NotForUs(reason=f"a message of the kind {subtype}")
    if _is_by_bot(event, reader):
        return NotForUs(reason="a bot said it")
    return _message(payload, event, reader)


def _message(payload: Payload, event: Payload, reader: Reader) -> Meaning:
    is_direct = text(event, "channel_type") in _DIRECT
    is_mention = text(event, "type") == "app_mention" or mentions(
        text(event, "text"), reader.bot_user
    )
    if not (is_direct or is_mention) and not text(event, "thread_ts"):
        return NotForUs(reason="people talk among themselves")  # no thread of ours begins so
    if reader.require_mention and not (is_direct or is_mention):
        return NotForUs(reason="no mention, and one is required")
    words = message_words(event, bot=reader.bot_user, names=reader.names)
    files = shared_files(event)
    if not words and not files and not is_mention:
        return NotForUs(reason="no words and no files")
    team, channel, ts = workspace(payload), text(event, "channel"), text(event, "ts")
    root = text(event, "thread_ts") or ts
    who = writer(payload, event, text(event, "user"))
    message = Message(
        key=addresses.message_key(team, channel, ts),
        place=addresses.conversation(team, channel, root),
        actor=who.actor(),
        text=words or ("" if files else WORDLESS),
        is_addressed=is_direct or is_mention,
        said_at=addresses.millis(ts),
    )
    return Taken(inbound=message, who=who, told=_told(event, who.user, root), files=files)


def _edit(payload: Payload, event: Payload, reader: Reader) -> Meaning:
    """Only a person's change of the words counts: a link's preview changes a message as well."""
    new, old = part(event, "message"), part(event, "previous_message")
    editor, at = text(new, "edited", "user"), text(new, "edited", "ts")
    if _is_by_bot(new, reader) or text(new, "subtype") not in _SAID_BY_PEOPLE:
        return NotForUs(reason="a bot's message changed")
    if not editor or not at or text(new, "text") == text(old, "text"):
        return NotForUs(reason="no person changed the words")
    team, channel, ts = workspace(payload), text(event, "channel"), text(new, "ts")
    root = text(new, "thread_ts") or ts
    who = writer(payload, new, editor)
    original = addresses.message_key(team, channel, ts)
    edit = Edit(
        key=f"{original}:edit:{addresses.ts(at)}",
        place=addresses.conversation(team, channel, root),
        actor=who.actor(),
        original=original,
        text=message_words(new, bot=reader.bot_user, names=reader.names),
    )
    return Taken(inbound=edit, who=who, told=_told(event, who.user, root))


def _is_by_bot(message: Payload, reader: Reader) -> bool:
    user = text(message, "user")
    return (
        not user
        or user in (_SLACKBOT, reader.bot_user)
        or any(message.get(name) for name in ("bot_id", "bot_profile", "app_id"))
    )


def _told(event: Payload, user: str, root: str) -> Told:
    return Told(user=user, channel=text(event, "channel"), root=root)
