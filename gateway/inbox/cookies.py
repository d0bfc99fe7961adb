"""Cookies: their names, and how each is set.

Over https a name begins with `__Host-`, so that no other host of the domain can set or read it.
The session is `Lax`: a link in Slack or in a mail leads to a page where one is signed in, and no
form of another site is sent with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote

from aiohttp import web

SESSION: Final = "parley_session"
BROWSER: Final = "parley_browser"
"""Tells one browser from another before anybody has signed in; for forms and mailed links."""
NOTICE: Final = "parley_notice"
"""What to tell on the next page, signed."""
THEME: Final = "parley_theme"
"""`light` or `dark`, where somebody has chosen."""

_SECONDS: Final = {SESSION: 7 * 24 * 3600, BROWSER: 24 * 3600, NOTICE: 60, THEME: 365 * 24 * 3600}
_LONGEST: Final = 3000


class Jar:
    """Reads and sets cookies for one public address."""

    def __init__(self, public_url: str) -> None:
        self._is_secure = public_url.startswith("https://")

    def name(self, cookie: str) -> str:
        """Give the name as it stands in the header."""
        return f"__Host-{cookie}" if self._is_secure else cookie

    def read(self, request: web.Request, cookie: str) -> str:
        """Give a cookie's value; nothing if there is none, or none of ours."""
        value = request.cookies.get(self.name(cookie), "")
        return unquote(value) if len(value) <= _LONGEST else ""

    def set_all(self, response: web.StreamResponse, cookies: Mapping[str, str]) -> None:
        """Set what is given; an empty value forgets."""
        for cookie, value in cookies.items():
            response.set_cookie(
                self.name(cookie),
                quote(value, safe=""),
                max_age=_SECONDS[cookie] if value else 0,
                path="/",
                httponly=True,
                secure=self._is_secure,
                samesite="Lax",
            )
