"""Other people's words made harmless: what a model or a person wrote mentions nobody.

In Slack `<!channel>`, `<!subteam^S1>` and `<@U1>` call people; `&`, `<` and `>` written as entities
are just characters. Two forms: `mrkdwn` (Slack's own, all three escaped) and Markdown, where links,
quotes and code must go on working.
"""

from __future__ import annotations

import re
from typing import Final

from channels.slack.render.limits import clean

_ENTITY_TAIL: Final = re.compile(r"&[a-z]{0,3}$")
_CODE: Final = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_AUTOLINK: Final = re.compile(r"<((?:https?://|mailto:)[^\s<>|\\^]+)>", re.IGNORECASE)
_LOOSE_AMPERSAND: Final = re.compile(r"&(?!(?:amp|lt|gt);)")
_QUOTE: Final = re.compile(r"^[ ]{0,3}(?:>[ ]?)+")
_CALLS: Final = re.compile(
    r"<(?=!\s*(?:channel|here|everyone|group|subteam|date)|[@#]\s*[UWBCDGS][A-Z0-9])",
    re.IGNORECASE,
)
_JOINER: Final = "\u2060"
"""Has no width; between `<` and `!` it leaves nothing for Slack to find."""


def mrkdwn(text: str, limit: int) -> str:
    """Escape text for a `mrkdwn` object or the field `text`, and cut it within the limit."""
    escaped = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if len(escaped) <= limit:
        return escaped
    return _ENTITY_TAIL.sub("", escaped[: limit - 1]) + "…"


def code_block(text: str, limit: int) -> str:
    """Put text between fences in a `mrkdwn` object; the limit counts the fences too."""
    fenced = text.replace("```", f"`{_JOINER}`{_JOINER}`")
    return f"```\n{mrkdwn(fenced, limit - 8)}\n```"


def code_span(text: str, limit: int) -> str:
    """Put one line between backticks in a `mrkdwn` object; the limit counts them too."""
    line = " ".join(text.replace("`", "'").split()) or " "
    return f"`{mrkdwn(line, limit - 2)}`"


def prose(text: str) -> str:
    """Escape a paragraph of Markdown; its links, quotes and code spans stay what they are."""
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [_escape_prose(text[end : match.start()]), uncalled(match.group())]
        end = match.end()
    parts.append(_escape_prose(text[end:]))
    return "".join(parts)


def uncalled(code: str) -> str:
    """Break the mentions in code, and nothing else: `List<String>` must stay what it is."""
    return _CALLS.sub(f"<{_JOINER}", code)


def _escape_prose(text: str) -> str:
    parts, end = [], 0
    for match in _AUTOLINK.finditer(text):
        parts += [_escape_lines(text[end : match.start()]), match.group()]
        end = match.end()
    parts.append(_escape_lines(text[end:]))
    return "".join(parts)


def _escape_lines(text: str) -> str:
    return "\n".join(_escape_line(line) for line in text.split("\n"))


def _escape_line(line: str) -> str:
    quote = _QUOTE.match(line)
    mark = quote.group() if quote else ""
    rest = _LOOSE_AMPERSAND.sub("&amp;", line[len(mark) :])
    return mark + rest.replace("<", "&lt;").replace(">", "&gt;")
