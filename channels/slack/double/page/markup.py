"""Slack's two ways of writing, as HTML that is safe to show: mrkdwn and Markdown. Pure.

Whatever isn't a known mark is text, and text is escaped. Links lead to http, https and mailto only.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

_FENCE = re.compile(r"```(.*?)```", re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_ANGLE = re.compile(r"<([^<>\n]+)>")
_STYLES = (
    ("strong", re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")),
    ("em", re.compile(r"(?<![\w_])_(?=\S)([^_\n]+?)(?<=\S)_(?![\w_])")),
    ("s", re.compile(r"(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])")),
)
_EMOJI = re.compile(r":([a-z_+0-9-]{1,40}):")
_FACES = {
    "ballot_box_with_check": "☑️",
    "hourglass": "⌛",
    "hourglass_flowing_sand": "⏳",
    "memo": "📝",
    "no_entry": "⛔",
    "raised_hand": "✋",
    "rotating_light": "🚨",
    "speech_balloon": "💬",
    "wastebasket": "🗑️",
    "white_check_mark": "✅",
}
"""Those that one meets most; any other stays a word between colons."""
_SAFE = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(
    ["table", "strikethrough"]
)


def web_link(address: str) -> str:
    """Give an address that a link may lead to, or nowhere."""
    return address if _SAFE.match(address) else "#"


def markdown(text: str) -> Markup:
    """Write a `markdown` block; HTML in it is shown, not obeyed."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704 (html is off: the renderer escapes)


def mrkdwn(text: str, names: Mapping[str, str]) -> Markup:
    """Write Slack's own mrkdwn; `names` tells what `<@U1>` and `<#C1>` are called."""
    out = Markup()
    for index, piece in enumerate(_FENCE.split(text)):
        if index % 2:
            out += Markup("<pre>{}</pre>").format(html.unescape(piece).strip("\n"))
        else:
            out += _with_code(piece, names)
    return out


def _with_code(text: str, names: Mapping[str, str]) -> Markup:
    out = Markup()
    for index, piece in enumerate(_CODE.split(text)):
        if index % 2:
            out += Markup("<code>{}</code>").format(html.unescape(piece))
        else:
            out += _with_links(piece, names)
    return out


def _with_links(text: str, names: Mapping[str, str]) -> Markup:
    out = Markup()
    for index, piece in enumerate(_ANGLE.split(text)):
        out += _reference(piece, names) if index % 2 else _styled(html.unescape(piece))
    return out


def _reference(inside: str, names: Mapping[str, str]) -> Markup:
    """Write what stands in angle brackets: a person, a channel, a special word, a link."""
    target, _, label = inside.partition("|")
    if target.startswith("!date^"):  # Slack writes it in the reader's time; the label will do
        return escape(html.unescape(label))
    if target[:1] in {"@", "#", "!"}:
        name = names.get(target[1:], label or target[1:].partition("^")[0])
        return Markup("<b class=mention>{}{}</b>").format(target[0].replace("!", "@"), name)
    address = html.unescape(target)
    shown = html.unescape(label) or address
    if not _SAFE.match(address):
        return escape(shown)
    return Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, shown)


def _styled(text: str) -> Markup:
    """Make bold, italic and struck out, on text that is escaped first."""
    marked = str(escape(_EMOJI.sub(lambda found: _FACES.get(found[1], found[0]), text)))
    for tag, pattern in _STYLES:
        marked = pattern.sub(rf"<{tag}>\1</{tag}>", marked)
    return Markup(marked.replace("\n", "<br>"))  # noqa: S704 (escaped two lines above)
