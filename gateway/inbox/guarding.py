"""Who may post: only our own pages. Two checks, each of which is enough by itself.

The browser says where a form comes from (`Sec-Fetch-Site`, `Origin`), and the form brings back a
token that only a page for this visitor holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from gateway.http.problems import Kind, Problem
from gateway.inbox.secrets import is_mark, mark

FORGED: Final = Kind("forged-form", 403, "This form did not come from here")
FIELD: Final = "csrf"

_PURPOSE: Final = "form"


def token_for(secret: bytes, holder: str) -> str:
    """Give the token of a visitor's forms; `holder` is their session, or their browser."""
    return mark(secret, _PURPOSE, holder) if holder else ""


def check_origin(headers: Mapping[str, str], host: str, public_url: str) -> None:
    """Refuse what another site sends."""
    if headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        raise _forged()
    origin = headers.get("Origin")
    if origin is None:  # not every browser sends it with a form; the token decides
        return
    ours = {urlsplit(public_url).netloc, host}
    if urlsplit(origin).netloc not in ours or origin == "null":
        raise _forged()


def check_token(given: str, secret: bytes, holder: str) -> None:
    """Refuse a form without this visitor's token."""
    if not holder or not is_mark(given, secret, _PURPOSE, holder):
        raise _forged()


def _forged() -> Problem:
    words = (
        "The form is too old, or another site has sent it. Nothing has changed: go back, reload "
        "the page and try again."
    )
    return Problem(FORGED, words)
