"""Ways: where signing in leads, and the addresses of it. Pure."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlsplit

SIGN_IN: Final = "/signin"
_LONGEST: Final = 2000


def sign_in_address(then: str) -> str:
    """Give the page for signing in that leads back to where somebody wanted to be."""
    wanted = safe_next(then)
    return SIGN_IN if wanted == "/" else f"{SIGN_IN}?next={quote(wanted, safe='')}"


def safe_next(then: str) -> str:
    r"""Give a path of ours; anything else is the first page.

    Browsers take backslashes for slashes and leave out tabs and line breaks, so `/\evil.example`
    would lead away as `//evil.example` does.
    """
    is_plain = then.isprintable() and "\\" not in then and len(then) <= _LONGEST
    if not is_plain or not then.startswith("/") or then.startswith("//"):
        return "/"
    try:
        parts = urlsplit(then)
    except ValueError:
        return "/"
    if (
        parts.scheme
        or parts.netloc
        or parts.path.startswith((f"{SIGN_IN}/", "/signout", "/static/"))
    ):
        return "/"
    return then
