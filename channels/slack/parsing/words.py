"""The words of a message: what somebody wrote or forwarded, without Slack's mark-up. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from channels.slack.parsing.fields import Payload, parts, text
from channels.slack.parsing.mrkdwn import plain_text, without_mention

WORDLESS = "(I was mentioned without a word.)"


def message_words(message: Payload, *, bot: str, names: Mapping[str, str]) -> str:
    """Give what is said to us, without our own name."""
    own = plain_text(without_mention(text(message, "text"), bot), names)
    forwarded = [_forwarded(one, names) for one in parts(message, "attachments")]
    return "\n\n".join(one for one in (own, *forwarded) if one)


def quoted(words: str, author: str = "") -> str:
    """Set words off as somebody else's."""
    lines = "\n".join(f"> {line}" for line in words.splitlines())
    return f"{author} wrote:\n{lines}" if author else lines


def _forwarded(attachment: Payload, names: Mapping[str, str]) -> str:
    """A forwarded message stands in an attachment; the preview of a web page does too."""
    if not (attachment.get("is_share") or attachment.get("is_msg_unfurl")):
        return ""
    words = plain_text(text(attachment, "text"), names)
    return quoted(words, text(attachment, "author_name") or "Somebody") if words else ""
