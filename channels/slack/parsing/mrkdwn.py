"""Slack's own mark-up as the plain text that a person sees. Pure, and linear in its length.

Slack escapes `&`, `<` and `>` in what people type: what still stands in brackets is its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

_BRACKETS: Final = re.compile(r"<([^<>]*)>")
_SCHEMES: Final = ("mailto:", "tel:", "https://", "http://")


def plain_text(mrkdwn: str, names: Mapping[str, str]) -> str:
    """Write links and mentions as people read them; `names` are the people that we know."""
    return unescaped(_BRACKETS.sub(lambda found: _shown(found[1], names), mrkdwn))


def unescaped(words: str) -> str:
    """Undo Slack's three escapes, once: what a person typed as `&amp;lt;` stays `&lt;`."""
    return words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def mentions(mrkdwn: str, user: str) -> bool:
    """Say whether a person is called by their id."""
    return bool(user) and bool(_mention(user).search(mrkdwn))


def without_mention(mrkdwn: str, user: str) -> str:
    """Take out every call of a person, and the comma or colon after the first."""
    before, found, after = _split(mrkdwn, user)
    if not found:
        return mrkdwn.strip()
    rest = _mention(user).sub("", after)
    if not before.strip():
        return rest.lstrip(" ,:\n\t").rstrip()
    return f"{before.rstrip(' ')} {rest.lstrip(' ')}".strip()


def _split(mrkdwn: str, user: str) -> tuple[str, bool, str]:
    found = _mention(user).search(mrkdwn) if user else None
    if found is None:
        return mrkdwn, False, ""
    return mrkdwn[: found.start()], True, mrkdwn[found.end() :]


@lru_cache(maxsize=1_000)
def _mention(user: str) -> re.Pattern[str]:
    return re.compile(rf"<@{re.escape(user)}(?:\|[^<>]*)?>")


def _shown(inside: str, names: Mapping[str, str]) -> str:
    target, _, label = inside.partition("|")
    match target[:1]:
        case "@":
            return "@" + (names.get(target[1:]) or label.lstrip("@") or target[1:])
        case "#":
            return "#" + (label.lstrip("#") or target[1:])
        case "!":
            return _special(target[1:], label)
        case _:
            return _link(target, label)


def _special(target: str, label: str) -> str:
    """A date has a text to fall back on, a group its name; the others are `@here` and its like."""
    kind, _, rest = target.partition("^")
    if kind == "date":
        return label or rest
    return "@" + (label.lstrip("@") or rest or kind)


def _link(target: str, label: str) -> str:
    bare = target
    for scheme in _SCHEMES[:2]:
        bare = bare.removeprefix(scheme)
    if not label or label in (target, bare) or _same_page(target, label):
        return bare
    return f"{label} ({bare})"


def _same_page(target: str, label: str) -> bool:
    """`<http://example.com|example.com>` is how Slack writes a name that somebody typed."""
    for scheme in _SCHEMES:
        target = target.removeprefix(scheme)
    return target.rstrip("/") == label.rstrip("/")
