"""Markdown in `mrkdwn`, for the places where Slack takes nothing else: forms and the Home page.

Bold, headings, lists and links; the rest stays as it was typed.
"""

from __future__ import annotations

import re
from typing import Final

from channels.slack.render.escaping import mrkdwn
from channels.slack.render.passages import Words, passages
from channels.slack.render.pieces import CODE_OR_LINK

_HEADING: Final = re.compile(r"^#{1,6}[ ]+([^*\n]+?)[ #]*$", re.MULTILINE)
_BULLET: Final = re.compile(r"^([ ]*)[*+-][ ]", re.MULTILINE)
_BOLD: Final = re.compile(r"(\*\*|__)(?=\S)([^*_\n]+?)(?<=\S)\1")


def brief(text: str, limit: int) -> str:
    """Give the first passages of a text that fit, or as much as does of the first."""
    shown = ""
    for passage in passages(text):
        part = _as_mrkdwn(passage.text) if isinstance(passage, Words) else _fenced(passage.lines)
        if len(shown) + len(part) + 4 > limit:
            return f"{shown}\n…" if shown else mrkdwn(text, limit)
        shown = f"{shown}\n\n{part}" if shown else part
    return shown


def _fenced(lines: tuple[str, ...]) -> str:
    code = "\n".join(lines)
    return f"```\n{mrkdwn(code, len(code) * 5 + 1)}\n```"


def _as_mrkdwn(escaped: str) -> str:
    parts, end = [], 0
    for match in CODE_OR_LINK.finditer(escaped):
        parts += [_styled(escaped[end : match.start()]), _link(match)]
        end = match.end()
    return "".join([*parts, _styled(escaped[end:])])


def _link(match: re.Match[str]) -> str:
    if match["url"] is None:  # code: only its characters need escaping, which prose did not do
        return mrkdwn(match.group(), len(match.group()) * 5 + 1)
    label = match["label"].replace("|", " ").strip()
    return f"<{match['url']}|{label}>" if label else f"<{match['url']}>"


def _styled(text: str) -> str:
    text = _HEADING.sub(r"*\1*", text)
    return _BOLD.sub(r"*\2*", _BULLET.sub(r"\1• ", text))
