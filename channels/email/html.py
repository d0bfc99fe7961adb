"""A mail's blocks as simple HTML: no picture, no script, nothing that is fetched. Pure.

Markdown is rendered without HTML of its own, and cleaned once more: an agent repeats what strangers
wrote. A picture would tell its server that the mail is read, so it becomes its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, assert_never

import nh3
from markdown_it import MarkdownIt

from channels.email.blocks import Block, Code, Items, Line, Link, Quote, Small, Words
from channels.spelling import tidy

_TAGS: Final = frozenset(
    {"p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"}
)
_ATTRIBUTES: Final = {"a": {"href"}, "ol": {"start"}}
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(
    ["table", "strikethrough"]
)
_MARKDOWN.disable("image")
_BODY: Final = (
    "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;"
    "font-size:15px;line-height:1.5;max-width:42em"
)
_CODE: Final = (
    "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px;white-space:pre-wrap;"
    "overflow-wrap:anywhere;border:1px solid #8888;border-radius:6px;padding:10px;margin:12px 0"
)
_BUTTON: Final = (
    "display:inline-block;padding:10px 18px;border-radius:6px;background:#1a56db;color:#ffffff;"
    "text-decoration:none;font-weight:600"
)
_QUOTE: Final = "border-left:3px solid #8888;margin:12px 0;padding:0 0 0 12px;white-space:pre-wrap"


def render_html(blocks: Sequence[Block]) -> str:
    """Give the HTML part of a mail."""
    body = "\n".join(map(_block, blocks))
    return (
        '<!doctype html>\n<html><head><meta charset="utf-8">'
        '<meta name="color-scheme" content="light dark"></head>\n'
        f'<body><div style="{_BODY}">\n{body}\n</div></body></html>\n'
    )


def markdown_html(text: str) -> str:
    """Render an agent's Markdown to the few tags that are harmless."""
    return nh3.clean(
        _MARKDOWN.render(tidy(text)),
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def _block(block: Block) -> str:
    match block:
        case Words(markdown=text):
            return markdown_html(text)
        case Line(text=text, is_strong=is_strong):
            words = _escaped(text)
            return f"<p><strong>{words}</strong></p>" if is_strong else f"<p>{words}</p>"
        case Quote(text=text):
            return f'<blockquote style="{_QUOTE}">{escape(tidy(text))}</blockquote>'
        case Code(text=text):
            return f'<pre style="{_CODE}">{escape(tidy(text))}</pre>'
        case Items(items=items):
            return "<ol>" + "".join(_item(*one) for one in items) + "</ol>"
        case Link(label=label, url=url):
            return f'<p><a href="{escape(url)}" style="{_BUTTON}">{_escaped(label)}</a></p>'
        case Small(text=text):
            return f'<p style="font-size:13px;opacity:.75">{_escaped(text)}</p>'
        case never:
            assert_never(never)


def _item(name: str, description: str) -> str:
    told = f": {_escaped(description)}" if description.strip() else ""
    return f"<li><strong>{_escaped(name)}</strong>{told}</li>"


def _escaped(text: str) -> str:
    return escape(tidy(text)).replace("\n", "<br>")
